"""What later turns use of a printed result: its lines and sentences that tell it, with their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from trajcompress.facts.parts import LEAST, Part, Wanted, parts_with
from trajcompress.facts.reading import mentions
from trajcompress.facts.taken import STRONG
from trajcompress.outcomes.asked import SAID_CHARS
from trajcompress.outcomes.printed.shown import bare, without_number
from trajcompress.outcomes.reports.errors import is_within, needless_frames
from trajcompress.outcomes.text import LEAST_CHARS, one_line, shorten

Placed: TypeAlias = tuple[int, str]
"""What is told of a text, with where it begins."""

_BEGUN_CHARS = 12  # by which a part is found that was cut short before


def parts_used(body: str, wanted: Wanted, said: str, most: int, needed: Sequence[str]) -> list[Placed]:
    """Return lines and sentences that later turns take from a result, and that are not said already, with places.

    What led to an error is told only where it holds what they need and nothing says.
    """
    missing = {word: weight for word, weight in wanted.items() if word not in said or not mentions(said, word)}
    room = most - len(said) - 2
    least = LEAST if most > SAID_CHARS or not needed else 2 * STRONG
    unsaid = [need for need in needed if need in missing]
    frames = needless_frames(body)
    found: dict[str, int] = {}
    for start, end in _lines_of_items(body, parts_with(body, missing, room, cost=3, least=least)):
        if is_within(start, frames) and not any(need in body[start:end] for need in unsaid):
            continue
        part = one_line(_shown(body[start:end], missing))
        numberless = without_number(part)
        if part and (numberless.rstrip(".") or part) not in said:
            found.setdefault(part, start)
    return [(start, part) for part, start in found.items()]


def _lines_of_items(body: str, parts: Iterable[Part]) -> Iterator[tuple[int, int]]:
    """Yield parts, but for the lines that name an item of a list each by itself."""
    for start, end in parts:
        first = body.find("\n", start, end) if body.startswith("- ", start) else -1
        yield from [(start, first), (first + 1, end)] if first >= 0 else [(start, end)]


def _shown(part: str, wanted: Wanted) -> str:
    """Return a part without addresses of links and what else says little, but for what later turns use."""
    short = bare(part)
    return part if short != part and any(word in part and word not in short for word in wanted) else short


def fitting(lined: Sequence[Placed], limit: int) -> list[Placed]:
    """Return the first of some lines that have room."""
    found = []
    for start, line in lined:
        if limit < LEAST_CHARS:
            break
        found.append((start, shorten(line, limit)))
        limit -= len(found[-1][1]) + 3
    return found


def not_begun(first: str, parts: Sequence[str]) -> str:
    """Return what is told first without what a part tells in full."""
    begun = first.rstrip("…")
    for part in parts:
        at = 0 if begun in part else begun.rfind(part[:_BEGUN_CHARS])
        if at == 0 or (at > 0 and begun != first and part.startswith(begun[at:])):
            return begun[:at].rstrip(" :;")
    return first


def is_told(piece: str, told: str) -> bool:
    """Tell whether a text has a piece of a result, or of an item of a list all values that it is named by."""
    return all(value in told for value in piece.strip("… ").split(", "))
