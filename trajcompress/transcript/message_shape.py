"""What a target demands of a single message, whatever stands beside it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import MistralVersion
from trajcompress.transcript.trajectory import ToolCall, Turn
from trajcompress.transcript.violation import Kind

Fault: TypeAlias = tuple[Kind, str]

_TOOL_NAME = late_re(r"[a-zA-Z0-9_-]{1,64}")
_MISTRAL_ID = late_re(r"[a-zA-Z0-9]{9}")
_TEXT_PARTS = {"text": "text"}
_OPENAI_PARTS = {
    "user": {"text": "text", "image_url": "image_url", "input_audio": "input_audio", "file": "file"},
    "assistant": {"text": "text", "refusal": "refusal"},
}
"""Types of content parts, by role, and the key that holds what each is; other roles take text only."""
_MISTRAL_TEXT_BESIDE_CALLS, _MISTRAL_THINKS, _MISTRAL_ANY_ID = 7, 11, 13
"""Versions of Mistral's tokenizers from which on they take it."""
_MISTRAL_USER_PARTS = frozenset({"text", "image", "image_url"})


def content_of(turn: Turn) -> Any:
    """Return the content of a turn's message as it is, whichever format the message has."""
    content = turn.raw.get("content")
    return turn.raw.get("value") if content is None else content


def openai_faults(turn: Turn) -> Iterator[Fault]:
    """Check a message against the types of the Chat Completions API."""
    message = turn.raw
    role = message.get("role")
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    yield from _openai_content(role, message.get("content"), needed=role != "assistant" or not (calls or legacy))
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield "tool_call_id_missing", "the result has no tool_call_id"
    if role == "function" and not isinstance(message.get("name"), str):
        yield "tool_name_format", "the result has no name"
    if legacy:
        yield from _openai_function(legacy)
    if calls and not isinstance(calls, list):
        yield "tool_call_shape", f"tool_calls is {type(calls).__name__}, no list"
    elif calls:
        for call in calls:
            yield from _openai_call(call)


def _openai_content(role: Any, content: Any, *, needed: bool) -> Iterator[Fault]:
    if content is None:
        if needed:
            yield "null_content", f"the {role} turn has no content"
    elif isinstance(content, list):
        types = _OPENAI_PARTS.get(role, _TEXT_PARTS)
        for part in content:
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            body = part.get(types.get(kind, "")) if isinstance(part, dict) and isinstance(kind, str) else None
            if not isinstance(body, str if kind in ("text", "refusal") else dict):
                keys = f" with keys {', '.join(map(repr, part))}" if isinstance(part, dict) else ""
                yield "content_shape", f"a part of type {kind!r}{keys} in a turn of {role}"[:120]
    elif not isinstance(content, str):
        yield "content_shape", f"the content is {type(content).__name__}"


def _openai_call(call: Any) -> Iterator[Fault]:
    if not isinstance(call, dict) or call.get("type") != "function":
        yield "tool_call_shape", "a call is no object of type 'function'"
        return
    if not isinstance(call.get("id"), str):
        yield "tool_call_id_missing", "a call has no id"
    yield from _openai_function(call.get("function"))


def _openai_function(function: Any) -> Iterator[Fault]:
    if not isinstance(function, dict):
        yield "tool_call_shape", "a call has no function with name and arguments"
        return
    if not isinstance(function.get("arguments"), str):
        kind = type(function.get("arguments")).__name__
        yield "tool_call_shape", f"arguments are {kind}, not JSON text; write them with json.dumps"
    yield from _tool_name(function.get("name"))


def _tool_name(name: Any) -> Iterator[Fault]:
    if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
        yield "tool_name_format", repr(name)[:80]


def mistral_faults(turn: Turn, version: MistralVersion = "v3") -> Iterator[Fault]:
    """Check a message as the tokenizer of a version does.

    Version 3 takes text or calls but not both, and ids of nine characters; 7 takes text beside calls, and turns that
    say nothing; 11 takes thoughts; 13 takes ids of any form.
    """
    since = int(version[1:])
    yield from _mistral_content(turn, since)
    for call in _structured_calls(turn):
        yield from _tool_name(call.name)
        yield from _mistral_id(call.id, since)
    if turn.role == "tool":
        if turn.name is not None:
            yield from _tool_name(turn.name)
        for answer in turn.answers:
            yield from _mistral_id(answer, since)


def takes_words_beside_calls(version: MistralVersion) -> bool:
    """Tell whether an assistant turn may have both."""
    return int(version[1:]) >= _MISTRAL_TEXT_BESIDE_CALLS


def _structured_calls(turn: Turn) -> list[ToolCall]:
    return [call for call in turn.calls if not call.in_text]


def _mistral_content(turn: Turn, since: int) -> Iterator[Fault]:
    content = content_of(turn)
    if isinstance(content, list):
        yield from _mistral_parts(content, turn, since)
    elif not isinstance(content, str | None):
        yield "content_shape", f"the content is {type(content).__name__}"
    calls = _structured_calls(turn)
    if turn.role != "assistant":
        if content is None:
            yield "null_content", f"the {turn.role} turn has no content"
    elif since >= _MISTRAL_TEXT_BESIDE_CALLS:
        return
    elif calls and content:
        yield "tool_calls_with_content", f"{len(turn.text):,} characters beside {calls[0].name!r}"
    elif not calls and not content:
        yield "empty_assistant", "neither text nor calls"


def _mistral_parts(content: list[Any], turn: Turn, since: int) -> Iterator[Fault]:
    allowed = _MISTRAL_USER_PARTS if turn.role == "user" else frozenset(_TEXT_PARTS)
    if turn.role == "assistant" and since >= _MISTRAL_THINKS:
        allowed |= {"thinking"}
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else type(part).__name__
        if str(kind) not in allowed or (kind == "text" and not isinstance(part.get("text"), str)):
            yield "content_shape", f"a part of type {kind!r} in a turn of {turn.role}"


def _mistral_id(call_id: str | None, since: int) -> Iterator[Fault]:
    if call_id is None:
        yield "tool_call_id_missing", "a call or a result has no id"
    elif since >= _MISTRAL_ANY_ID:
        if call_id == "null":
            yield "tool_call_id_format", "'null' stands for none"
    elif not _MISTRAL_ID.fullmatch(call_id):
        yield "tool_call_id_format", f"{call_id[:40]!r}, not 9 letters and digits"


def llama_factory_faults(turn: Turn) -> Iterator[Fault]:
    """Check that the content is text, and calls hold what is read in its place."""
    own = turn.raw.get("tool_calls")
    if turn.role == "assistant" and own and turn.raw.get("role"):  # read instead of the content
        if not isinstance(own, list) or not all(isinstance(call, dict) and "function" in call for call in own):
            yield "tool_call_shape", "a call has no function with name and arguments"
        return
    content = content_of(turn)
    if content is None:
        yield "null_content", f"the {turn.role} turn has no content"
    elif not isinstance(content, str):
        yield "content_shape", f"the content is {type(content).__name__}, not text"
