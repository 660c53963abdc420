"""Actions in fenced code that ends a turn. Pure."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.fences import last_fence
from trajcompress.transcript.text_protocols.written_calls import json_calls, named_calls, new_call, script_call
from trajcompress.transcript.trajectory import ToolCall

_TOOL_FENCES = frozenset({"tool_code", "tool_call", "tool"})
"""Languages of fenced code that no chat shows."""
_INLINE = late_re(r"```[ \t]?([^`\n]{1,500}?)[ \t]?```[.)]?\Z")
_THOUGHT, _CODE = "Thought:", "\nCode:"  # of smolagents
_DISCUSSES = "DISCUSSION\n"  # of SWE-agent
_PRINTED = late_re(r"\Aprint\((.*)\)\s*\Z", re.DOTALL)


def fenced(text: str) -> Acted | None:
    """Read the fenced code that ends a turn."""
    if match := _INLINE.search(text[-600:]):
        calls = named_calls(match[1]) or (new_call("", match[1].strip()),)
        return Acted(calls, "shape", max(len(text) - 600, 0) + match.start())
    if (fence := last_fence(text)) is None:
        return None
    if fence.language in _TOOL_FENCES:
        calls = json_calls(fence.code) or (script_call("python", _PRINTED.sub(r"\1", fence.code)),)
        return Acted(calls, "named", fence.start)
    before = text[: fence.start].rstrip()
    thinks = before.startswith(_DISCUSSES) or (before.startswith(_THOUGHT) and before.endswith(_CODE))
    return Acted((script_call(fence.language, fence.code),), "named" if thinks else "shape", fence.start)


def fenced_calls(text: str) -> tuple[ToolCall, ...]:
    """Read the calls of the fenced code that ends a text."""
    acted = fenced(text)
    return acted.calls if acted else ()
