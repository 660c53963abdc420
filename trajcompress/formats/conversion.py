"""Rows in the formats of other tools, or with key names of their own, made into rows of OpenAI messages.

Each module of :mod:`trajcompress.formats.foreign` has an ``ADAPTER``, and is found by being there. An adapter knows
its rows by their shape, and no two take the same row. What it makes goes the way of all rows of OpenAI messages;
columns that hold something else stay, and so do fields of messages that it does not know.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeAlias

from msgspec import Struct

from trajcompress.errors import RowError
from trajcompress.formats.content import json_text
from trajcompress.formats.messages import LIST_OF_OBJECTS, MESSAGE_FIELDS, MESSAGES, is_message
from trajcompress.json_values import parse_json
from trajcompress.transcript.trajectory import Message

Row: TypeAlias = Mapping[str, Any]
Lists: TypeAlias = Mapping[str, list[Any]]
"""The columns of a row that hold a list of objects, or the JSON text of one, by name."""

_SHOWN_CHARS = 200
_TELLING = ('"type"', '"observation"')


class Made(Struct, frozen=True):
    """What an adapter makes of a row: messages, and tools where it knows of any."""

    messages: Sequence[Message]
    tools: list[Any] | None = None


class Adapter(Struct, frozen=True):
    """Reads rows of one format.

    Args:
        name: of the format, as the metrics have it.
        find: returns the columns that hold the messages of a row of the format, known by its shape; none of another.
        read: reads these. Raises RowError where they are broken.
    """

    name: str
    find: Callable[[Row, Lists], tuple[str, ...]]
    read: Callable[[Row, Lists, tuple[str, ...]], Made]


class Converted(Struct, frozen=True):
    """A row of OpenAI messages, the ``column`` that holds them, and those that they were read from."""

    row: dict[str, Any]
    column: str
    source: str
    source_columns: tuple[str, ...]


@cache
def adapters() -> tuple[Adapter, ...]:
    """Return the adapters, by the names of their modules."""
    from trajcompress.formats import foreign

    names = sorted(module.name for module in iter_modules(foreign.__path__))
    return tuple(import_module(f"{foreign.__name__}.{name}").ADAPTER for name in names)


def convert(row: dict[str, Any], wanted: str | None = None) -> Converted | None:
    """Return a row of another format as one of OpenAI messages; None where it is of none.

    Args:
        row: it.
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
        there = ", ".join(map(repr, row)) or "none"
        raise RowError("no_messages", f"no column holds messages with {role!r} and {content!r}; the columns: {there}")
    column = max(named, key=lambda name: len(named[name]))
    messages = [_renamed(each, index, role, content) for index, each in enumerate(named[column])]
    return _converted(row, Made(messages), f"{role} and {content}", (column,))


def lists_of(row: Row, telling: Sequence[str] = _TELLING) -> dict[str, list[Any]]:
    """Return the columns that hold a list of objects; JSON text is read only where it has one of these words."""
    lists = {}
    for name, value in row.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lists[name] = value
        elif isinstance(value, str) and LIST_OF_OBJECTS.match(value) and any(word in value for word in telling):
            try:
                parsed = parse_json(value)
            except ValueError:
                continue
            lists[name] = parsed
    return lists


def objects(value: Any, what: str) -> list[dict[str, Any]]:
    """Return a list of objects, none where there is nothing; raise RowError where it is something else."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise RowError("turn_not_an_object", f"what should be a list of {what}s is {type(value).__name__}")
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise RowError("turn_not_an_object", f"{what} {index} is {type(item).__name__}")
    return value


def an_object(value: Any, what: str) -> dict[str, Any]:
    """Return an object, an empty one where there is nothing; raise RowError where it is something else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowError("turn_not_an_object", f"{what} is {type(value).__name__}")
    return value


def one_of(value: Any, roles: Mapping[str, str], where: str) -> str:
    """Return the role that a word stands for; raise RowError where it stands for none."""
    if not isinstance(value, str) or value not in roles:
        raise RowError("turn_without_role", f"{where} {value!r}, none of {', '.join(roles)}"[:_SHOWN_CHARS])
    return roles[value]


def call_of(call_id: Any, name: Any, arguments: Any) -> dict[str, Any]:
    """Return a call as OpenAI has it: arguments that are no text become JSON text."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, default=str)
    function = {"name": name if isinstance(name, str) else json_text(name or ""), "arguments": text}
    return {"id": call_id, "type": "function", "function": function}


def rest_of(item: Mapping[str, Any], *read: str) -> dict[str, Any]:
    """Return the fields of a message that were not read and hold something."""
    return {key: value for key, value in item.items() if key not in read and value not in (None, "", [], {})}


def without_nulls(message: Message) -> Message:
    """Return a message without fields that are null, but for its content."""
    return {key: value for key, value in message.items() if value is not None or key == "content"}


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
