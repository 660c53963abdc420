"""What harnesses write below result after result: how to go on, what to mind. The last time is enough."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import takewhile
from typing import TypeVar

from trajcompress.compaction.text.middle import LEAST_CUT
from trajcompress.transcript.notes import notes_at
from trajcompress.transcript.summary_marks import elided

Place = TypeVar("Place", bound=Hashable)

_LEAST_TIMES = 3
_MOSTLY = 0.75  # of the results: what fewer end with may be what came of them
_READ_CHARS = 4_000
"""A longer one is cut in part."""


def constant_tails(results: Iterable[tuple[Place, str]]) -> dict[Place, int]:
    """Return how many characters at the end of results are told again by a later one, in whole lines.

    Where most of them end with the same lines, of some length, or three with the same note between tags, all but the
    last of these lose them.

    Args:
        results: each with its place, in order.
    """
    ends: dict[str, list[tuple[Place, str]]] = {}
    for place, text in results:
        ends.setdefault(text[-_READ_CHARS:].rpartition("\n")[2], []).append((place, text))
    number = sum(map(len, ends.values()))
    found: dict[Place, int] = {}
    for alike in ends.values():
        size = _shared([text for _, text in alike]) if len(alike) >= _LEAST_TIMES else 0
        own = [(place, text) for place, text in alike if len(text.strip()) > size]
        is_note = all(notes_at(text) <= len(text) - size for _, text in own)
        if size >= LEAST_CUT and len(own) >= _LEAST_TIMES and (is_note or len(own) >= _MOSTLY * number):
            found |= {place: size for place, _ in own[:-1]}
    return found


def _shared(texts: Sequence[str]) -> int:
    """Return how many characters of whole lines all of some texts end with."""
    ends = [text[-_READ_CHARS:].split("\n")[::-1] for text in texts]
    whole = [lines[:-1] if len(text) > _READ_CHARS else lines for lines, text in zip(ends, texts, strict=True)]
    shared = [lines[0] for lines in takewhile(lambda lines: len(set(lines)) == 1, zip(*whole, strict=False))]
    return len("\n".join(shared).rstrip("\n"))  # upside down


def without_tail(text: str, size: int) -> str:
    """Put a mark in the place of so many characters at the end of a text."""
    return f"{text[:-size]}{elided(size)}" if size else text
