"""Which of many facts a text tells, found in one reading of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ahocorasick_rs import BytesAhoCorasick

from trajcompress.facts.reading import MAX_TRIES, is_told, mentions

_FEW = 16  # facts that are as quickly looked up one by one
_WINDOW = 1 << 16  # characters searched at once: hostile text has a match at each, and each takes a hundred bytes


def facts_told(facts: Sequence[str], text: str) -> list[str]:
    """Return those of the facts that a text tells, as ``mentions(text, fact, is_told)`` does, in their order."""
    at_once = _searchable(facts) if len(facts) > _FEW else []
    told = {fact for fact in set(facts).difference(at_once) if mentions(text, fact, is_told)}
    tries = dict.fromkeys(at_once, MAX_TRIES)
    for fact, start in _places(at_once, text) if at_once else ():
        if tries[fact] and text.startswith(fact, start):
            tries[fact] -= 1
            if is_told(text, start, start + len(fact)):
                told.add(fact)
                tries[fact] = 0
    return [fact for fact in facts if fact in told]


def _searchable(facts: Sequence[str]) -> list[str]:
    """Leave out facts that end with another: then one at most ends at each place of a text, whatever it says."""
    ends = tuple(facts)
    return [fact for fact in facts if fact.isascii() and not fact[1:].endswith(ends)]


def _places(facts: Sequence[str], text: str) -> Iterator[tuple[str, int]]:
    """Yield where facts may stand: what is not ASCII is read as ``?``, so places in bytes are those in the text."""
    automaton = BytesAhoCorasick([fact.encode() for fact in facts])
    longest = max(map(len, facts))
    for first in range(0, len(text), _WINDOW):
        window = text[first : first + _WINDOW + longest].encode("ascii", "replace")
        for index, start, _ in automaton.find_matches_as_indexes(window, overlapping=True):
            if start < _WINDOW:  # else the next window has it too
                yield facts[index], first + start
