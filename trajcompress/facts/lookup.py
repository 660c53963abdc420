"""Which of many facts a text tells, found in one reading of it."""

from __future__ import annotations

from collections.abc import Sequence

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.facts.reading import MAX_TRIES, is_told, mentions

_FEW = 16  # facts that are as quickly looked up one by one
_START = 6  # characters of a fact that are searched for: an automaton of whole facts takes as long to build as to use
_LONG = 20_000  # characters that are worth an automaton which is slower to build, and quicker to search with
_WINDOW = 1 << 15  # characters searched at once: hostile text has matches at each, and each takes a hundred bytes


def facts_told(facts: Sequence[str], text: str) -> list[str]:
    """Return those of the facts that a text tells, as ``mentions(text, fact, is_told)`` does, in their order."""
    if len(facts) <= _FEW:
        return [fact for fact in facts if mentions(text, fact, is_told)]
    starts: dict[str, list[str]] = {}
    for fact in facts:
        starts.setdefault(fact[:_START], []).append(fact)
    alone = [fact for start in starts if not start.isascii() for fact in starts[start]]
    told = _search({start: begun for start, begun in starts.items() if start.isascii()}, text)
    told.update(fact for fact in alone if mentions(text, fact, is_told))
    return [fact for fact in facts if fact in told]


def _search(starts: dict[str, list[str]], text: str) -> set[str]:
    """Return the facts that a text tells; ``starts`` holds them by what they start with. Takes them out of it."""
    implementation = Implementation.DFA if len(text) > _LONG else Implementation.ContiguousNFA
    automaton = BytesAhoCorasick([start.encode() for start in starts], implementation=implementation)
    waiting = list(starts.values())
    tries = [MAX_TRIES] * len(waiting)
    told: set[str] = set()
    whole = memoryview(text.encode("ascii", "replace"))  # ``?`` for what is not ASCII: places are those in the text
    for first in range(0, len(text), _WINDOW):
        window = whole[first : first + _WINDOW + _START]
        for index, start, _ in automaton.find_matches_as_indexes(window, overlapping=True):
            if not tries[index] or start >= _WINDOW:  # the next window has it too
                continue
            tries[index] -= 1
            at = first + start
            for fact in waiting[index]:
                if text.startswith(fact, at) and is_told(text, at, at + len(fact)):
                    told.add(fact)
                    waiting[index] = [other for other in waiting[index] if other != fact]
            if not waiting[index]:
                tries[index] = 0
    # What starts as much else does is looked up alone.
    unsure = [fact for left, begun in zip(tries, waiting, strict=True) if not left for fact in begun]
    return told.union(fact for fact in unsure if mentions(text, fact, is_told))
