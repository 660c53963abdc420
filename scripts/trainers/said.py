"""What the assistant says and calls in a row as it was read: words by turn, names and argument values of calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from truth.rows import messages, role, text

ASSISTANT = frozenset({"assistant", "gpt", "chatgpt", "bing", "bard", "model", "function_call"})


@dataclass(frozen=True)
class Call:
    """A call: its name, each scalar value of its arguments as text, and their first key.

    The key is empty where there are no arguments, and None where they are no object.
    """

    name: str
    values: tuple[str, ...]
    first_key: str | None


@dataclass(frozen=True)
class Turn:
    """An assistant turn: its words, and its calls."""

    words: tuple[str, ...]
    calls: tuple[Call, ...]


def assistant_turns(row: dict[str, Any], removed: range = range(0)) -> list[Turn]:
    """The assistant turns of a row, without those that a summary replaced."""
    return [
        Turn(tuple(_words(message)), tuple(_calls(message)))
        for index, message in enumerate(messages(row))
        if isinstance(message, dict) and role(message).lower() in ASSISTANT and index not in removed
    ]


def _words(message: dict[str, Any]) -> list[str]:
    if role(message) == "function_call" and isinstance(_parsed(text(message)), (dict, list)):
        return []
    return str(text(message)).split()


def _calls(message: dict[str, Any]) -> Iterator[Call]:
    found = list(message.get("tool_calls") or [])
    if message.get("function_call"):
        found.append(message["function_call"])
    if role(message) == "function_call":
        value = _parsed(text(message))
        found += value if isinstance(value, list) else [value]
    for given in found:
        call = _parsed(given)
        function = call.get("function", call) if isinstance(call, dict) else {}
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            arguments = _parsed(function.get("arguments"))
            first = next(iter(arguments), "") if isinstance(arguments, dict) else None
            yield Call(function["name"], tuple(value for value in _scalars(arguments) if value.strip()), first)


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        yield json.dumps(value)


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, (dict, list)) else value
