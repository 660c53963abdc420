"""Results of the Model Context Protocol that stand as its own objects: the words of their parts."""

from __future__ import annotations

import ast
from typing import Any

from trajcompress.outcomes.compact import parse, parse_cut, without_half_escape
from trajcompress.processes.late_patterns import late_re

_BEGIN_CHARS, _MOST_CHARS = 200, 1_000_000
_WRAPPED = late_re(r"TextContent\(type='text', text=('|\")")
_PART = frozenset({"type", "text", "annotations", "meta", "_meta"})
_RESULT = frozenset({"content", "isError", "structuredContent", "meta", "_meta"})
_BEGINS = late_re(  # a part, several of them, or a result around these
    r"\s{0,8}(?:\{\s{0,8}(?:\"_?meta\"\s{0,4}:\s{0,4}null\s{0,4},\s{0,8})?\"content\"\s{0,4}:\s{0,8})?\[?\s{0,8}"
    r"\{\s{0,8}\"(?:type\"\s{0,4}:\s{0,4}\"text\"|text\"\s{0,4}:|annotations\"\s{0,4}:|_?meta\"\s{0,4}:)"
)
_UNREAD = frozenset({"image", "audio"})
_FLAG_CHARS = 200
_FLAGGED = late_re(  # the result itself, or one that it holds as its text
    r"isError=True\s{0,4}\Z"
    r"|\"isError\\{0,8}\"\s{0,4}:\s{0,4}true(?:\\{1,8}[nr]|[\s}]){0,20}['\"]"
    r", annotations=None\)\] isError=\w{4,5}\s{0,4}\Z"
)


def content_of(text: str) -> str:
    """Give the words of a result that is one of the protocol's, also of one that was cut off; else the text."""
    if "TextContent(" in text[:_BEGIN_CHARS] and (wrapped := _WRAPPED.search(text[:_BEGIN_CHARS])):
        end = text.rfind(wrapped[1] + ", annotations=")
        inside = _unquote(text[wrapped.end() : end if end > 0 else len(text)], wrapped[1])
        return _parts_inside(inside)
    if _BEGINS.match(text) is None or len(text) > _MOST_CHARS:
        return text
    words = _text_of(_parsed(text.strip()))
    return text if words is None else words


def is_flagged(text: str) -> bool:
    """Whether a result that is one of the protocol's says at its end that the call failed.

    >>> is_flagged("meta=None content=[TextContent(type='text', text='No such page', annotations=None)] isError=True")
    True
    """
    if "TextContent(" not in text[:_BEGIN_CHARS]:
        return False
    return _FLAGGED.search(text, max(len(text) - _FLAG_CHARS, 0)) is not None


def _parsed(text: str) -> Any:
    data = parse(text)
    return parse_cut(text) if isinstance(data, str) else data


def _text_of(data: Any) -> str | None:
    """Return the words of what has nothing but the protocol's fields, and did not fail; None of another."""
    if isinstance(data, dict) and "content" in data:
        data = data["content"] if data.keys() <= _RESULT and not data.get("isError") else None
    parts = [data] if isinstance(data, dict) else data
    if not isinstance(parts, list) or not all(map(_is_part, parts)):
        return None
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    is_text = part.get("type") == "text" and isinstance(part.get("text"), str)
    return (is_text and part.keys() <= _PART) or str(part.get("type")) in _UNREAD


def _unquote(text: str, quote: str) -> str:
    """Undo Python's quoting of a string, also of one that was cut off."""
    try:
        return str(ast.literal_eval(f"{quote}{without_half_escape(text.replace(chr(10), ' '))}{quote}"))
    except (ValueError, SyntaxError, MemoryError):
        return text.replace("\\n", "\n")


def _parts_inside(text: str) -> str:
    """Give the text parts of a result that another holds as its text, where it does."""
    data = _parsed(text) if text[:1] == "{" else None
    if not isinstance(data, dict) or not isinstance(parts := data.get("content"), list):
        return text
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part) or text
