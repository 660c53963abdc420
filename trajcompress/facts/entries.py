r"""The entries of a text that lists several things, such as what a search found: which one a place belongs to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from trajcompress.processes.late_patterns import holds_any, late_re

_REMEMBERED = 32
_READ_CHARS = 200_000
_LINE, _ESCAPED_LINE = r"\n", r"\\n(?<!\\\\n)"  # each is found at once, both in one pattern are not
_ENTRY = (
    r"[ \t]{0,8}+(?=[*#=\d\[\-TtNnPQSRDFIi])(?P<line>(?:\*\*|#{1,6} )?"
    r"(?:(?P<number>\d{1,4})(?P<sign>[.)]) |\[(?P<bracket>\d{1,4})\]:? ?"
    r"|(?P<item>- \w{1,40}): ?|(?P<file>==>) "
    r"|(?P<key>Title|TITLE|title|Name|name|Paper|Question|Subject|Result|Document|File|ID|id) ?\d{0,4}(?:\*\*)?: ?)"
    r"(?=[^\s\\]))"
)
_ENTRIES = late_re(_LINE + _ENTRY), late_re(_ESCAPED_LINE + _ENTRY)
LEADS_ON = r" \| (?:https?://|[\w.-]{1,80} › )[^\n|]{1,500}"
"""The pattern of how the line of a hit ends: with the address that it leads to."""

_HIT_LINE = (
    r"[ \t]{0,8}(?P<line>[^\s\n|][^\n|]{0,200}(?:\|[^\n|]{1,200}){0,6}"
    rf"{LEADS_ON}(?=\n|\Z))"
)
_HIT_LINES = late_re(_LINE + _HIT_LINE), late_re(rf"(?:{_LINE}|{_ESCAPED_LINE}){_HIT_LINE}")
_HIT_HINTS = ("| http", " › ")
_FILE = "==>"  # before the name of each of several files, as head and tail write it
_LEAST_ENTRIES = 2


def entry_at(text: str, at: int) -> int | None:
    r"""Return where the line begins with which the entry begins that a place stands in; None where it is in none.

    Entries are numbered one after the other, or begin with the same key, or with a line that leads to an
    address. Where that line is the place's own there is none to name.

    >>> text = "1. Ann\nan engineer\n\n2. Bo\na chemist"
    >>> text[entry_at(text, text.index("chemist")) :][:5]
    '2. Bo'
    """
    starts = entries(text)
    place = bisect_right(starts, at) - 1
    return starts[place] if place >= 0 else None


def entries(text: str) -> Sequence[int]:
    """Return where the entries of a text begin; none where it lists nothing, or is huge."""
    return _entries(text) if len(text) <= _READ_CHARS else ()


@lru_cache(maxsize=_REMEMBERED)
def _entries(text: str) -> Sequence[int]:
    numbers: dict[str, list[tuple[int, int]]] = {}
    keys: dict[str, list[int]] = {}
    is_escaped, lines = "\\n" in text, f"\n{text}"  # a line break before each
    for entry in _found(lines, is_escaped=is_escaped):
        start = entry.start("line") - 1
        if key := entry["key"] or entry["item"] or entry["file"]:
            keys.setdefault(key, []).append(start)
        else:
            numbers.setdefault(entry["sign"] or "[", []).append((int(entry["number"] or entry["bracket"]), start))
    if len(files := keys.get(_FILE, [])) >= _LEAST_ENTRIES:  # whatever stands in them
        return files
    for found in numbers.values():
        starts = _in_sequence(found)
        if len(starts) >= _LEAST_ENTRIES:
            return starts
    may_lead = holds_any(text, _HIT_HINTS)
    hits = [hit.start("line") - 1 for hit in _HIT_LINES[is_escaped].finditer(lines)] if may_lead else []
    often = [starts for starts in (*keys.values(), hits) if len(starts) >= _LEAST_ENTRIES]
    return min(often, key=lambda starts: starts[0], default=())


def _found(lines: str, *, is_escaped: bool) -> Sequence[re.Match[str]]:
    """Return the lines with which entries may begin, in their order; none has another in it."""
    found = [match for pattern in _ENTRIES[: 1 + is_escaped] for match in pattern.finditer(lines)]
    return sorted(found, key=re.Match.start) if is_escaped else found


def _in_sequence(found: Sequence[tuple[int, int]]) -> list[int]:
    """Return where those begin that follow each other by their numbers."""
    starts: list[int] = []
    last = -1
    for number, start in found:
        if number == last + 1:
            starts.append(start)
        elif len(starts) < _LEAST_ENTRIES:  # one alone is no list
            starts = [start]
        else:
            continue
        last = number
    return starts
