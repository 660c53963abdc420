"""Shrinking long strings in the arguments of tool calls."""

from __future__ import annotations

import json
import re
from typing import Any

from trajcompress.compaction.text.cut import is_json, write_string
from trajcompress.compaction.text.middle import cut_text
from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re

LONG_CHARS = 400
KEPT_CHARS = 300

_STRING = late_re(r'"(?:[^"\\]++|\\.)*+"(\s*+:)?', re.DOTALL)
_DEPTH = 40  # what lies deeper is left as it is


def shrink_arguments(value: Any) -> Any:
    """Cut long strings in an object, or in JSON text, which keeps every other character; other text stays."""
    if isinstance(value, str):
        return _shrink_json(value)
    return _shrink_value(value, 0)


def _shrink_json(text: str) -> str:
    if len(text) <= LONG_CHARS:
        return text
    try:
        parse_json(text)
    except ValueError:
        return text
    return _STRING.sub(_shrink_literal, text)


def _shrink_literal(match: re.Match[str]) -> str:
    literal = match[0]
    if match[1] or len(literal) <= LONG_CHARS:
        return literal
    value = json.loads(literal)
    shorter = _shrink_text(value)
    if shorter == value:
        return literal
    written = write_string(shorter, literal)
    return written if len(written) < len(literal) else literal


def _shrink_value(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _shrink_text(value)
    if depth > _DEPTH:
        return value
    if isinstance(value, dict):
        return {key: _shrink_value(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_shrink_value(item, depth + 1) for item in value]
    return value


def _shrink_text(text: str) -> str:
    if len(text) <= LONG_CHARS:
        return text
    return _shrink_json(text) if is_json(text) else cut_text(text, KEPT_CHARS)
