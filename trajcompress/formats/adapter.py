"""Row to trajectory and back.

ShareGPT and OpenAI are one idea, a list of messages, with other names for its keys: ``from`` and ``value``, ``role``
and ``content``. So either is read here, and a file may mix them; rows of other formats are made into OpenAI's first
(:mod:`trajcompress.formats.conversion`). Nothing that is not understood is dropped: turns keep their message, and a
changed trajectory is its row with another list of messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from msgspec.structs import replace
from msgspec.structs import replace as struct_replace

from trajcompress.errors import RowError
from trajcompress.formats.columns import Parts, find_parts, put_parts
from trajcompress.formats.content import json_text
from trajcompress.formats.conversion import Converted, convert, convert_keys
from trajcompress.formats.media import in_step_with, with_marks
from trajcompress.formats.messages import (
    MESSAGE_FIELDS,
    FormatOptions,
    Found,
    detect_format,
    find_messages,
    is_message,
)
from trajcompress.formats.nested import lift
from trajcompress.formats.turns import read_turn, require_content, role_names
from trajcompress.json_values import MAX_DEPTH, depth_of, is_plain, parse_json
from trajcompress.redact import redact_row
from trajcompress.settings.choices import MessageFormat, Role
from trajcompress.transcript.observations import read_observations
from trajcompress.transcript.roles import is_known, normalise_roles
from trajcompress.transcript.trajectory import Split, Trajectory, Turn

_SHOWN_CHARS = 80  # of a role's name
ID_FIELDS = ("id", "trajectory_id", "traj_id", "instance_id", "task_id", "item_id", "uuid")


def read_trajectory(
    row: dict[str, Any], fallback_id: str, options: FormatOptions, *, known_plain: bool = False
) -> Trajectory:
    """Read one row.

    Args:
        row: what to read.
        fallback_id: the trajectory's, where the row has none.
        options: how it is read.
        known_plain: whether the row is known to be of JSON's own types alone, and not deep.

    Raises:
        RowError: the row holds no trajectory. Reasons: ``no_messages``, ``empty_messages``, ``messages_not_a_list``,
            ``turn_not_an_object``, ``turn_without_role``, ``turns_without_content``, ``nested_too_deep``.
    """
    try:
        return _read_trajectory(row, fallback_id, options, known_plain=known_plain)
    except RecursionError as error:
        raise RowError("nested_too_deep", "a message holds more levels than can be read; flatten it") from error


def explain_format(trajectory: Trajectory) -> str:
    """Say how the row was read, and why."""
    if trajectory.source_columns:
        columns = ", ".join(trajectory.source_columns)
        which = f"column {columns} is" if len(trajectory.source_columns) == 1 else f"columns {columns} are"
        return f"{trajectory.source}: {which} read as OpenAI messages, and written so"
    if trajectory.split is not None:
        columns = ", ".join(trajectory.split.columns)
        what = "text" if trajectory.split.has_text else "messages"
        return f"{trajectory.format}: columns {columns} hold {what}, read as one trajectory and written as they are"
    named_as_openai = "role" in trajectory.turns[0].raw
    keys = "role and content" if named_as_openai else "from and value"
    kind = "the JSON text of messages" if trajectory.messages_as_text else "messages"
    others = f" (more than {', '.join(trajectory.passed_over)})" if trajectory.passed_over else ""
    asked = "" if named_as_openai == (trajectory.format == "openai") else ", but the format was asked for"
    if trajectory.lifted_from is not None:
        others = f", which {trajectory.lifted_from} names; what stands beside them is written as columns, too"
    system = "; column system is counted as their system prompt" if trajectory.system else ""
    return f"{trajectory.format}: column {trajectory.messages_field} holds {kind} with {keys}{others}{asked}{system}"


def explain_roles(trajectory: Trajectory, role_map: Mapping[str, Role]) -> list[str]:
    """Say as what each role name that is not known was read."""
    guessed = {turn.own_role: turn.role for turn in trajectory.turns}
    return [
        f"role {name[:_SHOWN_CHARS]!r} is not known, and read as {role}; --role-map can say otherwise"
        for name, role in guessed.items()
        if not is_known(name, role_map, role)
    ]


def replace_turns(
    trajectory: Trajectory, turns: Iterable[Turn], places: Sequence[int | None] | None = None
) -> dict[str, Any]:
    """Return the trajectory's row with other turns; every other column is as it was.

    Where it is known in which ``places`` of the trajectory they stand (None for one that was made), of columns of
    images and the like what these turns have no mark for goes.
    """
    turns = list(turns)
    row = _with_turns(trajectory, turns)
    if places is None:
        return row
    trimmed = trajectory.formed is not None and trajectory.formed.trimmed > 0
    return in_step_with(row, trajectory.turns, turns, places, more=trimmed)


def _with_turns(trajectory: Trajectory, turns: list[Turn]) -> dict[str, Any]:
    if (split := trajectory.split) is not None:
        at = next((index for index, turn in enumerate(turns) if turn.in_answer), len(turns))
        said = ([turn.raw for turn in part] for part in (turns[:at], turns[at:], split.other_turns))
        return put_parts(trajectory.row, split, *said)
    messages = _written([turn.raw for turn in turns], as_text=trajectory.messages_as_text)
    return {**trajectory.row, trajectory.messages_field: messages}


def _written(messages: list[Any], *, as_text: bool) -> Any:
    return json.dumps(messages, ensure_ascii=False) if as_text else messages


def _read_trajectory(
    row: dict[str, Any], fallback_id: str, options: FormatOptions, *, known_plain: bool
) -> Trajectory:
    given, wanted = row, options.messages_field
    if wanted is not None:
        row, field = lift(row, wanted)
        options = options if field == wanted else replace(options, messages_field=field)
    is_lifted = row is not given
    converted = _convert(row, options)
    if converted is not None and converted.row is not row:
        row, known_plain = converted.row, False
    if converted is not None:
        options = replace(options, format="openai", messages_field=converted.column)
    parts = _parts(row, options)
    found = Found(parts.split.columns[0], parts.messages, as_text=False) if parts else find_messages(row, options)
    redactions = 0
    if options.redact:
        row, found, parts, redactions = _redacted(row, found, parts)
    form = detect_format(found.messages) if options.format == "auto" else options.format
    names = role_names(found.messages, form)
    require_content(found.messages)
    roles = normalise_roles(names, options.role_map)
    tools, from_text = _read_tools(row)
    from_text = from_text or found.as_text
    if from_text and max(depth_of(found.messages), depth_of(tools)) > MAX_DEPTH:
        raise RowError("nested_too_deep", f"messages or tools hold more than {MAX_DEPTH} levels; flatten them")
    known_plain = known_plain and not from_text
    turns = tuple(map(read_turn, found.messages, names, roles, repeat(form)))
    turns = read_observations(with_marks(turns, row), options.observations)
    return Trajectory(
        id=next((json_text(row[key]) for key in ID_FIELDS if row.get(key) not in (None, "")), fallback_id),
        turns=_in_columns(turns, parts) if parts else turns,
        row=row,
        messages_field=found.field,
        format=form,
        tools=tools,
        system=None if roles[0] == "system" else _read_system(row, found.field),
        messages_as_text=found.as_text,
        passed_over=found.passed_over,
        redactions=redactions,
        is_plain=known_plain or (is_plain(found.messages) and is_plain(tools or ())),
        source=converted.source if converted else None,
        source_columns=converted.source_columns if converted and converted.row is not given else (),
        lifted_from=wanted if is_lifted else None,
        split=_split(parts, form, options) if parts else None,
    )


def _convert(row: dict[str, Any], options: FormatOptions) -> Converted | None:
    if options.role_key is not None or options.content_key is not None:
        return convert_keys(row, options.role_key, options.content_key, options.messages_field)
    return convert(row, options.messages_field) if options.format == "auto" else None


def _parts(row: dict[str, Any], options: FormatOptions) -> Parts | None:
    """Return the messages of a row that has them in several columns, unless one column holds as many alone."""
    parts = find_parts(row) if options.messages_field is None else None
    if parts is None:
        return None
    usual = [row[name] for name in MESSAGE_FIELDS if name in row and name not in parts.split.columns]
    most = max((len(each) for each in usual if isinstance(each, list) and all(map(is_message, each))), default=0)
    return parts if len(parts.messages) >= most + (parts.split.has_text and most > 0) else None


def _redacted(
    row: dict[str, Any], found: Found, parts: Parts | None
) -> tuple[dict[str, Any], Found, Parts | None, int]:
    """Return the row without its secrets, with what was found in it."""
    if parts is None:
        clean = redact_row(row, found.field, found.messages)
        if clean.count:
            found = replace(found, messages=clean.messages)
            row = {**clean.row, found.field: _written(found.messages, as_text=found.as_text)}
        return row, found, None, clean.count
    columns = {name: value for name, value in row.items() if name not in parts.split.columns}
    clean = redact_row(columns, "", [*parts.messages, *parts.other])
    if clean.count:
        parts = parts.with_messages(clean.messages)
        row = put_parts({**row, **clean.row}, parts.split, parts.prompt, parts.answer, parts.other)
        found = replace(found, messages=parts.messages)
    return row, found, parts, clean.count


def _in_columns(turns: tuple[Turn, ...], parts: Parts) -> tuple[Turn, ...]:
    """Mark the turns of the answer."""
    at = len(parts.prompt)
    return (*turns[:at], *(struct_replace(turn, in_answer=True) for turn in turns[at:]))


def _split(parts: Parts, form: MessageFormat, options: FormatOptions) -> Split:
    names = role_names(parts.other, form)
    roles = normalise_roles(names, options.role_map)
    return replace(parts.split, other_turns=tuple(map(read_turn, parts.other, names, roles, repeat(form))))


def _read_system(row: dict[str, Any], messages_field: str) -> str | None:
    """Return the system prompt of a row that has it in a column, as LLaMA-Factory reads it."""
    system = row.get("system") if messages_field != "system" else None
    return system if isinstance(system, str) and system.strip() else None


def _read_tools(row: dict[str, Any]) -> tuple[list[dict[str, Any]] | None, bool]:
    """Return the tools of a row, and whether they, or some of them, were JSON text."""
    given = row.get("tools") or row.get("functions")
    tools = _decoded(given)
    if not isinstance(tools, list):
        return None, False
    each = [_decoded(tool) for tool in tools]
    from_text = isinstance(given, str) or any(isinstance(tool, str) for tool in tools)
    return [tool for tool in each if isinstance(tool, dict)] or None, from_text


def _decoded(value: Any) -> Any:
    """Return what JSON text stands for, anything else as it is; None where text is no JSON."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value)
    except ValueError:
        return None
