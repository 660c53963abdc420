"""Facts in words that a kept turn repeats: what it gives whole needs no telling besides."""

from __future__ import annotations

from trajcompress.facts.reading import mentions
from trajcompress.facts.telling import last_place
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.line_numbers import NUMBER

_MOST_CHARS = 300  # of a line
_NUMBER = late_re(rf"\s*(?:{NUMBER}|\d{{1,7}}[ -]|[-+*•>]\s)\s*")


def flat(text: str) -> str:
    """Return a text with single spaces, as what is copied may be indented, or wrapped, in another way."""
    return " ".join(text.split())


def is_copied(fact: str, told: str, kept: str) -> bool:
    """Whether a kept text has the whole line that a fact stands in; where it stands alone, with a line beside it.

    Of a long line it need not have more than the sentence, of a long sentence the words around the fact.

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
    if end - start > _MOST_CHARS:  # a paragraph
        words = flat(told[slice(*_sentence(told, at, at + len(fact), start, end))])
        return any(map(str.isalnum, words.replace(fact, "", 1))) and mentions(kept, words)
    line = _bare(told[start:end])
    if any(map(str.isalnum, line.replace(fact, "", 1))):
        return line in kept
    above, below = told[max(start - _MOST_CHARS, 0) : start], told[end : end + _MOST_CHARS]
    beside = [_bare(each) for each in (above.rstrip().rpartition("\n")[2], below.lstrip().partition("\n")[0])]
    return any(
        each and pair in kept
        for each, pair in zip(beside, (f"{beside[0]} {line}", f"{line} {beside[1]}"), strict=True)
    )


def _sentence(text: str, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """Find the sentence with a place, between two others; of a long one whole words before and behind the place."""
    before, behind = text.rfind(". ", first, start), text.find(". ", end, last)
    first, last = before + 2 if before >= 0 else first, behind + 1 if behind >= 0 else last
    if start - first > _MOST_CHARS:
        first = text.find(" ", start - _MOST_CHARS, start) + 1 or start
    if last - end > _MOST_CHARS:
        space = text.rfind(" ", end, end + _MOST_CHARS)
        last = space if space >= 0 else end
    return first, last


def _bare(line: str) -> str:
    number = _NUMBER.match(line)
    return flat(line[number.end() :] if number else line)
