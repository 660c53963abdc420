"""Whether a target reads the columns of a row: where its messages stand, under which keys, and its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trajcompress.dataset.parquet_rows import parquet_schema
from trajcompress.dataset.rows import Source
from trajcompress.errors import InputError
from trajcompress.forms.columns import READ_BY
from trajcompress.forms.media_faults import media_faults
from trajcompress.json_values import parse_json
from trajcompress.results.check.across import TEMPLATE_KWARGS
from trajcompress.settings.choices import Target
from trajcompress.transcript.json_schema import schema_fault
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.violation import Violation

_READ: Mapping[Target, frozenset[str]] = {
    "trl": frozenset({"messages", "conversations", "prompt"}),
    "axolotl": frozenset({"messages"}),
    "llama-factory": frozenset({"messages", "conversations"}),
    "verl": frozenset({"messages", "prompt"}),
    "openai": frozenset({"messages"}),
    "mistral": frozenset({"messages"}),
}
"""Columns that each target reads messages from, unless its configuration names another."""
_DECODE_MESSAGES: frozenset[Target] = frozenset({"template", "axolotl"})
_LIST_OF_TOOLS: frozenset[Target] = frozenset({"verl", "openai", "mistral"})
"""Targets that hand tools on, or validate them, without decoding text."""
_VALIDATE_TOOLS: frozenset[Target] = frozenset({"openai", "mistral"})
"""Targets that refuse parameters which are no JSON schema."""


def column_violations(
    trajectory: Trajectory,
    target: Target,
    *,
    named: bool = False,
    rendered: bool = False,
    json_columns: frozenset[str] = frozenset(),
) -> Iterator[Violation]:
    """Find what of the columns of a row the target does not read.

    Args:
        trajectory: the row.
        target: who reads it.
        named: whether the trainer's configuration names the column, and maps the keys of its messages.
        rendered: whether rows are rendered, too, which tells whether tools of another shape show up.
        json_columns: columns of JSON text that only ``datasets`` decodes.
    """
    yield from _media(trajectory, target)
    if trajectory.source_columns or trajectory.split is not None:
        yield from _other_columns(trajectory, target)
        yield from _template_kwargs(trajectory, target)
        yield from _tools(trajectory, target, json_columns, rendered=rendered)
        return
    column = trajectory.messages_field
    if trajectory.lifted_from is not None:
        within = f"messages in {trajectory.lifted_from!r}, within a column; compress writes columns"
        yield Violation("wrong_column", None, within[:120])
        named = True
    reads = _READ.get(target)
    if reads and column not in reads and not named:
        yield Violation("wrong_column", None, f"messages in {column!r}; it reads {' or '.join(sorted(reads))}"[:120])
    if target == "trl" and column != "prompt" and trajectory.row.get("prompt") is not None:
        yield Violation("wrong_column", None, f"it reads 'prompt' and 'completion' in the place of {column!r}")
    if target == "axolotl" and not named:
        own = next((index for index, turn in enumerate(trajectory.turns) if turn.raw.get("role") is None), None)
        if own is not None:
            keys = ", ".join(map(repr, trajectory.turns[own].raw))
            yield Violation("message_keys", own, f"keys {keys}; it needs message_property_mappings"[:120])
    if trajectory.messages_as_text and target not in _DECODE_MESSAGES:
        yield Violation("messages_as_text", None, f"column {column!r}")
    elif column in json_columns:
        yield Violation("messages_as_text", None, f"column {column!r} is arrow.json, which pandas reads as text")
    yield from _tools(trajectory, target, json_columns, rendered=rendered)
    yield from _template_kwargs(trajectory, target)
    if target in {"llama-factory", "axolotl"} and "system" in trajectory.row and trajectory.row["system"] is None:
        yield Violation("null_system", None, "column 'system' is null")


def _media(trajectory: Trajectory, target: Target) -> Iterator[Violation]:
    for fault in media_faults(trajectory, target):
        yield Violation("media_mismatch", None, fault[:120])


def _other_columns(trajectory: Trajectory, target: Target) -> Iterator[Violation]:
    """Find what the target does not read of a row in the format of another tool, or with several columns."""
    if trajectory.source_columns:
        columns = ", ".join(map(repr, trajectory.source_columns))
        yield Violation("message_keys", None, f"{columns} as {trajectory.source}; compress writes messages"[:120])
    elif target not in READ_BY:
        columns = ", ".join(map(repr, trajectory.message_columns))
        yield Violation("wrong_column", None, f"messages in {columns}; only trl reads these"[:120])


def _template_kwargs(trajectory: Trajectory, target: Target) -> Iterator[Violation]:
    given = trajectory.row.get(TEMPLATE_KWARGS, {})
    if target == "trl" and not isinstance(given, dict):
        what = "null" if given is None else type(given).__name__
        yield Violation("template_kwargs_shape", None, f"column {TEMPLATE_KWARGS!r} is {what}")


def _tools(
    trajectory: Trajectory, target: Target, json_columns: frozenset[str], *, rendered: bool
) -> Iterator[Violation]:
    tools = trajectory.row.get("tools")
    if not tools:
        if target != "template" and trajectory.row.get("functions"):
            yield Violation("wrong_column", None, "tools in 'functions'; it reads 'tools'")
        return
    if isinstance(tools, str):
        if target in _LIST_OF_TOOLS:
            yield Violation("tools_shape", None, "they are JSON text, which it does not decode")
            return
        try:
            tools = parse_json(tools)
        except ValueError as error:
            yield Violation("tools_shape", None, f"no JSON: {error}"[:120])
            return
    elif "tools" in json_columns:
        yield Violation("messages_as_text", None, "column 'tools' is arrow.json, which pandas reads as text")
    # Which shapes LLaMA-Factory takes depends on its template, of which LlamaFactoryRows knows.
    fault = _list_fault(tools) if target == "llama-factory" else _tools_fault(tools)
    if fault is None and target in _VALIDATE_TOOLS:
        faults = (schema_fault(tool["function"].get("parameters")) for tool in tools)
        fault = next(filter(None, faults), None)
    if fault is not None:
        shown = rendered and isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)
        yield Violation("tools_not_standard" if shown else "tools_shape", None, fault[:120])


def _list_fault(tools: Any) -> str | None:
    if not isinstance(tools, list):
        return f"they are {type(tools).__name__}, no list"
    other = next((index for index, tool in enumerate(tools) if not isinstance(tool, dict)), None)
    return None if other is None else f"tool {other} is {type(tools[other]).__name__}, no object"


def _tools_fault(tools: Any) -> str | None:
    if (fault := _list_fault(tools)) is not None:
        return fault
    for index, tool in enumerate(tools):
        function = tool.get("function")
        if not isinstance(function, dict) or tool.get("type") != "function":
            return f"tool {index} has keys {', '.join(map(repr, tool))}"
        if not isinstance(function.get("name"), str):
            return f"tool {index} has no name; its keys are {', '.join(map(repr, function))}"
        if not isinstance(function.get("parameters"), dict | None):
            return f"parameters of {function['name']!r} are {type(function['parameters']).__name__}, no object"
    return None


def json_columns(source: Source) -> frozenset[str]:
    """Return the columns of a Parquet file that hold JSON text which only ``datasets`` decodes."""
    if source.kind != "parquet" or source.path is None:
        return frozenset()
    try:
        schema = parquet_schema(source)
    except InputError:  # reading says what is wrong with it
        return frozenset()
    return frozenset(field.name for field in schema or () if _holds_json(field.type))


def _holds_json(kind: Any) -> bool:
    if getattr(kind, "extension_name", "") == "arrow.json":
        return True
    return any(_holds_json(kind.field(index).type) for index in range(kind.num_fields))
