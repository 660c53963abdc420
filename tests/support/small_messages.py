"""The smallest messages with which a row is checked."""

from __future__ import annotations

LONG = "The whole task is here, in more words than stand in two places by accident."
USER = {"role": "user", "content": LONG}
SAY = {"role": "assistant", "content": "done"}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "a.txt"}
PARTS = {"role": "user", "content": [{"type": "text", "text": LONG}]}


def asks(arguments='{"path": "src/a.py"}', content="I look.", name="ls"):
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [{"id": "a", "type": "function", "function": function}],
    }


LEGACY = {"role": "assistant", "content": "I look.", "function_call": {"name": "ls", "arguments": "{}"}}
