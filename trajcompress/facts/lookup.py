"""Which of many facts a text tells, found in one reading of it."""

from __future__ import annotations

from collections.abc import Sequence

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.facts.reading import MAX_TRIES, is_told, mentions

_FEW = 16  # facts that are as quickly looked up one by one
_LONG = 45_000  # characters that are worth an automaton which is slower to build, and quicker to search with
_WINDOW = 1 << 16  # characters searched at once: hostile text has a match at each, and each takes a hundred bytes


def facts_told(facts: Sequence[str], text: str) -> list[str]:
    """Return those of the facts that a text tells, as ``mentions(text, fact, is_told)`` does, in their order."""
    ends = _shortest_ends(facts) if len(facts) > _FEW else {}
    seen, told = _search(tuple(dict.fromkeys(ends.values())), text) if ends else (set(), set())
    for fact in facts:
        end = ends.get(fact)
        if end != fact and (end is None or end in seen) and mentions(text, fact, is_told):
            told.add(fact)
    return [fact for fact in facts if fact in told]


def _shortest_ends(facts: Sequence[str]) -> dict[str, str]:
    """Return the shortest fact that each ends with, mostly itself: of these one at most ends at each place of a text.

    What is not ASCII is left out.
    """
    ends: dict[str, str] = {}
    end = ""
    for backwards in sorted(fact[::-1] for fact in facts if fact.isascii()):
        fact = backwards[::-1]
        if not (end and fact.endswith(end)):  # what ends with it follows it
            end = fact
        ends[fact] = end
    return ends


def _search(facts: Sequence[str], text: str) -> tuple[set[str], set[str]]:
    """Return the facts that stand in a text, and those that it tells. No fact ends with another."""
    implementation = Implementation.DFA if len(text) > _LONG else Implementation.ContiguousNFA
    automaton = BytesAhoCorasick([fact.encode() for fact in facts], implementation=implementation)
    longest = max(map(len, facts))
    tries = [MAX_TRIES] * len(facts)
    told = set()
    for first in range(0, len(text), _WINDOW):
        # What is not ASCII is read as ``?``, so places in bytes are those in the text.
        window = text[first : first + _WINDOW + longest].encode("ascii", "replace")
        for index, start, end in automaton.find_matches_as_indexes(window, overlapping=True):
            # What begins after the window, the next one has too.
            if tries[index] and start < _WINDOW and text.startswith(facts[index], first + start):
                tries[index] -= 1
                if is_told(text, first + start, first + end):
                    told.add(facts[index])
                    tries[index] = 0
    return {fact for fact, left in zip(facts, tries, strict=True) if left < MAX_TRIES}, told
