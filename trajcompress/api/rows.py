"""Rows as Python programs have them: any mapping, or a bare list of messages; and batches, a list for each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from trajcompress.errors import InputError, RowError
from trajcompress.json_values import is_plain

Messages: TypeAlias = Sequence[Mapping[str, Any]]
"""A bare list of messages."""
MEMORY = "<memory>"
"""What metrics call the source of rows that come from no file."""


def is_messages(given: object) -> bool:
    """Tell a bare list of messages from a row."""
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def as_row(given: object, messages_field: str) -> dict[str, Any]:
    """Return a row as a dictionary, its messages as lists and dictionaries; nothing that was given is changed.

    Raises:
        RowError: it is neither a mapping nor a list, or nested too deep to be read.
    """
    if is_messages(given):
        given = {messages_field: given}
    if not isinstance(given, Mapping):
        raise RowError(
            "not_an_object",
            f"a row is a mapping with a column of messages, or a list of messages, not {type(given).__name__}",
        )
    try:
        return {name: _read(given[name]) for name in given}
    except RecursionError as error:
        raise RowError("nested_too_deep", "a column holds more levels than can be read; flatten it") from error


def rows_of(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch.

    Raises:
        InputError: it is none: not a mapping of lists of the same length.
    """
    if not isinstance(columns, Mapping):
        raise InputError(
            f"argument columns: a batch is a mapping of lists, not {type(columns).__name__}; where a data set has a "
            "format, map it without: dataset.with_format(None).map(…)"
        )
    batch = {name: columns[name] for name in columns}
    if wrong := next((name for name, values in batch.items() if not hasattr(values, "__len__")), None):
        raise InputError(f"argument columns: column {wrong!r} is no list; one row goes through compress()")
    lengths = {name: len(values) for name, values in batch.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
        raise InputError(f"argument columns: the columns of a batch should have as many values each, not {said}")
    for values in zip(*batch.values(), strict=True):
        yield dict(zip(batch, values, strict=True))


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as a batch, None where a row lacks a column."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _read(value: Any) -> Any:
    """Return a column's value, made of plain lists and dictionaries where it is a list of mappings."""
    if is_plain((value,)):
        return value
    items = value.tolist() if _is_array(value) else value
    holds_messages = isinstance(items, list | tuple) and any(isinstance(item, Mapping) for item in items)
    return _plain(items) if holds_messages else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(value[name]) for name in value}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain(value.tolist()) if _is_array(value) else value


def _is_array(value: object) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "tolist")
