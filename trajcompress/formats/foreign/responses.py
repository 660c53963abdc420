"""Items of OpenAI's Responses API: messages, reasoning, calls and their outputs, one after the other.

A row may have them in one column, or as a request and its answer in ``input`` and ``output``, with ``instructions``.
What the assistant does between two inputs (reasoning, words, calls) is one message of Chat Completions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.adapter_parts import Adapter, Lists, Made, Row, call_of, objects, rest_of
from trajcompress.transcript.trajectory import Message

_CALLS = frozenset({"function_call", "custom_tool_call"})
_HOSTED = frozenset(
    {"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"}
)
"""Calls that OpenAI runs itself; what came of them stands in the same item."""
_OURS = frozenset(
    {"computer_call", "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call", "program"}
)
_OUTPUT = "_output"
_ASIDE = frozenset(
    {
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "additional_tools",
        "configuration_update",
        "compaction_trigger",
    }
)
"""Items that nobody says; they go along with the next message."""
_ELSEWHERE = frozenset({"item_reference", "compaction"})
"""Items that stand for words which are not in the row."""
_KINDS = _CALLS | _HOSTED | _OURS | _ASIDE | _ELSEWHERE | {"reasoning"}
_PART_TYPES = ("input_text", "output_text", "input_image", "input_file")
_RESULTS = ("output", "outputs", "results", "result", "error")
_ABOUT = ("id", "call_id", "type", "status", "name", "arguments", "input", "caller", "namespace")


def is_item(value: Any) -> bool:
    """Tell an item that no list of chat messages has."""
    if not isinstance(value, dict) or value.get("from") is not None:
        return False
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "message":
        return isinstance(value.get("role"), str) and _has_parts(value.get("content"))
    return value.get("role") is None and (kind in _KINDS or (kind.endswith(_OUTPUT) and "output" in value))


def messages_of(items: list[Any]) -> list[Message]:
    """Return items as messages of Chat Completions.

    Raises:
        RowError: one of them is no item, or stands for words that are not there.
    """
    reading = _Reading()
    for index, item in enumerate(objects(items, "item")):
        reading.add(item, index)
    return reading.messages


def _find(row: Row, lists: Lists) -> tuple[str, ...]:
    """Return the columns that hold items: the longest, or those of a request and its answer."""
    found = [name for name, items in lists.items() if any(map(is_item, items))]
    if {"input", "output"} & set(found):
        both = (name for name in ("instructions", "input", "output") if row.get(name))
        return tuple(name for name in both if name in lists or isinstance(row[name], str))
    return (max(found, key=lambda name: len(lists[name])),) if found else ()


def _read(row: Row, lists: Lists, columns: tuple[str, ...]) -> Made:
    items: list[Any] = []
    for name in columns:
        says = {"role": "system" if name == "instructions" else "user", "content": row[name]}
        items += lists.get(name, [says])
    return Made(messages_of(items), _chat_tools(row.get("tools")))


def _chat_tools(tools: Any) -> list[Any] | None:
    """Return tool definitions as Chat Completions has them; None where they are already, or there are none."""
    if not isinstance(tools, list) or not any(_is_flat(tool) for tool in tools):
        return None
    return [
        {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}
        if _is_flat(tool)
        else tool
        for tool in tools
    ]


def _is_flat(tool: Any) -> bool:
    return isinstance(tool, dict) and tool.get("type") == "function" and "name" in tool and "function" not in tool


class _Reading:
    """Messages so far, and what waits for the next one."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._aside: list[Any] = []
        self._open = False  # whether the last message is the assistant's, and goes on

    def add(self, item: Mapping[str, Any], index: int) -> None:
        """Read one item."""
        kind = item.get("type") or "message"
        if not isinstance(kind, str):
            raise RowError("turn_without_role", f"item {index} has type {kind!r}")
        if kind == "message":
            self._say(item, index)
        elif kind == "reasoning":
            self._think(item)
        elif kind in _CALLS or kind in _OURS or kind in _HOSTED:
            self._call(item, kind)
        elif kind.endswith(_OUTPUT):
            self._answer(item.get("call_id"), item.get("output"))
        elif kind in _ASIDE:
            self._aside.append(dict(item))
        elif kind in _ELSEWHERE:
            raise RowError("turn_without_role", f"item {index} is a {kind}: what it stands for is not in the row")
        else:
            raise RowError("turn_without_role", f"item {index} has type {kind!r}, which is none of the Responses API")

    def _append(self, message: Message, *, goes_on: bool) -> None:
        if self._aside:
            message["other_items"] = self._aside
            self._aside = []
        self.messages.append(message)
        self._open = goes_on

    def _assistant(self) -> Message:
        """Return the assistant's message that goes on, a new one where none does."""
        if not self._open:
            self._append({"role": "assistant", "content": ""}, goes_on=True)
        return self.messages[-1]

    def _say(self, item: Mapping[str, Any], index: int) -> None:
        role = item.get("role")
        if not isinstance(role, str):
            raise RowError("turn_without_role", f"item {index} is a message without a role")
        content, rest = _content(item.get("content")), rest_of(item, "type", "role", "content", "status", "id")
        if role == "assistant" and self._open and not self.messages[-1]["content"]:
            self.messages[-1].update({"content": content} | rest)
        else:
            self._append({"role": role, "content": content} | rest, goes_on=role == "assistant")

    def _think(self, item: Mapping[str, Any]) -> None:
        parts = objects(item.get("content") or item.get("summary"), "part of reasoning")
        thought = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
        if self._open and (self.messages[-1].get("tool_calls") or self.messages[-1]["content"]):
            self._open = False
        message = self._assistant()
        if thought:
            before = message.get("reasoning_content")
            message["reasoning_content"] = f"{before}\n{thought}" if before else thought
        if item.get("encrypted_content"):
            message["encrypted_content"] = item["encrypted_content"]

    def _call(self, item: Mapping[str, Any], kind: str) -> None:
        call_id = item.get("call_id") or item.get("id")
        if kind == "function_call" or (kind == "mcp_call" and item.get("name")):
            call = call_of(call_id, item.get("name"), item.get("arguments") or "{}")
        elif kind == "custom_tool_call":
            call = call_of(call_id, item.get("name"), {"input": item.get("input") or ""})
        else:
            asked = {key: value for key, value in item.items() if key not in {*_ABOUT, *_RESULTS} and value}
            call = call_of(call_id, kind.removesuffix("_call"), asked)
        self._assistant().setdefault("tool_calls", []).append(call)
        if kind in _HOSTED:
            found = {key: item[key] for key in _RESULTS if item.get(key)}
            self._answer(call_id, found.get("output", found) if len(found) < 2 else found)  # noqa: PLR2004  one

    def _answer(self, call_id: Any, output: Any) -> None:
        content = _content(output) if isinstance(output, str | list) else _json(output)
        self._append({"role": "tool", "tool_call_id": call_id, "content": content}, goes_on=False)


def _json(output: Any) -> str:
    return "" if output in (None, {}) else json.dumps(output, ensure_ascii=False, default=str)


def _has_parts(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") in _PART_TYPES for part in content
    )


def _content(content: Any) -> Any:
    """Return content as Chat Completions has it; a single text as such."""
    if not isinstance(content, list):
        return "" if content is None else content
    parts = [_part(part) for part in content]
    if not parts:
        return ""
    if len(parts) == 1 and isinstance(parts[0], dict) and parts[0].keys() == {"type", "text"}:
        return parts[0]["text"]
    return parts


def _part(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    rest = rest_of(part, "type", "text", "image_url", "detail")
    match part.get("type"):
        case "input_text" | "output_text" | "summary_text" | "reasoning_text":
            return {"type": "text", "text": part.get("text") or ""} | rest
        case "input_image" if isinstance(part.get("image_url"), str):
            shown = {"url": part["image_url"]} | ({"detail": part["detail"]} if part.get("detail") else {})
            return {"type": "image_url", "image_url": shown} | rest
        case "input_file":
            return {"type": "file", "file": rest}
        case _:
            return part


ADAPTER = Adapter("responses", _find, _read)
