"""ATIF, the Agent Trajectory Interchange Format of Harbor: one object of ``steps``, each with its observation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trajcompress.errors import RowError
from trajcompress.formats.adapter_parts import (
    Adapter,
    Lists,
    Made,
    Row,
    an_object,
    call_of,
    objects,
    one_of,
    rest_of,
    without_nulls,
)
from trajcompress.transcript.trajectory import Message

_ROLES = {"system": "system", "user": "user", "agent": "assistant"}
_READ = ("source", "message", "tool_calls", "observation")


def _find(row: Row, _: Lists) -> tuple[str, ...]:
    version = row.get("schema_version")
    is_its = isinstance(version, str) and version.startswith("ATIF-") and row.get("steps") is not None
    return ("steps",) if is_its else ()


def _read(row: Row, _: Lists, __: tuple[str, ...]) -> Made:
    if not isinstance(row["steps"], list):
        raise RowError("messages_not_a_list", f"'steps' of ATIF is {type(row['steps']).__name__}, no list")
    steps = objects(row["steps"], "step")
    messages = [message for index, step in enumerate(steps) for message in _messages(step, index)]
    agent = row.get("agent")
    tools = agent.get("tool_definitions") if isinstance(agent, Mapping) else None
    return Made(messages, tools if isinstance(tools, list) and not row.get("tools") else None)


def _messages(step: Mapping[str, Any], index: int) -> Iterator[Message]:
    role = one_of(step.get("source"), _ROLES, f"step {index} has source")
    calls = objects(step.get("tool_calls"), f"step {index}: call")
    observation = an_object(step.get("observation"), f"step {index}: its observation")
    results = objects(observation.get("results"), f"step {index}: result")
    message: Message = {"role": role, "content": _content(step.get("message"))}
    if calls:
        message["tool_calls"] = [
            call_of(call.get("tool_call_id"), call.get("function_name"), call.get("arguments") or {})
            | rest_of(call, "tool_call_id", "function_name", "arguments")
            for call in calls
        ]
    yield message | rest_of(step, *_READ)
    open_calls = [call.get("tool_call_id") for call in calls]
    for result in results:
        yield _result(result, open_calls)


def _result(result: Mapping[str, Any], open_calls: list[Any]) -> Message:
    """Return the result of a call, or what the environment says to an agent that acts in words, as a user's turn."""
    call_id = result.get("source_call_id")
    if call_id is None and open_calls:
        call_id = open_calls[0]
    rest = rest_of(result, "source_call_id", "content")
    content = _content(result.get("content"))
    if call_id is None:
        return {"role": "user", "content": content} | rest
    if call_id in open_calls:
        open_calls.remove(call_id)
    return without_nulls({"role": "tool", "tool_call_id": call_id, "content": content}) | rest


def _content(content: Any) -> Any:
    """Return text as it is, and parts as OpenAI has them: images by their path."""
    if not isinstance(content, list):
        return "" if content is None else content
    return [_part(part) for part in content]


def _part(part: Any) -> Any:
    source = part.get("source") if isinstance(part, dict) else None
    if isinstance(source, dict) and part.get("type") == "image":
        return {"type": "image_url", "image_url": {"url": source.get("path")}}
    return without_nulls(part) if isinstance(part, dict) else part


ADAPTER = Adapter("atif", _find, _read)
