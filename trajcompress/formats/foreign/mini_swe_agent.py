"""mini-SWE-agent's ``.traj.json`` files: OpenAI messages with fields of its own, and an ``exit`` role at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, objects
from trajcompress.formats.foreign.responses import is_item, messages_of
from trajcompress.transcript.trajectory import Message

_EXIT = "exit"


def _find(row: Row, _: Lists) -> tuple[str, ...]:
    version, info = row.get("trajectory_format"), row.get("info")
    is_its = isinstance(version, str) and version.startswith("mini-swe-agent")
    is_its = is_its or (isinstance(info, dict) and "mini_version" in info)
    return ("messages",) if is_its and row.get("messages") is not None else ()


def _read(row: Row, _: Lists, __: tuple[str, ...]) -> Made:
    messages = row["messages"]
    if not isinstance(messages, list):
        raise RowError("messages_not_a_list", f"'messages' of mini-SWE-agent is {type(messages).__name__}, no list")
    messages = objects(messages, "turn")
    if any(each.get("object") == "response" or is_item(each) for each in messages):
        messages = messages_of(_opened(messages))
    made: list[Message] = []
    for message in messages:
        made.append(_ended(message, made) if message.get("role") == _EXIT else message)
    return Made(made)


def _opened(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the items of the Responses API, those of answers that were kept as they came too."""
    return [
        item
        for each in messages
        for item in (objects(each.get("output"), "item") if each.get("object") == "response" else [each])
    ]


def _ended(message: Message, before: Sequence[Message]) -> Message:
    """Return the message that ends the run as what answers the last action."""
    calls = before[-1].get("tool_calls") if before else None
    rest = {key: value for key, value in message.items() if key != "role"}
    if isinstance(calls, list) and calls and isinstance(calls[0], dict) and calls[0].get("id"):
        return {"role": "tool", "tool_call_id": calls[0]["id"]} | rest
    return {"role": "user"} | rest


ADAPTER = Adapter("mini-swe-agent", _find, _read)
