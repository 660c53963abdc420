"""A command where it has no room: what only trims its output goes first, then ends of patterns, then what is amid it.

Whatever is left out leaves a mark in its place: what stands on both sides of it is no command that ran.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from trajcompress.outcomes.action.quotes import OPEN, QUOTES, closed, open_quote, quoted_spans
from trajcompress.outcomes.text import shorten
from trajcompress.processes.late_patterns import late_re

_LEAST_WITH_END = 40  # characters of a label
_LEAST_OF_PART = 28  # of a command amid others, whose address or path ends with what it asks for
_MOST_QUOTED = 8  # are shortened
_LEAST_QUOTED = 20  # characters that stay of what is quoted
_QUOTES = tuple(QUOTES)
_AND_MORE = f" {OPEN}"
_LAST_SHARE, _FIRST_SHARE = 0.4, 0.6
_QUERY = late_re(r"[A-Z]{4,10}\s")
_COMMENTS = late_re(r"(?:#(?!!)[^\n]{0,400}\n\s{0,40}){1,20}(?=[^\s#])")
_SEPARATOR = late_re(r" ?(?:;|&&|\|\|?) ")
_TRIMMING = late_re(
    r"(?: ?(?:&|\b[12])?>{1,2} ?(?:&[12]|/dev/null)| ?\| ?(?:head|tail|sort|uniq)(?: -{0,2}[\w=,.]{1,20}){0,4}){1,6}"
    r"(?=\Z|[\s;&|])"
)
_MARKS = late_re(r"…(?: …){1,4}(?![/\\])")  # of one gap; the last may stand for the folders of a file
_PATH = late_re(r"[\"'`][^\s/|]{0,200}/[^\s|]{1,400}\Z")
_FLAG = late_re(r" -{1,2}\w[\w-]{0,40}\Z")
_PART = late_re(r"[/?&=#](?=\w[^/?&=#]{2})")  # of an address or a path


def cut_command(text: str, limit: int) -> str:
    """Cut a command to about ``limit`` characters.

    >>> cut_command('grep -n "alpha|beta|gamma|delta" -ri src/*.py setup.cfg 2>/dev/null | head -50', 52)
    'grep -n "alpha|beta|gamma|…" -… setup.cfg …'
    """
    if len(text) <= limit:
        return text
    text = _without_trimmings(text, limit)
    if limit < _LEAST_WITH_END:
        body = text.rstrip(_AND_MORE)
        cut = _cut_one(text, limit) if body == text else _cut_one(body, limit - len(_AND_MORE)) + _AND_MORE
    else:
        text = _with_short_quotes(text, limit)
        parts = [text] if _QUERY.match(text) or len(text) <= limit else _parts(text)
        cut = _cut_one(text, limit) if len(parts) == 1 else _cut_several(parts, limit)
    return _MARKS.sub(OPEN, cut.replace(f"{OPEN}/{OPEN}", OPEN))


def without_comments(text: str) -> str:
    r"""Return a command without the comments that stand before it: they are no program. Alone they stay.

    >>> without_comments("# How many are there?\nls | wc -l")
    'ls | wc -l'
    """
    comments = _COMMENTS.match(text) if text.startswith("#") else None
    return text[comments.end() :] if comments else text


def _without_trimmings(text: str, limit: int) -> str:
    """Leave out what trims or redirects output, from the last on, as much as must be."""
    for found in reversed([*_TRIMMING.finditer(text)]):
        if len(text) <= limit:
            break
        text = f"{text[: found.start()]}{_AND_MORE}{text[found.end() :]}" if len(found[0]) > len(_AND_MORE) else text
    return text


def _with_short_quotes(text: str, limit: int) -> str:
    """Leave out the ends of what is quoted, of the longest first, as much as must be."""
    for _ in range(_MOST_QUOTED):
        spans = (
            (end - start, start, end)
            for start, end, _ in quoted_spans(text)
            if end > 0 and not _PATH.match(text, start, end)  # whose end tells most
        )
        length, start, end = max(spans, default=(0, 0, 0))
        over = len(text) - limit
        if over <= 0 or length <= _LEAST_QUOTED + 3:  # its quotes and a mark
            break
        inside = text[start + 1 : end - 1]
        short = shorten(inside, max(len(inside) - over, _LEAST_QUOTED)).removesuffix(OPEN).rstrip("\\")
        text = f"{text[: start + 1]}{short}{OPEN}{text[end - 1 :]}"
    return text


def _parts(text: str) -> list[str]:
    """Return the single commands of a line, each with the sign before it."""
    spans = [(start, end if end > 0 else len(text)) for start, end, _ in quoted_spans(text)]
    signs = (sign.start() for sign in _SEPARATOR.finditer(text))
    cuts = [at for at in signs if at and not any(start < at < end for start, end in spans)]
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def _cut_several(parts: Sequence[str], limit: int) -> str:
    """Cut a line of commands: the first and the last stay, and of the others those that have room."""
    last = _cut_one(parts[-1], max(int(limit * _LAST_SHARE), limit - len(parts[0]) - 2))
    room = limit - len(last) - len(OPEN) - 1
    told = ""
    for part in parts[:-1]:
        if told and len(told) + len(part) > room:
            return f"{told} {OPEN}{last}"
        bare = part.removesuffix(_AND_MORE)  # its end is what tells it from others
        more = part[len(bare) :]
        told += part if told or len(part) <= room else _cut_one(bare, room - len(more)) + more
    return f"{told}{last}"


def _cut_one(text: str, limit: int) -> str:
    """Cut one command in its middle, as commands differ at their ends; words stay whole where they can."""
    if len(text) <= limit:
        return text
    last = text.rfind(" ") + 1
    if limit < _LEAST_WITH_END and (short := _on_one_file(text, last)) and len(short) <= limit:
        return short
    is_short_path = limit < _LEAST_WITH_END and _PATH.match(text, last) is not None
    begins = _begin(text, int(limit * (_LAST_SHARE if is_short_path else _FIRST_SHARE)))
    head = closed(begins)
    room = max(limit - len(head) - 1, 0)
    least = _LEAST_OF_PART if is_short_path else _LEAST_WITH_END
    ends = "" if limit < least or open_quote(text[:last]) else _end_of_word(text[last:], room - 1)
    if ends and len(begins) > last + 1:  # it is cut in that word
        return f"{begins}{ends}{open_quote(begins)}"
    if ends:
        return f"{head.removesuffix(OPEN).rstrip()} {OPEN}{ends}"
    start = text.find(" ", len(text) - room)
    flag = _FLAG.search(text, 0, max(start, 0))
    if flag and flag.end() >= len(begins) and " " in text[start + 1 :]:  # its value says nothing without it
        start = text.find(" ", start + 1)
    if start >= 0 and (quote := open_quote(text[:start])):  # the rest of what is quoted says nothing
        start = text.find(quote, start) + 1 or -1
    tail = text[start:].rstrip() if start >= 0 else ""
    if not any(map(str.isalnum, tail)):
        return closed(_begin(text, limit - 1))
    return f"{head}{tail}" if _meet(text, begins, start) else f"{head} {OPEN}{tail}"


def _on_one_file(text: str, last: int) -> str:
    """Write a program that is given one path with the name of the file alone; nothing of any other command."""
    program, path = text[: max(last - 1, 0)], text[last:]
    name = path[path.rfind("/") + 1 :]
    return f"{program} {OPEN}/{name}" if program.isalnum() and "/" in path and name else ""


def _begin(text: str, limit: int) -> str:
    """Return the first words of a command; rather half of what is quoted than nothing of it."""
    said = shorten(text, limit)
    bare = said.removesuffix(OPEN)
    return (
        text[: limit - 1].rstrip("\\") + OPEN
        if bare != said and bare.endswith(_QUOTES) and open_quote(bare)
        else said
    )


def _meet(text: str, begins: str, start: int) -> bool:
    """Whether the mark of a beginning stands for all that is left out before a place."""
    quote = open_quote(begins)
    return start == text.find(quote, len(begins) - 1) + 1 if quote else True


def _end_of_word(word: str, room: int) -> str:
    """Return the last parts of an address or a path that has no room; of what has, and of other words, nothing."""
    bare = word.strip(QUOTES)
    part = _PART.search(bare, len(bare) - room) if len(bare) > room else None
    return bare[part.start() :] if part else ""
