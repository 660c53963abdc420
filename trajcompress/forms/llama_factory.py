"""The form of LLaMA-Factory: ShareGPT's names and keys, a call in the text of the turn that makes it.

Its converter replaces what stands beside ``tool_calls`` and encodes arguments that are text a second time. Of a
``function_call`` whose value is words and then ``<tool_call>{name, arguments}</tool_call>`` it keeps both.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from trajcompress.formats.media import MEDIA
from trajcompress.formats.turns import RESULTS_JOINT, says_more_than_calls, without_think
from trajcompress.forms.calls import write_arguments
from trajcompress.forms.form import Draft, UnfitError
from trajcompress.forms.images import as_marks
from trajcompress.forms.text import CALL_CLOSES, CALL_OPENS, results_apart, text_of, words_beside_calls
from trajcompress.forms.tools import write_tools
from trajcompress.json_values import parse_json
from trajcompress.transcript.roles import CALL_ROLES
from trajcompress.transcript.summary_marks import PROVENANCE_COLUMN
from trajcompress.transcript.trajectory import Message, ToolCall, Turn

_NAMES = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}
_JOINT = "\n\n"


def write_llama_factory(turns: Sequence[Turn], draft: Draft, *, tools_as_prose: bool = False) -> None:
    """Write turns as LLaMA-Factory's ShareGPT converter reads them.

    ``tools_as_prose`` says whether its template writes out names and parameters of tools, in the place of their JSON.

    Raises:
        UnfitError: a turn holds images of its own, or the tools are no definitions of functions.
    """
    turns = as_marks(turns, draft)
    write_tools(draft, "text", none="", as_prose=tools_as_prose)
    _fix_types(draft)
    if draft.column != "conversations":
        draft.changes.add("column")
        draft.column = "conversations"
    for turn in turns:
        for message in _messages(turn, draft):
            before = draft.messages[-1] if draft.messages else None
            if before and _kind(before) == _kind(message) and before["from"] != "function_call":
                draft.changes.add("merged")
                draft.messages[-1] = _joined(before, message)
            else:
                draft.messages.append(message)
    _open(draft)


def _open(draft: Draft) -> None:
    """Put an empty user turn before an assistant's that begins the row: the converter drops such rows."""
    at = next((index for index, message in enumerate(draft.messages) if message["from"] != "system"), None)
    if at is not None and draft.messages[at]["from"] in {"gpt", "function_call"}:
        draft.changes.add("opened")
        draft.messages.insert(at, {"from": "human", "value": ""})


def _fix_types(draft: Draft) -> None:
    """Give columns one type in all rows: a single value of another type stops the load of its file.

    ``tools`` has to be there once it is named, and text; of other columns what is no single value becomes JSON text.
    """
    fixed: dict[str, Any] = {"tools": draft.columns.get("tools") or ""}
    for name, value in draft.columns.items():
        if isinstance(value, dict | list) and name not in {draft.column, PROVENANCE_COLUMN, *MEDIA}:
            fixed[name] = json.dumps(value, ensure_ascii=False)
    if any(draft.columns.get(name) != value for name, value in fixed.items()):
        draft.changes.add("columns")
        draft.columns |= fixed


def _messages(turn: Turn, draft: Draft) -> Iterator[Message]:
    if apart := results_apart(turn):
        draft.changes.add("calls")
        results, said = apart
        yield from ({"from": "observation", "value": text} for text in results)
        if said:
            yield {"from": "human", "value": said}
    else:
        yield _message(turn, draft)


def _message(turn: Turn, draft: Draft) -> Message:
    raw = turn.raw
    in_words = turn.in_text or says_more_than_calls(turn)
    calls = [] if in_words else [call for call in turn.calls if not call.in_text or _is_all_call(turn)]
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
    text = text_of(turn)
    if calls and _is_all_call(turn):
        if _is_read_right(text):
            return text
        text = words_beside_calls(text)
    if turn.reasoning and "<think>" not in text:
        text = f"<think>\n{turn.reasoning.strip()}\n</think>\n\n{text}"
    if not calls:
        return text
    made = [{"name": call.name, "arguments": write_arguments(call.arguments, "object")} for call in calls]
    if not all(each["name"] and isinstance(each["arguments"], dict) for each in made):
        raise UnfitError("tool_call_shape: a call without a name, or whose arguments are no JSON object")
    if CALL_OPENS in text:
        raise UnfitError("call_not_rendered: calls stand in the words and beside them")
    body = _without_tags(json.dumps(made[0] if len(made) == 1 else made, ensure_ascii=False))
    return f"{text}\n{CALL_OPENS}{body}{CALL_CLOSES}" if text else body


def _is_read_right(value: str) -> bool:
    """Tell whether the converter finds the calls of a ``function_call``: one JSON text, tagged where words are."""
    _, tagged, rest = value.partition(CALL_OPENS)
    body, closed, after = rest.partition(CALL_CLOSES)
    if bool(tagged) != bool(closed) or CALL_OPENS in after:
        return False
    try:
        calls = parse_json(body if tagged else without_think(value))
    except ValueError:
        return False
    each = calls if isinstance(calls, list) else [calls]
    return bool(each) and all(
        isinstance(call, dict) and isinstance(call.get("name"), str) and isinstance(call.get("arguments"), dict)
        for call in each
    )


def _without_tags(body: str) -> str:
    """Escape the tags that a call's arguments may hold: the converter takes the first for the end of the call."""
    for tag in (CALL_OPENS, CALL_CLOSES):
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
    if message["from"] == "function_call" and CALL_OPENS in words:
        raise UnfitError("call_not_rendered: calls stand in the words and beside them")
    if message["from"] == "function_call" and CALL_OPENS not in value:
        value = f"{CALL_OPENS}{value}{CALL_CLOSES}"
    return {**before, **message, "value": _JOINT.join(part for part in (words, value) if part)}
