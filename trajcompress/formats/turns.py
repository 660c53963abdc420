"""One message: read into a turn, changed, made."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.content import Content, json_text, optional_text, read_call, read_content
from trajcompress.formats.roles import CALL_ROLES
from trajcompress.trajectory import InputFormat, Message, Role, ToolCall, Trajectory, Turn

_TOOL_CALL_TAG = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_THINK = re.compile(r"<think>.*?</think>\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Keys:
    """The names of the two keys of a message that every format has."""

    role: str
    content: str


_KEYS: dict[InputFormat, Keys] = {"openai": Keys("role", "content"), "sharegpt": Keys("from", "value")}


def role_name(message: Any, index: int, form: InputFormat) -> str:
    """Return the message's own name for its role.

    Raises:
        RowError: ``turn_not_an_object`` or ``turn_without_role``.
    """
    if not isinstance(message, dict):
        raise RowError("turn_not_an_object", f"turn {index} is {type(message).__name__}")
    for key in ("role", "from") if form == "openai" else ("from", "role"):
        if isinstance(message.get(key), str):
            return str(message[key])
    raise RowError("turn_without_role", f"turn {index} has neither 'role' nor 'from'")


def read_turn(message: Message, role: Role, form: InputFormat) -> Turn:
    """Read one message, given what its role means."""
    first, second = ("content", "value") if form == "openai" else ("value", "content")
    content = read_content(message.get(first, message.get(second)))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    return Turn(
        role=role,
        text=content.text,
        raw=message,
        reasoning=json_text(reasoning) if reasoning else "\n".join(content.reasoning),
        calls=tuple(_calls(message, role, content, role_name(message, 0, form).lower())),
        answers=_answers(message, role, content),
        images=content.images,
        name=optional_text(message.get("name")),
    )


def add_text(turn: Turn, *, before: str = "", after: str = "") -> Turn:
    """Return the turn with text set before and after its content; list content gets parts of its own."""
    key = _keys_of(turn.raw).content
    content = turn.raw.get(key)
    if isinstance(content, list):
        added = [[_text_part(content, text)] if text else [] for text in (before, after)]
        content = [*added[0], *content, *added[1]]
    else:
        content = before + read_content(content).text + after
    return replace(turn, text=before + turn.text + after, raw={**turn.raw, key: content})


def new_user_turn(trajectory: Trajectory, text: str) -> Turn:
    """Make a user turn in the dialect of the trajectory.

    It has every key that all the messages have, so that a column of equal messages stays one: flags such as ``loss``
    are those of the first user turn, anything else that is not the role or the content is None.
    """
    model = next((turn.raw for turn in trajectory.turns if turn.role == "user"), None)
    if model is None:
        keys = _KEYS[trajectory.format]
        return Turn(
            "user", text, {keys.role: "user" if trajectory.format == "openai" else "human", keys.content: text}
        )
    keys = _keys_of(model)
    shared = [key for key in model if all(key in turn.raw for turn in trajectory.turns)]
    raw: Message = {key: model[key] if isinstance(model[key], bool | int | float) else None for key in shared}
    raw |= {keys.role: model[keys.role], keys.content: text}
    return Turn("user", text, raw)


def _calls(message: Message, role: Role, content: Content, own_role: str) -> list[ToolCall]:
    structured = message.get("tool_calls") or message.get("function_call")
    if structured:
        return content.calls + read_call(structured)
    if content.calls or role != "assistant":
        return content.calls
    if own_role in CALL_ROLES:
        written = [_THINK.sub("", content.text)]
    else:
        written = _TOOL_CALL_TAG.findall(content.text) if "<tool_call>" in content.text else []
    return [replace(call, in_text=True) for text in written for call in read_call(text.strip())]


def _answers(message: Message, role: Role, content: Content) -> tuple[str | None, ...]:
    if content.answers:
        return tuple(content.answers)
    tagged = content.text.count("<tool_response>") if content.text.lstrip().startswith("<tool_response>") else 0
    if role == "tool":
        for key in ("tool_call_id", "call_id", "id"):
            if message.get(key) is not None:
                return (optional_text(message[key]),)
        ids = message.get("tool_call_ids")
        if isinstance(ids, list) and ids:
            return tuple(optional_text(each) for each in ids)
        return (None,) * max(1, tagged)
    return (None,) * tagged if role == "user" else ()


def _keys_of(message: Message) -> Keys:
    role = "role" if message.get("role") is not None or "from" not in message else "from"
    content = "value" if "value" in message and "content" not in message else "content"
    return Keys(role, content)


def _text_part(parts: list[Any], text: str) -> dict[str, str]:
    """Write a text part the way the other parts of the message are written."""
    sample = next((part for part in parts if isinstance(part, dict) and ("text" in part or "value" in part)), {})
    key = "value" if "value" in sample else "text"
    return {key: text} if sample and "type" not in sample else {"type": "text", key: text}
