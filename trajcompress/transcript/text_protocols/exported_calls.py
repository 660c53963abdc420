"""Calls as Cline, Roo Code and Kilo Code write them where they export a task: ``[Tool Use: read_file]``. Pure."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.token_calls import Calls
from trajcompress.transcript.text_protocols.written_calls import json_or_text, new_call

_SIGN = "[Tool Use: "
_CALL = late_re(r"^\[Tool Use: ([\w.-]{1,80})\][ \t]{0,9}(?:\n|\Z)", re.MULTILINE)
_KEY = late_re(r"^([A-Z][a-z]{0,30}(?:_[a-z]{1,30}){0,4}): ?", re.MULTILINE)
_LONG = frozenset({"content", "diff", "result", "todos", "message"})
"""What may hold lines that look like the next key: it takes all that follows."""


def exported_calls(text: str) -> Calls | None:
    """Read the calls that a text ends with, each with its arguments by their names; None where it has none."""
    if _SIGN not in text:
        return None
    found = list(_CALL.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    calls = [new_call(match[1], _given(text[match.end() : end])) for match, end in zip(found, ends, strict=True)]
    return (tuple(calls), found[0].start()) if calls else None


def _given(body: str) -> dict[str, object]:
    given: dict[str, object] = {}
    keys = list(_KEY.finditer(body))
    for place, key in enumerate(keys):
        name = key[1].lower()
        end = keys[place + 1].start() if place + 1 < len(keys) and name not in _LONG else len(body)
        given[name] = json_or_text(body[key.end() : end].strip())
        if name in _LONG:
            break
    return given
