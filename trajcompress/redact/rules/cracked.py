"""Passwords that crackers print beside their hashes or accounts: ``john --show``, ``hashcat --show``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.context import answer_of, answers_to
from trajcompress.redact.known import Line
from trajcompress.redact.spans import MARK_START, Span

CRACKERS = (b" password hash", b"hashcat", b"john.pot", b"john ")
"""What a text is searched for that may tell of a cracker."""

_BREAK = late_re(r"\\+[nr]|[\r\n]")  # also in JSON
_TRAILER = late_re(r"(?<!\d)(?P<count>[1-9]\d{0,8}) password hash(?:es)? cracked, \d+ left")
_BEGINS = late_re(r"(?:\A|[\r\n]|\\+[nr])[ \t]*\Z")  # a line
_LOADED = late_re(r"(?:Loaded|Remaining) \d+ password hash")
_SHOWN = late_re(
    r"(?:.{0,80}[ \"'])?[^\s:\"']{1,64}:(?P<plain>[^\s:\"\\][^:\n\"\\]{0,63})(?::.*)?"
)  # the first has JSON before it
_RUN = late_re(r"(?P<plain>[^\s\"\\]{1,64})[ \t]+\([^\s()]{1,64}\)[ \t]*")
_HASH = r"(?:[0-9a-fA-F]{32}(?::[^\s:]{1,40})?|[0-9a-fA-F]{40,128}|\$[^\s\"']{20,900})"
_PAIR = late_re(
    rf"(?:.{{0,80}}[ \"'])?(?:[\w.@\\-]{{1,64}}:)?{_HASH}:(?P<plain>[^\s:\"'\[\\][^:\"'\n]{{0,64}}?)[ \"',}}]*"
)
_BEFORE = 8_000  # characters before a trailer, or after a start, in which its lines are
_MOST = 200
_LONGEST_LINE = 1000
_CRACKS = late_re(r"\bhashcat\b|\bjohn(?:\.pot|\s+-|\s+\S*hash)|\.potfile")


def cracked_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The passwords in a text beside their hashes or accounts; ``places`` are where ``CRACKERS`` start and end."""
    done = 0
    for start, _ in places:
        begin = max(done, start - _BEFORE)
        trailer = _TRAILER.search(text, max(0, start - 10), start + 60)
        if trailer and _BEGINS.search(text, max(0, trailer.start() - 20), trailer.start()):
            yield from _above(text, begin, trailer.start())[-int(trailer["count"]) :]
            done = max(done, trailer.end())
        elif _LOADED.search(text, max(0, start - 20), start + 20) and start >= done:
            done = min(start + _BEFORE, len(text))
            yield from _of_lines(_RUN, text, start, done)
    if _CRACKS.search(text):
        yield from _of_lines(_PAIR, text, 0, len(text))


def cracked_later(texts: Sequence[str], places: Iterable[int]) -> Iterator[Line]:
    """The lines with a hash and its password that answer a cracker.

    Args:
        texts: what each turn says and calls.
        places: the turns that have one of ``CRACKERS``.
    """
    for text in answers_to(_CRACKS, texts, places):
        answer = answer_of(text)
        for span in islice(_of_lines(_PAIR, answer, 0, len(answer)), _MOST):
            begin = answer.rfind("\n", 0, span.start) + 1
            yield Line(answer[begin : span.end], (span._replace(start=span.start - begin, end=span.end - begin),))


def _above(text: str, begin: int, end: int) -> list[Span]:
    """The passwords of the accounts that stand directly above a count of them."""
    spans: list[Span] = []
    for start, stop in _lines(text, begin, end):
        found = _SHOWN.fullmatch(text, start, stop)
        if found:
            spans.append(Span(*found.span("plain"), "password"))
        elif text[start:stop].strip():
            spans = []
    return [span for span in spans if MARK_START not in text[span.start : span.end + 1]]


def _of_lines(pattern: re.Pattern[str], text: str, begin: int, end: int) -> Iterator[Span]:
    for start, stop in _lines(text, begin, end):
        found = pattern.fullmatch(text, start, stop)
        if found and MARK_START not in found[0]:
            yield Span(*found.span("plain"), "password")


def _lines(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    for found in _BREAK.finditer(text, begin, end):
        if 0 < found.start() - begin <= _LONGEST_LINE:
            yield begin, found.start()
        begin = found.end()
    if begin < end:
        yield begin, min(end, begin + _LONGEST_LINE)
