"""Which column of a row holds the messages, and in which format they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from trajcompress.errors import RowError
from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import InputFormat, MessageFormat, Role
from trajcompress.transcript.observations import Observations

MESSAGES = "messages"
MESSAGE_FIELDS = (MESSAGES, "conversations", "conversation", "trajectory", "history", "turns", "prompt")
"""Columns that usually hold the messages, most usual first."""

LIST_OF_OBJECTS = late_re(r"\s*\[\s*\{")
_CONTENT_KEYS = frozenset({"content", "value", "tool_calls", "function_call"})
_SHOWN_CHARS = 400


class FormatOptions(Struct, frozen=True):
    """How to read rows: what overrides detection, whether secrets go, which user turns are observations."""

    format: InputFormat = "auto"
    messages_field: str | None = None
    role_map: Mapping[str, Role] = field(default_factory=dict)
    role_key: str | None = None
    content_key: str | None = None
    redact: bool = False
    observations: Observations = "auto"


class Found(Struct, frozen=True):
    """The messages of a row: the column, the list, and whether the column holds it as JSON text.

    ``passed_over`` are other columns that hold messages, but fewer.
    """

    field: str
    messages: list[Any]
    as_text: bool
    passed_over: tuple[str, ...] = ()


def find_messages(row: dict[str, Any], options: FormatOptions) -> Found:
    """Find the messages of a row.

    Where several columns hold messages, such as ``conversations`` and ``prompt``, the one that holds the most is the
    whole trajectory; among equals the more usual name. A column of a usual name counts even where some of its turns
    are broken, so that a shorter one is never read in its place; a column of another name counts only without any.

    Raises:
        RowError: no column holds messages, or the wanted one does not.
    """
    if options.messages_field is not None:
        return _wanted(row, options.messages_field)
    names = [name for name in MESSAGE_FIELDS if name in row] + [name for name in row if name not in MESSAGE_FIELDS]
    candidates = [found for name in names if (found := as_messages(name, row[name])) and _looks_right(found)]
    if candidates:
        longest = max(candidates, key=lambda found: len(found.messages))
        passed_over = tuple(found.field for found in candidates if found is not longest)
        return replace(longest, passed_over=passed_over) if passed_over else longest
    usual = next((name for name in MESSAGE_FIELDS[:-1] if row.get(name) is not None), None)
    if usual is None:
        is_one = "; it is one message, and a row is an object with a list of them" if is_message(row) else ""
        hint = is_one or "".join(f"; those within a column: --messages-field {path}" for path in _places_within(row))
        null = "".join(f"; column {name!r} holds null" for name in MESSAGE_FIELDS[:-1] if name in row)
        keys = shown_keys(row)
        raise RowError("no_messages", f"no column holds a list of messages{null}; the row's columns: {keys}{hint}")
    return _wanted(row, usual)


def _wanted(row: dict[str, Any], name: str) -> Found:
    if name in row and row[name] is None:
        raise RowError("no_messages", f"column {name!r} holds null, no list of messages")
    if name not in row:
        raise RowError("no_messages", f"no column {name!r}; the row's columns: {shown_keys(row)}")
    found = as_messages(name, row[name])
    if found is None:
        raise RowError(
            "messages_not_a_list", f"column {name!r} holds {type(row[name]).__name__}, no list of messages"
        )
    if not found.messages:
        raise RowError("empty_messages", f"column {name!r} is an empty list")
    return found


def as_messages(name: str, value: Any) -> Found | None:
    """Return what a column holds, if that is a list, or the JSON text of one."""
    if isinstance(value, list):
        return Found(name, value, as_text=False)
    if isinstance(value, str) and LIST_OF_OBJECTS.match(value) and ('"role"' in value or '"from"' in value):
        try:
            parsed = parse_json(value)
        except ValueError:
            return None
        return Found(name, parsed, as_text=True) if isinstance(parsed, list) else None
    return None


def _looks_right(found: Found) -> bool:
    right = map(is_message, found.messages)
    return any(right) if found.field in MESSAGE_FIELDS else bool(found.messages) and all(right)


def is_message(message: Any) -> bool:
    """Tell a message of OpenAI or ShareGPT by its keys."""
    return (
        isinstance(message, dict)
        and (isinstance(message.get("role"), str) or isinstance(message.get("from"), str))
        and not _CONTENT_KEYS.isdisjoint(message)
    )


def _places_within(row: dict[str, Any]) -> list[str]:
    """Return some paths to messages within columns."""
    return [
        f"{outer}.{name}"
        for outer, held in row.items()
        if isinstance(held, dict)
        for name, value in held.items()
        if (found := as_messages(str(name), value)) and found.messages and is_message(found.messages[0])
    ][:1]


def shown_keys(names: Mapping[str, Any]) -> str:
    """Return the keys of a row or a message, for messages to people."""
    return ", ".join(map(repr, names))[:_SHOWN_CHARS] or "none"


def detect_format(messages: list[Any]) -> MessageFormat:
    """Tell the format from the keys of the first message that has any of them."""
    for message in messages:
        if isinstance(message, dict):
            if message.get("role") is not None:
                return "openai"
            if message.get("from") is not None:
                return "sharegpt"
    return "openai"
