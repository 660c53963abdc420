"""What the adapters of foreign formats are made of: how they find their columns, and write messages of OpenAI."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from trajcompress.errors import RowError
from trajcompress.formats.content import json_text
from trajcompress.formats.messages import LIST_OF_OBJECTS
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
