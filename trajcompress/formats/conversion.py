"""Rows in the formats of other tools, or with key names of their own, made into rows of OpenAI messages.

Each module of :mod:`trajcompress.formats.foreign` has an ``ADAPTER``, and is found by being there. An adapter knows
its rows by their shape, and no two take the same row. What it makes goes the way of all rows of OpenAI messages;
columns that hold something else stay, and so do fields of messages that it does not know.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from msgspec import Struct

from trajcompress.errors import RowError
from trajcompress.formats import foreign
from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, lists_of
from trajcompress.formats.messages import MESSAGE_FIELDS, MESSAGES, is_message, shown_keys
from trajcompress.transcript.trajectory import Message


class Converted(Struct, frozen=True):
    """A row of OpenAI messages, the ``column`` that holds them, and those that they were read from."""

    row: dict[str, Any]
    column: str
    source: str
    source_columns: tuple[str, ...]


@cache
def adapters() -> tuple[Adapter, ...]:
    """Return the adapters, by the names of their modules."""
    names = sorted(module.name for module in iter_modules(foreign.__path__))
    return tuple(import_module(f"{foreign.__name__}.{name}").ADAPTER for name in names)


def convert(row: dict[str, Any], wanted: str | None = None) -> Converted | None:
    """Return a row of another format as one of OpenAI messages; None where it is of none.

    Args:
        row: the row to convert.
        wanted: the one column that is looked at, where it is named.

    Raises:
        RowError: it is of a format, and broken.
    """
    seen = row if wanted is None else {name: value for name, value in row.items() if name == wanted}
    lists = lists_of(seen)
    for adapter in adapters():
        columns = adapter.find(seen, lists)
        if columns and not _holds_more(seen, columns, lists):
            return _converted(row, adapter.read(seen, lists, columns), adapter.name, columns)
    return None


def convert_keys(
    row: dict[str, Any], role_key: str | None, content_key: str | None, wanted: str | None = None
) -> Converted:
    """Return a row whose messages have these names for their keys as one of OpenAI messages.

    Raises:
        RowError: ``no_messages``: no column holds a list of objects that have both.
    """
    role, content = role_key or "role", content_key or "content"
    lists = lists_of(row, ("",)) if wanted is None else lists_of({wanted: row.get(wanted)}, ("",))
    named = {
        name: messages
        for name, messages in lists.items()
        if any(isinstance(each, dict) and role in each and content in each for each in messages)
    }
    if not named:
        keys = next((f"; the keys in {name!r}: {shown_keys(each[0])}" for name, each in lists.items()), "")
        raise RowError(
            "no_messages",
            f"no column holds messages with {role!r} and {content!r}; the columns: {shown_keys(row)}{keys}",
        )
    column = max(named, key=lambda name: len(named[name]))
    messages = [_renamed(each, index, role, content) for index, each in enumerate(named[column])]
    return _converted(row, Made(messages), f"{role} and {content}", (column,))


def _holds_more(row: Row, columns: tuple[str, ...], lists: Lists) -> bool:
    """Tell whether another column, of a usual name, holds as many messages of OpenAI or ShareGPT: these are read."""
    most = max((len(lists.get(name, ())) for name in columns), default=0)
    others = (row[name] for name in MESSAGE_FIELDS if name in row and name not in columns)
    return any(isinstance(each, list) and len(each) >= max(most, 1) and all(map(is_message, each)) for each in others)


def _converted(row: dict[str, Any], made: Made, source: str, columns: tuple[str, ...]) -> Converted:
    messages = list(made.messages)
    if not messages:
        raise RowError("empty_messages", f"{' and '.join(columns)} of {source} hold no messages")
    column = MESSAGES if MESSAGES in columns or MESSAGES not in row else columns[0]
    if columns == (column,) and messages == row[column]:
        return Converted(row, column, source, columns)  # they were OpenAI's all the time
    converted: dict[str, Any] = {}
    for name, value in row.items():
        if name in columns:
            converted.setdefault(column, messages)
        elif name != column:
            converted[name] = value
    converted.setdefault(column, messages)
    if made.tools:
        converted["tools"] = made.tools
    return Converted(converted, column, source, columns)


def _renamed(message: Any, index: int, role: str, content: str) -> Message:
    if not isinstance(message, dict):
        raise RowError("turn_not_an_object", f"turn {index} is {type(message).__name__}")
    if not isinstance(message.get(role), str):
        raise RowError("turn_without_role", f"turn {index} has no {role!r} that is text")
    rest = {key: value for key, value in message.items() if key not in {role, content}}
    return {"role": message[role], "content": message.get(content)} | rest
