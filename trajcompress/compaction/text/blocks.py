"""Blocks of a text between two fences, or a tag and its end: of one that is cut both ends stay, or none. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from trajcompress.facts.parts import Part
from trajcompress.processes.late_patterns import late_re

_ENDS = late_re(
    r"(?:\A|(?<=\n))[ \t]{0,8}(?:(`{3,9}|~{3,9})[^\n`]{0,80}|<(/?)([a-zA-Z][\w-]{0,40})>)[ \t]{0,9}(?=\r?\n|\Z)"
)
_SIGNS = "```", "~~~", "\n</"
_MOST = 200  # blocks of a text


def with_both_ends(text: str, stretches: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return stretches of a text with the first or last line of each block of which they hold the other one."""
    added = []
    for ends in _blocks(text):
        held = [any(start <= end.start and end.end <= last for start, last in stretches) for end in ends]
        added += [end for end, is_held in zip(ends, held, strict=True) if not is_held and any(held)]
    return sorted([*stretches, *added]) if added else stretches


@lru_cache(maxsize=32)  # a text is cut again and again, until its row fits
def _blocks(text: str) -> Sequence[tuple[Part, Part]]:
    """Return the first and the last line of each block, outside others of its kind."""
    if not any(sign in text for sign in _SIGNS):
        return ()
    found: list[tuple[Part, Part]] = []
    fence: tuple[str, Part] | None = None
    tags: dict[str, Part] = {}
    for end in _ENDS.finditer(text):
        line = Part(*end.span())
        if end[1] and fence is None:
            fence = end[1], line
        elif end[1] and fence and end[1].startswith(fence[0]) and end[0].strip() == end[1]:
            found.append((fence[1], line))
            fence = None
        elif end[3] and not end[2]:
            tags.setdefault(end[3], line)
        elif end[3] and end[3] in tags:
            found.append((tags.pop(end[3]), line))
        if len(found) >= _MOST:
            break
    return found
