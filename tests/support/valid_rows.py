"""Rows that every target takes, as messages of either format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def valid_messages(rounds: list[int], *, sharegpt: bool) -> Iterator[dict[str, Any]]:
    """Write a system turn, and for each round a question, that many calls with their results, and an answer."""
    role, content, user, assistant = (
        ("from", "value", "human", "gpt") if sharegpt else ("role", "content", "user", "assistant")
    )
    yield {role: "system", content: "Be brief."}
    for number, steps in enumerate(rounds):
        yield {role: user, content: "hello"}
        for step in range(steps):
            if sharegpt:
                yield {role: "function_call", content: '{"name": "ls", "arguments": {}}'}
                yield {role: "observation", content: "a.txt"}
            else:
                call_id = f"{number}{step}abcdefg"
                call = {"id": call_id, "type": "function", "function": {"name": "ls", "arguments": "{}"}}
                yield {role: assistant, content: None, "tool_calls": [call]}
                yield {role: "tool", content: "a.txt", "tool_call_id": call_id}
        yield {role: assistant, content: "bye"}
