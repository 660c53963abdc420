"""Items of a YAML list, such as tools that a search found: those that are taken up, with what they have a list of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.printed.shown import GOES_BETWEEN
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

_LISTED_CHARS, _FORM_CHARS, _FEW_CHARS = 200, 80, 60
_ITEM = late_re(r"^([ \t]*)- (\w{1,40}): (\S[^\n]{0,80})\n\1  (\w{1,40}): (\S[^\n]{0,80})$", re.MULTILINE)
_INNER = late_re(r"^([ \t]{0,80})(\w{1,40}):[ \t]{0,8}\n(\1[ \t]{1,8})(?=\w{1,40}:)", re.MULTILINE)
_FORM = late_re(r"[^{}\[]{0,300}(\[?\s{0,16}\{[^{}]{1,200}\}\s{0,16}\]?)")
_PASSED = late_re(r"(?<![\w.])(\w{1,40})[\"'\\]{0,4}(?::\s?|=)\\{0,4}[\"']{1,2}([\w-]{1,24})\\{0,4}[\"']")
_CHOICE = late_re(r"(\benum: ?(?:\[[^\]\n]{1,200}\]|(?:\s{1,16}- [\w-]{1,24}$){1,20}))", re.MULTILINE)
_LEAST_ITEMS, _LEAST_VALUES, _MOST_VALUES = 2, 2, 6


def items_of(body: str, later: Later) -> list[str]:
    """Return the first two values of each item of a YAML list, which name it; first where most of these is taken up.

    Of those that are taken up also what else they have a list of, as tools have parameters: of other tools of
    the same server where these are few.
    """
    found = list(_ITEM.finditer(body))
    if len(found) < _LEAST_ITEMS or len({item.group(2, 4) for item in found}) > 1:
        return []
    ends = [*(item.start() for item in found[1:]), len(body)]
    blocks = {(item[3], item[5]): body[item.end() : end] for item, end in zip(found, ends, strict=True)}
    times = Counter(value for values in blocks for value in values)
    taken = {values: _taken(values, times, later) for values in blocks}
    most = max(taken.values())
    said: list[str] = []
    for values in sorted(blocks, key=lambda values: -taken[values]):
        is_taken = taken[values] >= 1 or (0 < taken[values] == most and not said)
        below = _listed_below(blocks[values]) if taken[values] else ""
        below = below if is_taken or len(below) <= _FEW_CHARS else ""
        named = map(": ".join, zip(found[0].group(2, 4), values, strict=True)) if below or not said else values
        said.append(f"{', '.join(named)}{below}")
    return said


def _taken(values: tuple[str, str], times: Mapping[str, int], later: Later) -> float:
    """Return how much of what names an item is taken up: one of two says nothing where others have it, too."""
    taken = [value for value in values if value in later]
    return sum(1.0 if times[value] == 1 else 1 / len(values) for value in taken)


def _listed_below(block: str) -> str:
    """Name what an item of a YAML list has a list of: of each how it is written, or which values it may have."""
    inner = _INNER.search(block)
    if inner is None:
        return ""
    passed: dict[str, dict[str, None]] = {}
    for example in _PASSED.finditer(block):
        passed.setdefault(example[1], {})[example[2]] = None
    named = [f"{key}{_form(about, passed.get(key, ()))}" for key, about in _entries(block, inner)]
    return f"{GOES_BETWEEN}{inner[2]}: {shorten(', '.join(named), _LISTED_CHARS)}"


def _entries(block: str, inner: re.Match[str]) -> Iterator[tuple[str, str]]:
    """Yield the keys of a list, and what stands behind each."""
    for entry in re.split(rf"\n{inner[3]}(?=\S)", f"\n{block[inner.start(3) :]}")[1:]:
        key, colon, about = entry.partition(":")
        if colon and key.isidentifier():
            yield key, about


def _form(about: str, passed: Collection[str]) -> str:
    """Return how a parameter is written as its description shows it, else the few values that it may have."""
    if form := _FORM.match(about) or _CHOICE.search(about):
        shown = one_line(form[1]).replace("''", "'")
        return f"{GOES_BETWEEN}{shown}" if len(shown) <= _FORM_CHARS and ":" in shown else ""
    return f": {GOES_BETWEEN.join(passed)}" if _LEAST_VALUES <= len(passed) <= _MOST_VALUES else ""
