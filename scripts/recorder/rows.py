"""A record as a row: OpenAI messages or ShareGPT conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from recorder.agent import Step
from recorder.tools import TOOLS

Row = dict[str, Any]

_SHAREGPT_ROLES = {"system": "system", "user": "human", "assistant": "gpt"}


def openai_row(head: Row, steps: Sequence[Step], meta: Row) -> Row:
    """``messages`` with ``tool_calls`` and ``tool`` messages; content is null beside calls made without a word."""
    return {**head, "messages": list(_messages(steps)), "tools": TOOLS, "meta": meta}


def _messages(steps: Sequence[Step]) -> Iterator[Row]:
    for step in steps:
        message: Row = {"role": step.role, "content": step.text}
        if step.calls:
            message["content"] = step.text or None
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
                }
                for call in step.calls
            ]
        yield message
        for call in step.calls:
            yield {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": call.result}


def sharegpt_row(head: Row, steps: Sequence[Step], meta: Row) -> Row:
    """``conversations`` with ``<tool_call>`` and ``<tool_response>`` blocks; ``tools`` is JSON text."""
    return {
        **head,
        "conversations": list(_conversations(steps)),
        "tools": json.dumps(TOOLS, ensure_ascii=False),
        "meta": meta,
    }


def _conversations(steps: Sequence[Step]) -> Iterator[Row]:
    for step in steps:
        calls = [
            json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False) for call in step.calls
        ]
        blocks = [f"<tool_call>\n{call}\n</tool_call>" for call in calls]
        yield {"from": _SHAREGPT_ROLES[step.role], "value": "\n".join([step.text, *blocks] if step.text else blocks)}
        if step.calls:
            results = [f"<tool_response>\n{call.result}\n</tool_response>" for call in step.calls]
            yield {"from": "tool", "value": "\n".join(results)}
