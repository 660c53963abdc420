"""What a message says, whatever shape its content has.

Content is text, nothing, one part or a list of parts, in the dialects that real rows hold: OpenAI (``type: text``,
``image_url``), Anthropic (``tool_use``, ``tool_result``, ``thinking``), Bedrock (``text``, ``toolUse``,
``toolResult`` without a type) and ``{type, value}`` pairs. A part that nobody knows is read as its JSON, without any
payload in base64; one that only marks where a provider may cache says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import ToolCall

PAYLOAD_PLACEHOLDER = "<payload>"
"""Stands for bytes, or text in base64, in what is written of a part that nobody knows."""

_PAYLOAD = late_re(r"(?:data:[\w/+.-]+;base64,)?[A-Za-z0-9+/_-]{256,}={0,2}")
IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})
TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_REASONING_TYPES = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoningContent"})
_CACHE_POINT = "cachePoint"
_ARGUMENTS = ("arguments", "parameters", "input", "args")
_CALL_KEYS = frozenset({"id", "call_id", "type", "index", "name", "function", "custom", *_ARGUMENTS})
"""What a call may hold that says no more than its name, its arguments, and which one it is."""


class Content(msgspec.Struct):
    """What was found in one message's content."""

    texts: list[str] = []  # a struct copies an empty default
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    answers: list[str | None] = []
    images: int = 0

    @property
    def text(self) -> str:
        """The texts as one, in order."""
        return "\n".join(self.texts)


def read_content(value: Any) -> Content:
    """Read a message's content of any shape."""
    if isinstance(value, str):
        return Content([value])
    content = Content()
    _read(value, content)
    return content


def json_text(value: Any) -> str:
    """Return text as it is, anything else as compact JSON."""
    if isinstance(value, str):
        return value
    return _encode(value)


def first_filled(mapping: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value that is not None: a struct column gives every message every key."""
    for key in keys:
        if (value := mapping.get(key)) is not None:
            return value
    return None


def optional_text(value: Any) -> str | None:
    """Return an identifier or a name as text, None where there is none."""
    if isinstance(value, str):
        return value or None
    return None if value is None else json_text(value)


def _read(value: Any, content: Content) -> None:
    if value is None:
        return
    if isinstance(value, str):
        content.texts.append(value)
    elif isinstance(value, list):
        for part in value:
            _read(part, content)
    elif isinstance(value, dict):
        _read_part(value, content)
    else:
        content.texts.append(json_text(value))


def _read_part(part: dict[str, Any], content: Content) -> None:
    kind = str(part.get("type") or _first_key(part))
    value = part.get(kind)
    inner: dict[str, Any] = value if isinstance(value, dict) else part
    if kind in TEXT_TYPES:
        _read(first_filled(part, "text", "value", "refusal", "content"), content)
    elif kind in IMAGE_TYPES:
        content.images += 1
    elif kind in _REASONING_TYPES:
        content.reasoning.append(_first_text(inner))
    elif kind in {"tool_use", "toolUse", "server_tool_use", "mcp_tool_use"}:
        call_id = optional_text(first_filled(inner, "id", "toolUseId"))
        content.calls.append(ToolCall(call_id, json_text(inner.get("name") or ""), json_text(inner.get("input"))))
    elif kind == "tool_call":
        content.calls.extend(read_call(first_filled(part, "value") or part))
    elif kind in {"tool_result", "toolResult"} or kind.endswith("_tool_result"):
        content.answers.append(optional_text(first_filled(inner, "tool_use_id", "toolUseId")))
        _read(inner.get("content"), content)
    elif kind != _CACHE_POINT:
        content.texts.append(_PAYLOAD.sub(PAYLOAD_PLACEHOLDER, json_text(part)))


def _unjson(value: Any) -> str:
    return PAYLOAD_PLACEHOLDER if isinstance(value, bytes) else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, default=_unjson).encode  # json.dumps makes one for each value


def _first_key(part: dict[str, Any]) -> str:
    """Name a part of Bedrock or Gemini, which have no type, by the first key that it fills."""
    return next((key for key, value in part.items() if value is not None), "")


def _first_text(part: dict[str, Any]) -> str:
    for key in ("thinking", "text", "value", "reasoning", "reasoningText", "data"):
        found = part.get(key)
        if isinstance(found, dict):
            return _first_text(found)
        if found:
            return json_text(found)
    return ""


def read_call(value: Any, *, in_text: bool = False) -> list[ToolCall]:
    """Read a call from ``{name, arguments}``, ``{id, function: {…}}``, a list of either, or their JSON text."""
    if isinstance(value, str):
        try:
            value = parse_json(value)
        except ValueError:
            return [ToolCall(None, "", value, in_text)]
    if isinstance(value, list):
        return [call for item in value for call in read_call(item, in_text=in_text)]
    if not isinstance(value, dict):
        return [ToolCall(None, "", json_text(value), in_text)]
    body, name = _named(value)
    arguments = first_filled(body, *_ARGUMENTS)
    if arguments is None:
        arguments = {} if name else value  # what names nothing is kept whole
    return [ToolCall(optional_text(value.get("id")), json_text(name), json_text(arguments), in_text)]


def is_call_alone(text: str) -> bool:
    """Tell whether JSON text is a call, or a list of calls, with nothing that :func:`read_call` leaves out."""
    try:
        value = parse_json(text)
    except ValueError:
        return False
    return all(map(_is_call, value)) and bool(value) if isinstance(value, list) else _is_call(value)


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    body, name = _named(value)
    filled = {key for each in (value, body) for key, held in each.items() if held is not None}
    return isinstance(name, str) and bool(name) and filled <= _CALL_KEYS and len(filled.intersection(_ARGUMENTS)) <= 1


def _named(value: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return what holds the name and the arguments of a call, and the name; empty where there is none."""
    function = value.get("function")
    body = next((each for each in (function, value.get("custom")) if isinstance(each, dict)), value)
    return body, body.get("name") or (function if isinstance(function, str) else "")
