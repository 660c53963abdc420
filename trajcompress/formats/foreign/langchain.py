"""LangChain messages: ``type`` for a role, as ``model_dump``, ``messages_to_dict`` and ``dumpd`` write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, an_object, call_of, objects, one_of, rest_of
from trajcompress.transcript.trajectory import Message

_ROLES = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "function",
    "chat": "",  # names its own
    "developer": "developer",
}
_CHUNK = "MessageChunk"
_READ = ("type", "role", "content", "tool_calls", "invalid_tool_calls", "tool_call_chunks", "tool_call_id", "name")
_CALL_PARTS = ("tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "invalid_tool_call")


def _find(_: Row, lists: Lists) -> tuple[str, ...]:
    """Return the longest column of messages; the first decides what a list holds, as others may be broken."""
    found = [name for name, messages in lists.items() if _is_message(messages[0]) and not _has_roles(messages)]
    return (max(found, key=lambda name: len(lists[name])),) if found else ()


def _is_message(item: Mapping[str, Any]) -> bool:
    body = _body(item)
    return body is not None and "content" in body and _type(item, body) in _ROLES


def _has_roles(messages: list[Any]) -> bool:
    """Tell whether messages name a role, as those of others do; here only a message of type ``chat`` does."""
    return any(
        isinstance(each, dict) and each.get("type") != "chat" and (each.get("role") or each.get("from"))
        for each in messages
    )


def _body(item: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the fields of a message, wherever the way of dumping has put them."""
    inner = item.get("kwargs") if item.get("lc") else item.get("data")
    if inner is None:
        return item
    return inner if isinstance(inner, dict) else None


def _type(item: Mapping[str, Any], body: Mapping[str, Any]) -> str:
    kind = body.get("type") or item.get("type")
    path = item.get("id")
    if item.get("lc") and not body.get("type") and isinstance(path, list) and path:
        kind = str(path[-1]).removesuffix("Message").lower()
    kind = kind if isinstance(kind, str) else ""
    return kind.removesuffix(_CHUNK).lower() if kind.endswith(_CHUNK) else kind


def _read(_: Row, lists: Lists, columns: tuple[str, ...]) -> Made:
    messages = objects(lists[columns[0]], "message")
    return Made([_message(item, index) for index, item in enumerate(messages)])


def _message(item: Mapping[str, Any], index: int) -> Message:
    body = _body(item)
    if body is None:
        raise RowError("turn_not_an_object", f"message {index} holds no object of fields")
    kind = _type(item, body)
    role = one_of(kind, _ROLES, f"message {index} has type") or body.get("role")
    if not isinstance(role, str):
        raise RowError("turn_without_role", f"message {index} of type {kind!r} names no role")
    extra = an_object(body.get("additional_kwargs"), f"message {index}: additional_kwargs")
    message: Message = {"role": role, "content": body.get("content")}
    if calls := _calls(body, extra, index):
        message["tool_calls"] = calls
        message["content"] = _without_calls(message["content"])
    for key in ("tool_call_id", "name"):
        if body.get(key):
            message[key] = body[key]
    if extra.get("reasoning_content"):
        message["reasoning_content"] = extra["reasoning_content"]
    rest = rest_of(body, *_READ, "additional_kwargs")
    others = rest_of(extra, "tool_calls", "function_call", "reasoning_content")
    return message | rest | ({"additional_kwargs": others} if others else {})


def _calls(body: Mapping[str, Any], extra: Mapping[str, Any], index: int) -> list[dict[str, Any]]:
    what = f"message {index}: call"
    calls = [*objects(body.get("tool_calls"), what), *objects(body.get("invalid_tool_calls"), what)]
    if calls:
        return [call_of(call.get("id"), call.get("name"), _arguments(call)) for call in calls]
    if raw := objects(extra.get("tool_calls"), what):
        return list(raw)
    legacy = extra.get("function_call")
    return [call_of(None, legacy.get("name"), legacy.get("arguments") or "{}")] if isinstance(legacy, dict) else []


def _arguments(call: Mapping[str, Any]) -> Any:
    arguments = call.get("args")
    return {} if arguments is None else arguments


def _without_calls(content: Any) -> Any:
    """Return content without the parts that say again, in a provider's way, what is called."""
    if not isinstance(content, list):
        return content
    left = [part for part in content if not (isinstance(part, dict) and part.get("type") in _CALL_PARTS)]
    return left or ""


ADAPTER = Adapter("langchain", _find, _read)
