"""Records that a result dumps on one long line: which of them name what is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from math import fsum

from trajcompress.facts.parts import RECORDS_APART, Wanted, is_record
from trajcompress.processes.late_patterns import late_re

_LONG_LINE = 400  # characters
_LEAST_RECORDS = 4
_MOST_RECORDS = 5_000  # that are read
_NAMED_CHARS = 2_000
_RECORD_CHARS = 1_000  # in a longer one nothing is looked up
_ASKED_CHARS = 3_000
_VALUE = late_re(r"'([^'\n]{3,60})'|\"([^\"\n]{3,60})\"")
_WORD = late_re(r"[A-Z][a-z]{3,30}|[a-z]{4,30}|[A-Z]{4,30}|\d{3,12}")
_FEW = 12  # a word that more of them have, or half of all, tells none from others


def named_records(text: str, asked: Iterable[str], weight: float, *, action: str = "") -> Wanted:
    """Return the records of long lines that have words of what is asked for in quoted values.

    Args:
        text: a result.
        asked: texts that ask for something: the request, and what the agent says next.
        weight: how much each such word tells.
        action: what the text came of; words of that are none by which its records differ.
    """
    if len(text) <= _LONG_LINE:
        return {}
    lines = (line for line in text.splitlines() if len(line) > _LONG_LINE)
    records = list(islice(chain.from_iterable(map(_records, lines)), _MOST_RECORDS))
    if len(records) < _LEAST_RECORDS:
        return {}
    wanted = {word for said in asked for word in _words(said[:_ASKED_CHARS])} - _words(action[:_ASKED_CHARS])
    asks: dict[str, set[str]] = {}  # which of these each value has
    named: dict[str, set[str]] = {}
    for record in records:
        for single, double in _VALUE.findall(record):
            value = single or double
            if (asked_of := asks.get(value)) is None:
                said = _words(value)
                asked_of = asks[value] = said & wanted if 2 * len(said & wanted) > len(said) else set()
            if asked_of:
                named.setdefault(record, set()).update(asked_of)
    most = min(len(records) // 2, _FEW)
    common = Counter(word for words in named.values() for word in words)
    rare = {word: 1 / count for word, count in common.items() if count <= most}
    told = {record: words & rare.keys() for record, words in named.items() if not words.isdisjoint(rare)}
    found: dict[str, float] = {}
    room = _NAMED_CHARS
    for record in sorted(told, key=lambda record: -fsum(map(rare.__getitem__, told[record]))):
        if not is_record(record, 0, len(record)):
            continue
        room -= len(record)
        if room < 0:
            break
        found[record] = weight * len(told[record])
    return found


def _records(line: str) -> Iterator[str]:
    start = 0
    for apart in RECORDS_APART.finditer(line):
        if apart.start() - start < _RECORD_CHARS:
            yield line[start : apart.start() + 1]
        start = apart.end()


def _words(text: str) -> set[str]:
    """Return the words of a text, and of the names in it, as the singular of each is written."""
    return {_singular(word.lower()) for word in _WORD.findall(text)}


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
