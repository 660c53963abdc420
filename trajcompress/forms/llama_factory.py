"""The form of LLaMA-Factory: ShareGPT's names and keys, a call in the text of the turn that makes it.

Its converter replaces what stands beside ``tool_calls`` and encodes arguments that are text a second time. Of a
``function_call`` whose value is words and then ``<tool_call>{name, arguments}</tool_call>`` it keeps both.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from trajcompress.formats.turns import RESULTS_JOINT
from trajcompress.forms.calls import write_arguments
from trajcompress.forms.form import Draft, UnfitError
from trajcompress.forms.tools import write_tools
from trajcompress.transcript.roles import CALL_ROLES
from trajcompress.transcript.summary_marks import RECORD_COLUMN
from trajcompress.transcript.trajectory import Message, ToolCall, Turn

_NAMES = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}
_JOINT = "\n\n"
_OPENS, _CLOSES = "<tool_call>", "</tool_call>"


def write_llama_factory(turns: Sequence[Turn], draft: Draft) -> None:
    """Write turns as LLaMA-Factory's ShareGPT converter reads them.

    Raises:
        UnfitError: a turn holds images, or the tools are no definitions of functions.
    """
    write_tools(draft, "text")
    _fix_types(draft)
    if draft.column != "conversations":
        draft.changes.add("column")
        draft.column = "conversations"
    for index, turn in enumerate(turns):
        if turn.images:
            raise UnfitError(f"content_shape: turn {index} holds an image, and its columns of images are not written")
        message = _message(turn, draft)
        if (
            draft.messages
            and _kind(draft.messages[-1]) == _kind(message)
            and draft.messages[-1]["from"] != "function_call"
        ):
            draft.changes.add("merged")
            draft.messages[-1] = _joined(draft.messages[-1], message)
        else:
            draft.messages.append(message)


def _fix_types(draft: Draft) -> None:
    """Give columns one type in all rows: a single value of another type stops the load of its file.

    ``tools`` has to be there once it is named, and text; of other columns what is no single value becomes JSON text.
    """
    fixed: dict[str, Any] = {"tools": draft.columns.get("tools") or ""}
    for name, value in draft.columns.items():
        if isinstance(value, dict | list) and name not in {draft.column, RECORD_COLUMN}:
            fixed[name] = json.dumps(value, ensure_ascii=False)
    if any(draft.columns.get(name) != value for name, value in fixed.items()):
        draft.changes.add("columns")
        draft.columns |= fixed


def _message(turn: Turn, draft: Draft) -> Message:
    raw = turn.raw
    calls = [] if turn.in_text else [call for call in turn.calls if not call.in_text or _is_all_call(turn)]
    name = "function_call" if calls else _NAMES[turn.role]
    value = _value(turn, calls)
    if raw.get("from") == name and raw.get("value") == value:
        return raw
    if raw.get("from") != name:
        draft.changes.add("roles")
    if calls and raw.get("value") != value:
        draft.changes.add("calls")
    elif not isinstance(raw.get("value", raw.get("content")), str):
        draft.changes.add("content")
    return {"from": name, "value": value} | {
        key: kept
        for key, kept in raw.items()
        if key not in {"role", "content", "from", "value", "tool_calls", "function_call", "tool_call_id"}
    }


def _value(turn: Turn, calls: Sequence[ToolCall]) -> str:
    own = turn.raw.get("value")
    if calls and _is_all_call(turn) and isinstance(own, str):
        return own
    text = turn.text
    if turn.reasoning and "<think>" not in text:
        text = f"<think>\n{turn.reasoning.strip()}\n</think>\n\n{text}"
    if not calls:
        return text
    made = [{"name": call.name, "arguments": write_arguments(call.arguments, "object")} for call in calls]
    if any(isinstance(each["arguments"], str) for each in made):
        raise UnfitError("arguments_encoded_twice: the arguments of a call are no JSON object")
    if _OPENS in text:
        raise UnfitError("call_not_rendered: calls stand in the words and beside them")
    body = _without_tags(json.dumps(made[0] if len(made) == 1 else made, ensure_ascii=False))
    return f"{text}\n{_OPENS}{body}{_CLOSES}" if text else body


def _without_tags(body: str) -> str:
    """Escape the tags that a call's arguments may hold: the converter takes the first for the end of the call."""
    for tag in (_OPENS, _CLOSES):
        body = body.replace(tag, f"\\u003c{tag[1:]}")
    return body


def _is_all_call(turn: Turn) -> bool:
    return bool(turn.calls) and turn.calls[0].in_text and turn.own_role.lower() in CALL_ROLES


def _kind(message: Message) -> str:
    return "gpt" if message["from"] == "function_call" else str(message["from"])


def _joined(before: Message, message: Message) -> Message:
    if message["from"] == "observation":
        return {**before, "value": before["value"] + RESULTS_JOINT + message["value"]}
    words, value = before["value"], message["value"]
    if message["from"] == "function_call" and _OPENS not in value:
        value = f"{_OPENS}{value}{_CLOSES}"
    return {**before, **message, "value": _JOINT.join(part for part in (words, value) if part)}
