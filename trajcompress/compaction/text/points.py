"""Long lists of points in a text, as those of a way on a map: they go before words do."""

from __future__ import annotations

from trajcompress.compaction.text.middle import LEAST_CUT, cut_out
from trajcompress.facts.parts import Part, Wanted
from trajcompress.facts.reading import mentions
from trajcompress.processes.late_patterns import late_re

_STRIDE = 200  # at each so many characters a list is looked for that goes on there
_RUN = late_re(r"(?:[\[\]\s,.\d-]++|\\++[nrt])++")
_EXACT = late_re(r"\d\.\d{4}")
_APART = "],"
_LEAST_FIGURES = 30
_TAIL = 60  # characters of a list's end


def without_points(text: str, limit: int, keep: Wanted) -> str:
    """Cut long lists of points, which are lists of exact figures, out of a text, as far as it is over ``limit``.

    Lists that have what is to be kept stay, and of the others the beginning and the end.
    """
    if _APART not in text:
        return text
    gone: list[Part] = []
    at, excess = 0, len(text) - limit
    while excess > 0 and at + _STRIDE < len(text):
        run = _RUN.match(text, at)
        end = run.end() if run else at
        part = _amid(text, at, end, excess) if end - at > LEAST_CUT else None
        if part and not _has(text[part.start : part.end], keep):
            gone.append(part)
            excess -= part.end - part.start
        at = max(end, at + _STRIDE)
    return cut_out(text, gone) if gone else text


def _amid(text: str, start: int, end: int, excess: int) -> Part | None:
    """Return whole points amid a list, no more than are in excess; nothing where they are few, or no exact ones."""
    last = text.rfind(_APART, start, end - _TAIL) + len(_APART)
    first = text.find(_APART, max(start, last - excess - LEAST_CUT), last) + len(_APART)
    enough = last - first >= LEAST_CUT and len(_EXACT.findall(text, first, last)) >= _LEAST_FIGURES
    return Part(first, last) if first > start and enough else None


def _has(part: str, keep: Wanted) -> bool:
    return any(word in part and mentions(part, word) for word in keep)
