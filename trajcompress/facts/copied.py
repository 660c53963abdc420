"""Facts in words that a kept turn repeats: what it gives whole needs no telling besides."""

from __future__ import annotations

from trajcompress.facts.telling import last_place
from trajcompress.processes.late_patterns import late_re

_MOST_CHARS = 300  # of a line
_NUMBER = late_re(r"\s*(?:\d{1,7}[:|\t -]|[-+*•>]\s)\s*")


def flat(text: str) -> str:
    """Return a text with single spaces, as what is copied may be indented, or wrapped, in another way."""
    return " ".join(text.split())


def is_copied(fact: str, told: str, kept: str) -> bool:
    """Whether a kept text has the whole line that a fact stands in; where it stands alone, with a line beside it.

    Of a long line it need not have more than the words around the fact.

    Args:
        fact: a fact that is needed.
        told: the text that tells it, whose listings may number their lines.
        kept: what uses it, as :func:`flat` gives it.
    """
    at = last_place(fact, told)
    if at < 0:
        return False
    start, end = told.rfind("\n", 0, at) + 1, told.find("\n", at)
    end = end if end >= 0 else len(told)
    if end - start > _MOST_CHARS:  # a paragraph, of which the words around it tell enough
        around = flat(told[max(start, at - _MOST_CHARS // 2) : min(end, at + len(fact) + _MOST_CHARS // 2)])
        return around in kept
    line = _bare(told[start:end])
    if any(map(str.isalnum, line.replace(fact, "", 1))):
        return line in kept
    above, below = told[max(start - _MOST_CHARS, 0) : start], told[end : end + _MOST_CHARS]
    beside = [_bare(each) for each in (above.rstrip().rpartition("\n")[2], below.lstrip().partition("\n")[0])]
    return any(
        each and pair in kept
        for each, pair in zip(beside, (f"{beside[0]} {line}", f"{line} {beside[1]}"), strict=True)
    )


def _bare(line: str) -> str:
    number = _NUMBER.match(line)
    return flat(line[number.end() :] if number else line)
