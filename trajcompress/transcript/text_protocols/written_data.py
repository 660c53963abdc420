"""Data as models write it: JSON, also where it lacks what closes it, or as Python prints it. Pure."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re

_JSON_CHARS, _LENIENT_CHARS = 200_000, 40_000
_MOST_MISSING = 3
_STRUCTURE = late_re(r'"(?:[^"\\]++|\\.)*+"|["{}\[\]]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}
_ESCAPE = late_re(r"\\(.)", re.DOTALL)
_ESCAPES = frozenset("\\'\"abfnrtv\n01234567xuUN")


def parse_strictly(text: str) -> Any:
    """Read JSON; None for anything else."""
    if len(text) > _JSON_CHARS:
        return None
    try:
        return parse_json(text, strict=False)
    except ValueError:
        return None


def parse_written(text: str) -> Any:
    """Read JSON, also without the last brackets, or what Python prints of such; None for anything else.

    >>> parse_written('{"name": "ls", "arguments": {"path": "a"}')
    {'name': 'ls', 'arguments': {'path': 'a'}}
    >>> parse_written("{'command': 'ls', 'all': True}")
    {'command': 'ls', 'all': True}
    """
    if (data := parse_strictly(text)) is not None or len(text) > _LENIENT_CHARS:
        return data
    if closing := _missing_brackets(text):
        return parse_strictly(text + closing)
    try:
        return json.loads(json.dumps(ast.literal_eval(as_python(text))))  # as JSON has it, else not at all
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _missing_brackets(text: str) -> str:
    """Return the brackets that a text opens and does not close; nothing where there are many, or in a string."""
    opened: list[str] = []
    for sign in _STRUCTURE.finditer(text):
        if sign[0] in _CLOSING:
            opened.append(_CLOSING[sign[0]])
        elif (sign[0] in {"}", "]"} and (not opened or opened.pop() != sign[0])) or sign[0] == '"':
            return ""
    return "".join(reversed(opened)) if len(opened) <= _MOST_MISSING else ""


def as_python(text: str) -> str:
    """Return code with the escapes that Python does not know written as it reads them, of which it warns."""
    return _ESCAPE.sub(_as_python_reads, text)


def _as_python_reads(escape: re.Match[str]) -> str:
    """Write an escape that Python does not know as Python reads it, which it warns of; filters are everybody's."""
    return escape[0] if escape[1] in _ESCAPES else f"\\{escape[0]}"
