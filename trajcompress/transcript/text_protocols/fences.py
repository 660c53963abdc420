"""Fenced code in a text."""

from __future__ import annotations

import re
from typing import NamedTuple

from trajcompress.processes.late_patterns import holds_any, late_re

_FENCE = late_re(r"^[ \t]{0,8}(?:```|~~~)[ \t]?([\w+#.-]{0,40})[^\n`]{0,80}$", re.MULTILINE)
_SIGNS = "```", "~~~"


class Fence(NamedTuple):
    """One block: its language, its code, and where it starts in the text."""

    language: str
    code: str
    start: int


def last_fence(text: str, *, anywhere: bool = False) -> Fence | None:
    """Return the fenced code that ends a text, or with ``anywhere`` the last one in it."""
    closed = [(opens, closes) for opens, closes in _blocks(text) if closes]
    if not closed:
        return None
    opens, closes = closed[-1]
    last = Fence(opens[1], text[opens.end() + 1 : closes.start()], opens.start())
    return last if last.code.strip() and (anywhere or not text[closes.end() :].strip()) else None


def fenced_spans(text: str) -> list[tuple[int, int]]:
    """Return where fenced blocks begin and end, with their fences; the last may have no end."""
    return [(opens.start(), closes.end() if closes else len(text)) for opens, closes in _blocks(text)]


def without_fenced(text: str) -> str:
    """Return a text without its fenced blocks."""
    edges = [0, *(edge for span in fenced_spans(text) for edge in span), len(text)]
    return "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))


def _blocks(text: str) -> list[tuple[re.Match[str], re.Match[str] | None]]:
    """Return the lines that open and close each block; one that names a language opens another, as none closes so."""
    found: list[tuple[re.Match[str], re.Match[str] | None]] = []
    for line in _FENCE.finditer(text) if holds_any(text, _SIGNS) else ():
        if found and found[-1][1] is None and not line[1]:
            found[-1] = found[-1][0], line
        else:
            found.append((line, None))
    return [each for place, each in enumerate(found) if each[1] or place == len(found) - 1]
