"""What later turns need from the region: lines that hold it rank higher, and what no line holds gets one."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate

from trajcompress.facts import facts_kept
from trajcompress.facts.reading import mentions
from trajcompress.summarize.extractive.fit import NEEDED, Item
from trajcompress.summarize.extractive.text import clip, one_line
from trajcompress.transcript.trajectory import Turn

_BONUS = 2.0  # for the only line that holds a fact; shared where several do
_MAX_BONUS = 4.0
_BEFORE, _AFTER = 40, 30  # characters around a fact


def favour(items: list[Item], region: Sequence[Turn], facts: Sequence[str]) -> None:
    """Raise the score of items that hold facts, and add an item, with its surroundings, for each fact without one."""
    texts = [item.text for item in items]
    everything = "\n".join(texts)
    starts = [*accumulate((len(text) + 1 for text in texts), initial=0)]
    bonuses: list[list[float]] = [[] for _ in items]
    left = []
    for fact in facts:
        places = [place for place in _holding(fact, everything, starts) if mentions(texts[place], fact)]
        for place in places:
            bonuses[place].append(_BONUS / len(places))
        if not places:
            left.append(fact)
    for item, some in zip(items, bonuses, strict=True):
        item.score += min(sum(some), _MAX_BONUS)
    said = [clip(turn.text) for turn in region] if left else []
    while left:
        fact = left.pop(0)
        if found := _surroundings(fact, said):
            index, text = found
            items.append(Item(NEEDED, index, float(len(left)), text))
            there = facts_kept(left, text)
            left = [other for other in left if other not in there]


def _holding(fact: str, everything: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield the places of the lines that hold a fact; ``starts`` says where each begins in ``everything``."""
    at = everything.find(fact)
    while at >= 0:
        place = bisect(starts, at)
        yield place - 1
        at = everything.find(fact, starts[place])


def _surroundings(fact: str, said: Sequence[str]) -> tuple[int, str] | None:
    """Return the turn that mentions a fact last, and the words around it on the same line."""
    for index in range(len(said) - 1, -1, -1):
        text = said[index]
        at = text.rfind(fact)
        if at < 0:
            continue
        end = at + len(fact)
        before = text[max(at - _BEFORE, text.rfind("\n", 0, at) + 1) : at]
        after = text[end : end + _AFTER].partition("\n")[0]
        if len(before) == _BEFORE:
            before = "…" + before.partition(" ")[2]
        if len(after) == _AFTER:
            after = after.rpartition(" ")[0] + "…"
        if facts_kept((fact,), line := one_line(f"{before}{fact}{after}")):
            return index, line
    return None
