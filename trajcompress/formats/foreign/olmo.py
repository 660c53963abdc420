"""Rows of OLMo's post-training: OpenAI messages with tools and calls in fields of their own, as text.

``functions`` has the JSON of the tools, ``function_calls`` the calls as Python writes them, each on a line, and an
``environment`` answers them, all at once. Every message has both fields, mostly null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, call_of, objects
from trajcompress.json_values import is_json, parse_json
from trajcompress.transcript.text_protocols.written_calls import invocations
from trajcompress.transcript.trajectory import Message

_CALLS, _TOOLS = "function_calls", "functions"
_ENVIRONMENT = "environment"


def _find(_: Row, lists: Lists) -> tuple[str, ...]:
    return next(((name,) for name, messages in lists.items() if any(map(_has_calls, messages))), ())


def _has_calls(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return False
    return any(isinstance(message.get(key), str) and message[key] for key in (_CALLS, _TOOLS))


def _read(row: Row, lists: Lists, columns: tuple[str, ...]) -> Made:
    made: list[Message] = []
    tools = None
    waiting: list[str] = []  # ids of the calls that the next environment answers
    for message in objects(lists[columns[0]], "turn"):
        said = {key: value for key, value in message.items() if key not in {_CALLS, _TOOLS}}
        if (defined := _tools(message.get(_TOOLS))) is not None:
            tools = tools or defined
        elif message.get(_TOOLS):
            said[_TOOLS] = message[_TOOLS]
        if message.get("role") == _ENVIRONMENT:
            made += _answers(said, waiting)
            waiting = []
            continue
        if text := message.get(_CALLS):
            said |= _called(said, str(text), len(made))
            waiting = [call["id"] for call in said.get("tool_calls", ())]
        made.append(said)
    return Made(made, None if row.get("tools") else tools)


def _tools(text: Any) -> list[Any] | None:
    try:
        tools = parse_json(text) if isinstance(text, str) and text else None
    except ValueError:
        return None
    return tools if isinstance(tools, list) else None


def _called(said: Mapping[str, Any], text: str, place: int) -> Message:
    """Return the calls of a message; as words, as OLMo's chat template shows them, where they cannot be read."""
    calls = invocations(f"[{', '.join(_lines(text))}]")
    if not calls:
        return {"content": f"{said.get('content') or ''}<function_calls>{text}</function_calls>"}
    named = ((f"call_{place}_{number}", call.name, call.arguments) for number, call in enumerate(calls))
    return {"tool_calls": [call_of(*each) for each in named]}


def _answers(said: Mapping[str, Any], waiting: Sequence[str]) -> list[Message]:
    """Return a message for each call that is answered on a line of its own; else all is of the first of them."""
    content = said.get("content")
    lines = _lines(content) if isinstance(content, str) else []
    texts = lines if len(lines) == len(waiting) > 1 and all(map(is_json, lines)) else [content]
    ids = [{"tool_call_id": each} for each in waiting] or [{}]
    return [{**said, "role": "tool", "content": text} | which for text, which in zip(texts, ids, strict=False)]


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


ADAPTER = Adapter("olmo", _find, _read)
