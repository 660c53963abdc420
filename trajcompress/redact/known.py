"""Secrets that a row told once, wherever else it has them: bare in a command, in a form, in an answer."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate, islice, pairwise
from typing import NamedTuple
from urllib.parse import quote, unquote

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.spans import MARK, Span
from trajcompress.redact.values import APP_PASSWORD, PASSPHRASE, is_placeholder, is_wordy
from trajcompress.redact.veils import unveiled

_LEAST_LENGTH = 8
_LEAST_DISTINCT = 5
_LEAST_DIGITS = 12  # a number that is shorter may be anything
_LONGEST = 512
_CHARACTERS = tuple(map(re.compile, (r"[a-z]", r"[A-Z]", r"\d", r"[^\w\s]|_")))
_MIXED = 3  # of these, and a value is no ordinary word
_MOST = 500  # a row has a handful; a hostile one may have any number
_KEY_LINE, _LINE_END = late_re(r"[A-Za-z0-9+/]{40,}"), late_re(r"\\+[nrt]")
_SURROGATE = late_re("[\ud800-\udfff]")
_COOKIE = late_re(r"[^=;\s]+=([^;\s]+)")


class Line(NamedTuple):
    """A line with secrets that may be any word elsewhere, as ``bob|letmein``; where they stand in it."""

    text: str
    spans: tuple[Span, ...]


class Known:
    """The secrets of one row by their kinds, to be found wherever they stand; ``lines`` have theirs only there."""

    def __init__(self, secrets: Iterable[tuple[str, str]] = (), lines: Iterable[Line] = ()) -> None:
        self._kinds: dict[str, str] = {}
        self._lines: dict[str, list[Span]] = {}
        for line in islice((line for line in lines if not _SURROGATE.search(line.text)), _MOST):
            self._lines.setdefault(line.text, list(line.spans))
            for ascii_only in (True, False):
                written, spans = _line_in_json(line, ascii_only=ascii_only)
                self._lines.setdefault(written, spans)
        for secret, kind in secrets:
            for value in _values(secret, kind):
                if len(self._kinds) < _MOST:
                    for form in _forms(value):
                        self._kinds.setdefault(form, kind)

    def __bool__(self) -> bool:
        return bool(self._kinds or self._lines)

    def spans(self, text: str) -> Iterator[Span]:
        """Where the secrets stand in a text."""
        for value, start in self._values.places(text):
            yield Span(start, start + len(value), self._kinds[value])
        for line, start in self._in_lines.places(text):
            for span in self._lines[line]:
                yield span._replace(start=start + span.start, end=start + span.end)

    @cached_property
    def _values(self) -> _Sought:
        return _Sought(list(self._kinds))

    @cached_property
    def _in_lines(self) -> _Sought:
        return _Sought(list(self._lines))


class _Sought:
    """Texts that are looked for together."""

    def __init__(self, sought: list[str]) -> None:
        self._sought = sought
        self._automaton = sought and AhoCorasick(
            sought, matchkind=MatchKind.LeftmostLongest, implementation=Implementation.ContiguousNFA
        )

    def places(self, text: str) -> Iterator[tuple[str, int]]:
        """What is found in a text, and where it starts."""
        if not self._automaton:
            return
        try:
            found = self._automaton.find_matches_as_indexes(text)
        except UnicodeEncodeError:  # lone surrogates
            found = self._automaton.find_matches_as_indexes(_SURROGATE.sub("?", text))
        for which, start, _ in found:
            yield self._sought[which], start


NONE_KNOWN = Known()


def is_telling(value: str) -> bool:
    """Whether a value is enough of its own kind to be looked for where nothing says what it is."""
    if not _LEAST_LENGTH <= len(value) <= _LONGEST or len(set(value)) < _LEAST_DISTINCT or is_placeholder(value):
        return False
    if APP_PASSWORD.fullmatch(value) or PASSPHRASE.fullmatch(value):
        return True
    if MARK.search(value) or any(character.isspace() for character in value):
        return False
    if value.isdigit():
        return len(value) >= _LEAST_DIGITS
    return not is_wordy(value) or sum(kind.search(value) is not None for kind in _CHARACTERS) >= _MIXED


def _values(secret: str, kind: str) -> Iterator[str]:
    """The values in what was found: the pairs of cookies, the lines of a key, the password in Basic credentials."""
    plain = unveiled(secret)
    if kind == "signature":  # of a URL that has it wherever it stands
        return
    if kind == "private_key":
        found: Iterable[str] = _KEY_LINE.findall(_LINE_END.sub("\n", plain))
    elif kind == "cookie":
        found = _COOKIE.findall(plain)
    else:
        found = (plain, *_basic(plain)) if kind == "authorization" else (plain,)
    yield from filter(is_telling, found)


def _basic(credentials: str) -> Iterator[str]:
    try:
        decoded = base64.b64decode(credentials, validate=True).decode()
    except ValueError:  # not Base64, or not text
        return
    _, colon, password = decoded.partition(":")
    if colon:
        yield password


def _line_in_json(line: Line, *, ascii_only: bool) -> tuple[str, list[Span]]:
    """A line as JSON has it, and where its secrets stand then."""
    edges = [0, *(edge for span in line.spans for edge in span[:2]), len(line.text)]
    parts = [json.dumps(line.text[a:b], ensure_ascii=ascii_only)[1:-1] for a, b in pairwise(edges)]
    at = [0, *accumulate(map(len, parts))]
    spans = [
        span._replace(start=at[2 * number + 1], end=at[2 * number + 2]) for number, span in enumerate(line.spans)
    ]
    return "".join(parts), spans


def _forms(value: str) -> set[str]:
    """How a value may be written: as it is, in JSON, in a URL."""
    plain = {value, unquote(value)} if "%" in value else {value}
    if "\\" in value:
        plain |= {_parsed(value)}
    in_json = {json.dumps(form, ensure_ascii=ascii_only)[1:-1] for form in plain for ascii_only in (True, False)}
    in_url = {quote(form, safe="", errors="replace") for form in plain}
    return {form for form in plain | in_json | in_url if len(form) >= _LEAST_LENGTH and not _SURROGATE.search(form)}


def _parsed(value: str) -> str:
    try:
        parsed = json.loads(f'"{value}"')
    except ValueError:
        return value
    return parsed if isinstance(parsed, str) else value
