"""The words that facts stand in, in short: with the key or the words before each, and what names the record. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trajcompress.facts.json_words import NAMING
from trajcompress.facts.reading import mentions
from trajcompress.facts.telling import words_around
from trajcompress.processes.late_patterns import late_re

_NAMED_CHARS = 400
_SHORT_LINE = 56
_KEY = late_re(r"""(?:^|[\s,;|{(])(["']?\w[\w .-]{0,30}["']?\s?[:=]\s?(["'$]?))$""")
_KEY_CHARS = 40
_NAMED = late_re(r"\W{0,4}(([\w.-]{1,30})\s?[:=] ?[^\s|,;][^|,;\t]{0,59}?)(?=\s?[|,;\t])")
_GAP, _GAP_CHARS = " … ", 8
_QUOTED_CHARS = 60
_REST = late_re(r"[\w.-]{0,60}\w")


def in_brief(told: Mapping[str, str]) -> dict[str, str]:
    """Return the words that facts stand in in short: those of one line together, behind what names a record.

    Args:
        told: each fact with the words that it stands in.

    >>> line = "ID: V0TU | Desc: Ora King Salmon with herbs | Tags: fish | Size: 4000 on each of its sides"
    >>> set(in_brief({"V0TU": line, "4000": line}).values())
    {'ID: V0TU … Size: 4000'}
    >>> in_brief({"0042": "The code, which somebody sent by mail in May, is 0042, not 42"})["0042"]
    'The code, which somebody sent by mail in May, is 0042'
    """
    facts_of: dict[str, list[str]] = {}
    for fact, line in told.items():
        facts_of.setdefault(line, []).append(fact)
    return {fact: short for line, facts in facts_of.items() for fact, short in _in_brief(facts, line).items()}


def _in_brief(facts: Sequence[str], line: str) -> dict[str, str]:
    """Return each fact with its key, else with the words of its line up to it; a short line whole."""
    spans = {fact: span for fact in facts if (span := _span_in(line, fact))} if len(line) > _SHORT_LINE else {}
    named = _NAMED.match(line) if spans else None
    parts = [named.span(1)] if named and NAMING.search(named[2]) else []
    said, end = "", 0
    for start, stop in sorted((*parts, *spans.values())):
        if stop > end:
            gap = line[end:start] if 0 < start - end <= _GAP_CHARS else _GAP if start > end and said else ""
            said, end = f"{said}{gap}{line[max(start, end) : stop]}", stop
    return {fact: said if fact in spans and mentions(said, fact) else line for fact in facts}


def _span_in(line: str, fact: str) -> tuple[int, int] | None:
    """Return where a fact stands last in a line with its key, else from the beginning of the line."""
    at = line.rfind(fact)
    while at > 0 and not mentions(line[: at + len(fact)], fact):
        at = line.rfind(fact, 0, at)
    if at < 0:
        return None
    key = _KEY.search(line[max(at - _KEY_CHARS, 0) : at])
    rest = _REST.match(line, at + len(fact))  # of a dotted name
    stop = rest.end() if rest else at + len(fact)
    if key and key[2] in {'"', "'"} and (end := line.find(key[2], at + len(fact), at + _QUOTED_CHARS)) >= 0:
        stop = end + 1
    return at - len(key[1]) if key else 0, stop


def in_few_words(facts: Sequence[str], texts: Iterable[str]) -> dict[str, str]:
    """Return the lines that facts stand in, in fewer words, and at last without any, where they are too many.

    Each with one of the facts that it tells.

    Args:
        facts: what to name.
        texts: what tells them.
    """
    told = words_around(facts, (), texts)
    for write in (dict, in_brief):
        lines = {line: fact for fact, line in write(told).items()}
        if sum(map(len, lines)) <= _NAMED_CHARS:
            return lines
    return {fact: fact for fact in facts}
