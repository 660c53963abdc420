"""Bulk in what the environment printed: encoded data, long addresses and metadata of pages, which nobody reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from trajcompress.outcomes.printed.screen import metadata_of
from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.summary_marks import elided

_LEAST_RUN = 200
_WINDOW = _LEAST_RUN // 2  # a run has one of these whole, wherever it begins
_RUN = late_re(r"[A-Za-z0-9+/_-]+={0,2}")
_FULL_WINDOW = late_re(rf"[A-Za-z0-9+/_-]{{{_WINDOW}}}")
_IN_RUNS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-")
_TO_RUNS = bytes(43 if byte in _IN_RUNS else 32 for byte in range(256))
_ANY_RUN = b"+" * (_LEAST_RUN - 2)  # but for the signs at its end
_HEX = frozenset("0123456789abcdefABCDEF")
_LEAST_OF_HEX = 12  # of 16 digits; what has fewer are figures, or a row of noughts
_LEAST_DISTINCT = 32  # of the 64 characters of base64
_WORD_CHARS = 12  # words joined by signs have a sign as often as this, encoded data seldom
_SIGNS = "_-/+"

_NUL, _ESCAPE, _ESCAPED_NUL = "\0", "\\", (r"\u0000", r"\x00")
_NULS = late_re(r"(\\u0000|\\x00|\x00)\1{99,}")
_SCHEME = "://"
_ADDRESS = late_re(r"(https?://[^\s\"'<>()\[\]{}\\|/]{1,80}/)[^\s\"'<>()\[\]{}\\|]{90,}")
_PART = late_re(r"[^\W_]+")
_READABLE = 3, 5  # of the characters of a path so many stand in words and numbers
_LEAST_QUERY = 60
_VALUE = late_re(r"\"([^\"\\\n]{8,400})\",?\n")  # of metadata, at the end of its line
_MOST_VALUES = 400
_QUOTED_CHARS = 40  # of a run that a later turn has, if it has it at all


def without_bulk(text: str, is_quoted: Callable[[str], bool]) -> str:
    r"""Put short marks in the place of encoded data, runs of NULs, metadata of pages, and what long addresses say.

    Of an address the host stays, and what it says in words before a query. The marks have neither quotes nor line
    breaks, so JSON stays JSON. What later turns quote stays.

    Args:
        text: a result.
        is_quoted: says whether a later turn has a string.

    >>> without_bulk('{"data": "' + "/9j4AAQSkZJRgABcdEefhilmnopqtuvwxyz0123567" * 12 + '"}', lambda _: False)
    '{"data": "[… 504 encoded characters elided …]"}'
    """
    if _NUL in text or (_ESCAPE in text and holds_any(text, _ESCAPED_NUL)):
        text = _NULS.sub(_nul_mark, text)
    text = without_encoded(_without_metadata(text, is_quoted), is_quoted)
    return _without_addresses(text, is_quoted) if _SCHEME in text else text


def _nul_mark(run: re.Match[str]) -> str:
    return elided(len(run[0]) // len(run[1]), "NUL characters")


def _without_metadata(text: str, is_quoted: Callable[[str], bool]) -> str:
    """Drop what a browser says of a page's metadata, unless a later turn has a value that stands nowhere else."""
    if (found := metadata_of(text)) is None:
        return text
    start, end = found
    if end - start < _LEAST_RUN:
        return text
    values = (value[1] for value in islice(_VALUE.finditer(text, start, end), _MOST_VALUES))
    outside = f"{text[:start]}{text[end:]}"
    if any(is_quoted(value) and value not in outside for value in values):
        return text
    return f"{text[:start]}{elided(end - start)}{text[end:]}"


def without_encoded(text: str, is_quoted: Callable[[str], bool]) -> str:
    """Put short marks in the place of encoded data alone; as :func:`without_bulk`."""
    if _ANY_RUN not in text.encode("ascii", "replace").translate(_TO_RUNS):  # mostly
        return text
    pieces: list[str] = []
    done = 0
    at = 0
    while at + _WINDOW <= len(text):
        if _FULL_WINDOW.match(text, at) is None:
            at += _WINDOW
            continue
        start = at
        while start > done and at - start < _WINDOW and _RUN.match(text, start - 1, start):
            start -= 1
        if text[start - 1 : start] == "\\":  # the rest of an escape is no part of it
            start += 5 if text[start] == "u" else 1
        run = _RUN.match(text, start)
        end = run.end() if run else at + 1
        if run and end - start >= _LEAST_RUN and _is_encoded(run[0]) and not is_quoted(run[0][:_QUOTED_CHARS]):
            pieces += [text[done:start], elided(end - start, "encoded characters")]
            done = end
        at = max(end, at + _WINDOW)
    return "".join((*pieces, text[done:])) if pieces else text


def _is_encoded(run: str) -> bool:
    found = set(run)
    if found <= _HEX:
        return len(found) >= _LEAST_OF_HEX and not all(map(str.isdigit, found))
    if sum(map(run.count, _SIGNS)) * _WORD_CHARS > len(run):
        return False
    mixed = any(map(str.isupper, found)) and any(map(str.islower, found)) and any(map(str.isdigit, found))
    return mixed and len(found) >= _LEAST_DISTINCT


def _without_addresses(text: str, is_quoted: Callable[[str], bool]) -> str:
    def shorter(address: re.Match[str]) -> str:
        whole = address[0].rstrip(".,;:!?")
        path, asks, query = whole[len(address[1]) :].partition("?")
        stays = f"{address[1]}{path}{asks}" if _is_readable(path) else address[1]
        if (stays != address[1] and len(query) < _LEAST_QUERY) or is_quoted(whole):
            return address[0]
        return f"{stays}{elided(len(whole) - len(stays))}{address[0][len(whole) :]}"

    return _ADDRESS.sub(shorter, text)


def _is_readable(path: str) -> bool:
    """Whether most of a path are words, or numbers."""
    parts = _PART.findall(path)
    most, of = _READABLE
    return sum(len(part) for part in parts if part.isalpha() or part.isdigit()) * of >= sum(map(len, parts)) * most
