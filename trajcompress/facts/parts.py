"""Which parts of a text tell what is wanted: whole lines and sentences, as half of one may say something else."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from trajcompress.facts.entries import entry_at
from trajcompress.facts.reading import mentions, readable
from trajcompress.facts.scripts import UNSPACED
from trajcompress.processes.late_patterns import Signs, last_match, late_re
from trajcompress.transcript.line_numbers import NUMBER, is_line_number

Wanted: TypeAlias = Mapping[str, float]
"""Words and phrases, and how much each tells of where it stands."""

LEAST = 2.0
"""A part whose words tell less is none that was taken up."""

_MOST_PLACES = 4  # a word that stands in more parts tells of none
_MOST_PARTS = 100
_REMEMBERED = 32
_PART_CHARS = 400  # a longer one is no sentence
_NEAR_CHARS = 160  # of such a one
_REACH = 60  # behind a place
_COST = 60  # characters: many short parts read worse than a few longer ones
_BREAK = late_re(  # one set of characters first, as that is searched for quickly
    r"[\n\\.!?。！？](?:(?<=[\n。！？])|(?<=\\)\\*n|(?<=[.!?])[\"')\]]{0,2}\s+(?=[^\W_a-z]|[\"'(\[*#-]))"
)
_DEFINERS = Signs("def ", "class ", "function ", "func ", "fn ", "interface ", "struct ", "trait ", "enum ")
_NAME = late_re(r"[^\W\d]\w*+")
_INDENTED = late_re(rf"\n([ \t]*+{NUMBER})?+[ \t]*+(?=[^\s\\])")  # maybe behind the number of the line
_HEAD_WITHIN, _HEAD_CHARS = 2_000, 100
_ITEM, _LINE_ENDS = "- ", ("\n", "\\n")
_IN_PATH = late_re(r"\b[A-Za-z]:(?:\\{1,2}[^\\/:*?\"<>|\s]{1,80}){1,12}\\{1,2}\Z")
_PATH_CHARS = 300
_NUMBER_CHARS = 12  # of a line, with what stands behind it
_NEGATES = late_re(
    r"\b(?:not?|never|none|neither|nor|without|cannot|except|unless|but|instead|fail\w*|false)\b|n['’]t\b|[不没沒無未]|ない|않",
    re.IGNORECASE,
)
_BEGINS = late_re(r"(?:\A|\n|\\n|[^\w\s])[\"')\]\s*-]*\Z")
_CLAUSE = late_re(r"[,;|](?=[\s\"'])|[{}\[\]]|\s{2,}|\t")


class Part(NamedTuple):
    """Where a part begins and ends."""

    start: int
    end: int


def parts_with(text: str, wanted: Wanted, room: int, *, cost: int = _COST, least: float = LEAST) -> Sequence[Part]:
    """Return the parts of a text that tell most of what is wanted, in their order.

    Args:
        text: a result.
        wanted: what later turns take from it.
        room: characters for all parts, each at ``cost`` besides.
        cost: characters that a part takes besides its own.
        least: what a part must tell.
    """
    return _parts_with(text, tuple(wanted.items()), room, cost, least)


@lru_cache(maxsize=_REMEMBERED)  # a text is cut again and again, until its row fits
def _parts_with(
    text: str, wanted: tuple[tuple[str, float], ...], room: int, cost: int, least: float
) -> Sequence[Part]:
    telling = {part: dict(words) for part, words in _told(text, wanted)}
    told = {part: words for part, words in telling.items() if sum(words.values()) >= least}
    worth = {part: _worth(part, words) for part, words in told.items()}
    chosen: dict[Part, None] = {}
    while worth and room > cost:
        part = max(worth, key=worth.__getitem__)
        words = told.pop(part)
        del worth[part]
        if sum(words.values()) < least or (new := _with_head(text, part, chosen, room, cost)) is None:
            continue
        chosen.update(dict.fromkeys(new))
        room -= _taken(new, cost)
        _leave_out(told, worth, part, set(words))
    apart: list[Part] = []  # none stands within one that was chosen after it
    for part in sorted(chosen, key=lambda each: (each.start, -each.end)):
        if not apart or part.end > apart[-1].end:
            apart.append(part)
    return apart


def _with_head(text: str, part: Part, chosen: Collection[Part], room: int, cost: int) -> Sequence[Part] | None:
    """Return a part with its head, where they are not chosen yet; None where there is no room for both."""
    if part not in chosen and _taken([part], cost) > room:
        return None
    new = [each for each in (_head_of(text, part), part) if each and each not in chosen]
    return new if _taken(new, cost) <= room else None


def _worth(part: Part, words: Wanted) -> tuple[float, int]:
    """Return by what parts are chosen: how much each tells in its room, and of equal ones how early it stands."""
    return sum(words.values()) / (_size(part) + _COST), -part.start


def _leave_out(
    told: dict[Part, dict[str, float]], worth: dict[Part, tuple[float, int]], part: Part, said: set[str]
) -> None:
    """Leave out the parts that stand in one, and of others the words that it says."""
    for inner in [each for each in told if part.start <= each.start and each.end <= part.end]:
        said |= told.pop(inner).keys()
        del worth[inner]
    for other, words in told.items():
        if again := said & words.keys():
            for word in again:
                del words[word]
            worth[other] = _worth(other, words)


def _taken(parts: Sequence[Part], cost: int) -> int:
    return sum(_size(part) + cost for part in parts)


def best_parts(text: str, wanted: Wanted, most: int) -> Sequence[Part]:
    """Return the few parts of a text that tell most of what is wanted, in their order.

    A name or a figure tells of where it stands though others have it, too; a word that many parts have tells of none.
    """
    told: dict[Part, float] = {}
    named: set[Part] = set()
    defined = defined_in(text)
    for word in [word for word in wanted if word in text]:
        parts, count = _parts_of(text, word, defined)
        for part in parts if len(parts) == count else ():
            told[part] = told.get(part, 0.0) + wanted[word] / count
            if wanted[word] >= LEAST:
                named.add(part)
    telling = (part for part, weight in told.items() if weight >= LEAST or part in named)
    return sorted(sorted(telling, key=lambda part: (-told[part], part))[:most])


def told_of(wanted: Wanted, text: str) -> float:
    """Return how much of what is wanted a text tells."""
    text = readable(text)
    return sum(weight for word, weight in wanted.items() if mentions(text, word))


def _head_of(text: str, part: Part) -> Part | None:
    """Return the line that a part belongs to: of a record and of an entry of a list the first, which names it."""
    entry = first_of_entry(text, part)
    return entry if entry and text.startswith(_ITEM, entry.start) else _outer_line(text, part) or entry


def first_of_entry(text: str, part: Part) -> Part | None:
    """Return the first line of the entry of a list that a part stands in; None where that is its own."""
    start = entry_at(text, part.start)
    if start is None or (part.start - start > _HEAD_WITHIN and not text.startswith(_ITEM, start)):
        return None
    ends = [end for end in (text.find(mark, start, part.start) for mark in _LINE_ENDS) if end >= 0]
    if not ends:  # it stands in that line
        return None
    end = min(ends)
    if text.startswith(_ITEM, start):  # of YAML, whose first two values name it
        second = min((at for at in (text.find(mark, end + 2) for mark in _LINE_ENDS) if at >= 0), default=len(text))
        end = second if second - start <= _HEAD_CHARS and second <= part.start else end
    return Part(start, end if end - start <= _HEAD_CHARS else max(text.rfind(" ", start, start + _HEAD_CHARS), start))


def _outer_line(text: str, part: Part) -> Part | None:
    """Return the line that an indented one stands in, as of code."""
    lowest = max(part.start - _HEAD_WITHIN, 0)
    before = (text[lowest : part.start] + text[part.start : part.start + _NUMBER_CHARS].partition("\n")[0]).replace(
        "\\n", "\\\n"
    )  # line ends also as in JSON
    if not lowest:
        before, lowest = f"\n{before}", -1
    newline, own = len(before), None
    while own is None and (newline := before.rfind("\n", 0, newline)) >= 0:
        own = _INDENTED.match(before, newline)
    if own is None or not (depth := own.end() - (own.end(1) if own[1] else own.start() + 1)):
        return None
    outer = last_match(_indented_less(depth, numbered=own[1] is not None), before, 0, newline)
    if outer is None:
        return None
    head = part_at(text, lowest + outer.end(), lowest + outer.end() + 1)
    return head if _size(head) <= _HEAD_CHARS and head.end <= part.start else None


@lru_cache(maxsize=_REMEMBERED)
def _indented_less(depth: int, *, numbered: bool) -> re.Pattern[str]:
    number = rf"[ \t]*+{NUMBER}" if numbered else ""
    return re.compile(rf"\n{number}[ \t]{{0,{depth - 1}}}+(?=[^\s\\])")


def part_at(text: str, start: int, end: int) -> Part:
    """Return the line or the sentence around a place; where that is too long, clauses near it."""
    first, last = _bounds(text, start, end, _BREAK, _PART_CHARS)
    if last - first > _PART_CHARS:
        first, last = _bounds(text, start, end, _CLAUSE, _NEAR_CHARS)
    while first < start and (text[first].isspace() or text[first] == ","):
        first += 1
    return Part(first, last)


def words_at(text: str, start: int, end: int) -> str:
    """Return a place with its sentence or line from where that begins, so that no negation and no subject is lost.

    What stands far behind the place is left out, but for what takes it back.
    """
    part = part_at(text, start, end)
    before = "" if _BEGINS.search(text, max(part.start - _NEAR_CHARS, 0), part.start) else "…"
    behind = text.rfind(" ", end, end + _REACH)
    if part.end - end <= _REACH or behind < 0 or _NEGATES.search(text, behind, part.end):
        return f"{before}{text[part.start : part.end]}"
    return f"{before}{text[part.start : behind]}…"


def _bounds(text: str, start: int, end: int, mark: re.Pattern[str], reach: int) -> tuple[int, int]:
    lowest = max(start - reach, text.rfind("\n", max(start - reach, 0), start) + 1, 0)
    first = lowest
    for found in mark.finditer(text, lowest, start):
        first = first if _is_in_path(text, found) else found.end()
    if first == lowest > 0 and text[first - 1] != "\n":  # none near it: not within a word
        first = text.find(" ", lowest, start) + 1 or lowest
    ends = (found for found in mark.finditer(text, end, end + reach) if not _is_in_path(text, found))
    if (behind := next(ends, None)) is not None:
        return first, behind.start() + (text[behind.start()] in ".!?。！？")
    last = min(end + reach, len(text))
    return first, last if last == len(text) else max(text.rfind(" ", end, last), end)


def _is_in_path(text: str, mark: re.Match[str]) -> bool:
    r"""Whether what looks like the end of a line in JSON is in a path of Windows, as in C:\\work\\notes."""
    if text[mark.start()] != "\\":
        return False
    return _IN_PATH.search(text, max(mark.start() - _PATH_CHARS, 0), mark.start() + 1) is not None


def _size(part: Part) -> int:
    return part.end - part.start


@lru_cache(maxsize=_REMEMBERED)
def _told(text: str, wanted: tuple[tuple[str, float], ...]) -> Sequence[tuple[Part, Mapping[str, float]]]:
    """Return the parts of a text that have wanted words, those that tell most first, and how much each word tells."""
    told: dict[Part, dict[str, float]] = {}
    defined = defined_in(text)
    for word, weight in wanted:
        parts, count = _parts_of(text, word, defined)
        for part in parts:
            told.setdefault(part, {})[word] = weight / count
    return sorted(told.items(), key=lambda each: -sum(each[1].values()))[:_MOST_PARTS]


@lru_cache(maxsize=_REMEMBERED)
def defined_in(text: str) -> Mapping[str, int]:
    """Return the names that a text defines, each with where it stands there first."""
    found: dict[str, tuple[int, int]] = {}  # the first of these tells most
    for definer, end in _DEFINERS.ends_in(text):
        if name := _NAME.match(text, end):
            found[name[0]] = min(found.get(name[0], (definer, end)), (definer, end))
    return {name: start for name, (_, start) in found.items()}


def _parts_of(text: str, word: str, defined: Mapping[str, int]) -> tuple[list[Part], int]:
    """Return the parts in which a word stands on its own, and how many; only the first where there are many.

    Of a name that is ``defined`` there that is where it is. A figure stands behind the number of a line: that says
    nothing of what is there.
    """
    if (start := defined.get(word)) is not None:
        return [part_at(text, start, start + len(word))], 1
    parts: list[Part] = []
    at, figure = text.find(word), word.isdecimal()
    while at >= 0:
        end = at + len(word)
        if _stands_alone(text, at, end) and not (figure and is_line_number(text, at, end)):
            part = part_at(text, at, end)
            parts.append(part)
            if len(parts) > _MOST_PLACES:
                return parts[:1], 2
            end = max(part.end, end)
        at = text.find(word, end)
    return parts, len(parts)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no longer word or figure goes on around a place."""
    return not (_joins(text[start - 1 : start], text[start]) or _joins(text[end : end + 1], text[end - 1]))


def _joins(beside: str, edge: str) -> bool:
    return edge < UNSPACED and (beside.isalnum() or beside == "_") and (edge.isalnum() or edge == "_")
