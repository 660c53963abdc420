"""Lines of a result whose words the next turns bring in: they tell the most of what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from trajcompress.facts.next_turns import Later
from trajcompress.facts.parts import LEAST
from trajcompress.facts.taken import STRONG

_MOST_PLACES = 4  # a word that stands in more lines tells of none
_MOST_TAKEN = 6
_LINE_CHARS = 160  # a longer line tells several things
_CODE_SIGNS = frozenset("()=[]{}:;<>")
_IN_PROSE = 0.4


class Used(NamedTuple):
    """A line of a result that later turns use: where it begins, the whole of it, and the ``part`` that says so."""

    start: int
    line: str
    part: str


def lines_used(body: str, later: Later, most: int, *, code: bool = False) -> list[Used]:
    """Return the lines of a text that later turns take most from, in their order.

    Args:
        body: a result.
        later: the words that they bring in.
        most: how many lines to return at most.
        code: whether it is a file that is shown: then lines of code go before those of prose.
    """
    found: dict[int, list[tuple[int, float]]] = {}  # where lines begin: where words of them stand, and their weights
    named: set[int] = set()  # lines that have a name or a figure, though others have it, too
    for word in [word for word in later if word in body]:  # most are not
        places = _places(body, word)
        if len(places) <= _MOST_PLACES:
            for start, at in places:
                found.setdefault(start, []).append((at, later[word] / len(places)))
            if later[word] >= STRONG:
                named.update(start for start, _ in places)
    ranked: list[tuple[float, int, str]] = []
    for start, words in found.items():
        score = sum(weight for _, weight in words)
        if score >= LEAST or start in named:
            line = body[start : end if (end := body.find("\n", start)) >= 0 else None]
            ranked.append((score * (_IN_PROSE if code and _CODE_SIGNS.isdisjoint(line) else 1.0), start, line))
    best = sorted(sorted(ranked, key=lambda each: (-each[0], each[1]))[:most], key=lambda each: each[1])
    return [
        Used(start, line, _sentence(line, [(at - start, weight) for at, weight in found[start]]))
        for _, start, line in best
    ]


def words_taken(body: str, later: Later) -> list[str]:
    """Return the names and figures that later turns bring in, and that stand in few places of a text."""
    telling = (word for word, weight in later.items() if weight >= STRONG and word in body)
    return list(islice((word for word in telling if body.count(word) <= _MOST_PLACES), _MOST_TAKEN))


def _places(body: str, word: str) -> list[tuple[int, int]]:
    """Return where the lines begin in which a word stands, and where it does, up to one more than tell of it."""
    places: list[tuple[int, int]] = []
    at = body.find(word)
    while at >= 0 and len(places) <= _MOST_PLACES:
        end = at + len(word)
        if not (_is_word(body[at - 1 : at]) or _is_word(body[end : end + 1])):
            start = body.rfind("\n", 0, at) + 1
            if not places or places[-1][0] != start:
                places.append((start, at))
        at = body.find(word, end)
    return places


def _sentence(line: str, words: Sequence[tuple[int, float]]) -> str:
    """Return a line; of a long one the sentence that has most of the words."""
    if len(line) <= _LINE_CHARS:
        return line
    scores: dict[int, float] = {}
    for at, weight in words:
        start = max(line.rfind(". ", 0, at) + 2, 1)
        clause = line.rfind("; ", start, at)
        if clause >= 0 and line.count("(", start, clause) <= line.count(")", start, clause):
            start = clause + 2
        scores[start] = scores.get(start, 0.0) + weight
    start = max(scores, key=lambda each: (scores[each], -each))
    return line if start == 1 else line[start:]


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
