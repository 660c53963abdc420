"""What a text says again itself: a sentence many times in a row, and blocks of lines that it has shown before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from trajcompress.compaction.text.middle import LEAST_CUT, cut_out
from trajcompress.facts.parts import Part
from trajcompress.processes.late_patterns import late_re

_STRIDE = 200  # at each so many characters a sentence is looked for that comes again
_KEY = 32  # of its characters
_LEAST_CHARS, _MOST_CHARS = 12, 600  # of a sentence
_LEAST_TIMES = 5
_LEAST_LETTERS = 6  # different ones; a rule has fewer
_SPACE = late_re(r"\s(?=\S)")

_REMEMBERED = 32

_NUMBER = late_re(r"^[ \t]*(\d{1,7})[:|\t]", re.MULTILINE)
_NUMBERS = " \t0123456789:|"
_LEAST_LINES = 10
_TELLING = 16  # characters of a line that is looked for
_AROUND = 2  # lines that stay beside those that are not shown before


@lru_cache(maxsize=_REMEMBERED)  # a text is cut again and again, until its row fits
def said_once(text: str) -> str:
    """Return a text without what it says again."""
    return without_blocks(without_phrases(text))


def without_phrases(text: str) -> str:
    r"""Put a mark that counts them in the place of a sentence or a phrase that is said many times in a row.

    >>> without_phrases("Say it again. " * 40 + "Then stop.")
    'Say it again. [… the same words 39 times more …] Then stop.'
    """
    pieces: list[str] = []
    done = at = 0
    while at + _KEY <= len(text):
        again = text.find(text[at : at + _KEY], at + _LEAST_CHARS, at + _MOST_CHARS + _KEY)
        run = _run_at(text, at, again, done) if again >= 0 else None
        if run is None:
            at += _STRIDE
            continue
        start, length, times = run
        pieces += [text[done : start + length], f"[… the same words {times - 1:,} times more …]"]
        done = at = start + length * times
        pieces += [" "] if text[done - 1].isspace() else []
    return "".join((*pieces, text[done:])) if pieces else text


def _run_at(text: str, at: int, again: int, done: int) -> tuple[int, int, int] | None:
    """Return where a run begins that goes on at two places, how long what is said again is, and how often it is."""
    length = again - at
    if not text.startswith(text[at:again] * (_LEAST_TIMES // 2), again):  # mostly
        return None
    if len(set(filter(str.isalpha, text[at:again]))) < _LEAST_LETTERS:
        return None
    start, lowest = at, max(done, at - _STRIDE - length)  # what begins before that was looked at before
    while start > lowest and text[start - 1] == text[start - 1 + length]:
        start -= 1
    if start and not text[start - 1].isspace():  # it begins with a word, not amid an escape
        space = _SPACE.search(text, start, start + length)
        if space is None:
            return None
        start = space.end()
    phrase, end = text[start : start + length], start + length
    while text.startswith(phrase, end):
        end += length
    times = (end - start) // length
    return (start, length, times) if times >= _LEAST_TIMES and (times - 1) * length >= LEAST_CUT else None


def without_blocks(text: str) -> str:
    """Cut blocks of lines out of a text that it has shown before, whatever their numbers, but for their ends.

    What one view of a file has twice stays, as its lines follow each other.
    """
    if text.count("\n") < 2 * _LEAST_LINES:
        return text
    whole = text.split("\n")
    if len({line.lstrip(_NUMBERS) for line in whole}) > len(whole) - _LEAST_LINES:  # quicker than what follows
        return text
    lines = _NUMBER.sub("", text).split("\n")
    telling = [line for line in lines if len(line) >= _TELLING]
    if len(set(telling)) == len(telling):  # of what comes again, as it mostly does, none is more than a sign
        return text
    first: dict[str, int] = {}
    blocks: list[tuple[int, int]] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        earlier = first.setdefault(line, place) if len(line) >= _TELLING else place
        end = place
        while earlier < place and end < len(lines) and lines[end] == lines[earlier + end - place]:
            end += 1
        if end - place >= _LEAST_LINES and not _in_one_view(whole, earlier, place):
            blocks.append((place + _AROUND, end - _AROUND))
        place = max(end, place + 1)
    if not blocks:
        return text
    starts = [0, *accumulate(len(line) + 1 for line in whole)]
    return cut_out(text, [Part(starts[first] - 1, starts[last]) for first, last in blocks])


def _in_one_view(lines: Sequence[str], one: int, other: int) -> bool:
    numbers = [_NUMBER.match(lines[place]) for place in (one, other)]
    first, last = (int(number[1]) if number else 0 for number in numbers)
    return last - first == other - one
