"""Small messages, and rows of them in the form of a target."""

from __future__ import annotations

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.forms.targets import form_for

OPTIONS = FormatOptions()
SYSTEM = {"role": "system", "content": "Be brief."}
ASKED = {"role": "user", "content": "What is in a.txt?"}
SAID = {"role": "assistant", "content": "It says hi."}
FUNCTION = {"name": "read", "arguments": '{"path": "a.txt"}'}
CALL = {"id": "call_1", "type": "function", "function": FUNCTION}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "hi"}
TOOL = {"name": "read", "description": "Reads a file.", "parameters": {"type": "object", "properties": {}}}


def formed(target, messages, column="messages", trim_end=False, **columns):
    row = {column: list(messages), **columns}
    return form_for(target, OPTIONS, trim_end=trim_end).of(read_trajectory(row, "r", OPTIONS))


def calling(content, **keys):
    return {"role": "assistant", "content": content, **keys}
