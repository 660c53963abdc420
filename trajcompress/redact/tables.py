"""Secrets in a column of a table whose header names it: CSV, Markdown, HTML, SQL, what databases print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.redact.keys import Proof, Secret, secret_of
from trajcompress.redact.known import is_telling
from trajcompress.redact.spans import Span
from trajcompress.redact.values import Style, is_secret

_ENDS = (",", ";", "\t", " |", "|", ")", "`", "</th>", "_hash", "\n", "\r", "\\n", '"')
HEADERS = (
    *(f"password{end}".encode() for end in _ENDS),
    *(
        f"{name}{end}".encode()
        for name in ("passwd", "passwort", "api_key", "token", "secret")
        for end in (",", ";", "\t", " |", "\n")
    ),
    *(b"secret access key", b"access key id,", b"secretkey,", b"pwd,", b"password  "),
)
"""What a text is searched for that may be a header."""

_LINE = re.compile(r"[^\n\r\\]*(?:\\[^nr\\][^\n\r\\]*)*")
_LINE_END = re.compile(r"\r?\n|\\{1,8}r\\{1,8}n|\\{1,8}n")
_NAME = re.compile(r"[\w .-]{3,40}")
_PAIR = 2
_PASSWORD = Secret("password", Proof.ANY)
_MOST_LINES = 200
_MOST_COLUMNS = 40
_LONGEST_LINE = 2000
_WORDS = re.compile(r"[^\s\\]+")
_RULE = re.compile(r"[\s|:+=-]*")
_NUMBERED = re.compile(r"\s*\d{1,6}[\t:|→]\s*")
_INSERT = re.compile(r"\(([^()]{1,1000})\)\s*VALUES\s*", re.IGNORECASE)
_TUPLE = re.compile(r"\s*,?\s*(?:\\n)?\s*\(")
_SQL_VALUE = re.compile(r"\s*(?:[nN]?(?P<quote>\\*')(?P<text>[^'\n]*?)(?P=quote)|(?P<bare>[^,()']+))\s*")
_HTML_ROW = re.compile(r"<tr\b[^>]{0,80}>(.{0,4000}?)</tr>", re.IGNORECASE | re.DOTALL)
_HTML_CELL = re.compile(
    r"<t[hd]\b[^>]{0,80}>\s*(?:<\w+>)?(.{0,200}?)(?:</\w+>)?\s*</t[hd]>", re.IGNORECASE | re.DOTALL
)


def table_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of tables; ``places`` are where ``HEADERS`` start and end."""
    done = -1
    for start, end in places:
        if start < done:
            continue
        begin = _line_start(text, start)
        header = _LINE.match(text, begin, begin + _LONGEST_LINE)
        done = header.end() if header else end
        if header is None:
            continue
        yield from _of_insert(text, begin, done)
        if "</th>" in header[0].lower():
            yield from _of_html(text, begin)
        else:
            yield from _of_lines(text, header)


def _line_start(text: str, at: int) -> int:
    furthest = max(0, at - _LONGEST_LINE)
    real, written = text.rfind("\n", furthest, at), text.rfind("\\n", furthest, at)
    return max(real + 1, written + 2 if written >= 0 else 0)


def _columns(cells: Iterable[str]) -> dict[int, Secret]:
    """The columns whose names promise secrets."""
    named = ((index, secret_of(re.sub(r"\W+", "_", cell.strip(" \t\"'`*[]")))) for index, cell in enumerate(cells))
    return {
        index: secret for index, secret in named if secret is not None and secret.kind not in {"signature", "cookie"}
    }


def _of_lines(text: str, header: re.Match[str]) -> Iterator[Span]:
    numbered = _NUMBERED.match(header[0])
    line = header[0][numbered.end() :] if numbered else header[0]
    separator = next((mark for mark in ("|", "\t", ",", ";") if mark in line), None)
    if separator is None:
        yield from _of_blanks(text, header)
        return
    names = line.split(separator)
    if (
        len(names) == _PAIR
        and _NAME.fullmatch(names[0].strip())
        and secret_of(names[0].strip())
        and is_telling(names[1].strip())
    ):
        yield from _value(text, header.end() - len(names[1]), header.end(), secret_of(names[0].strip()) or _PASSWORD)
    columns = _columns(names)
    if not columns or not 2 <= len(names) <= _MOST_COLUMNS or any(len(name) > 60 for name in names):
        return
    at = header.end()
    for _ in range(_MOST_LINES):
        line_end = _LINE_END.match(text, at)
        if line_end is None:
            return
        found = _LINE.match(text, line_end.end(), line_end.end() + _LONGEST_LINE)
        if found is None:
            return
        at = found.end()
        if _RULE.fullmatch(found[0]) and found[0]:
            continue
        start = found.start()
        if numbered and (number := _NUMBERED.match(found[0])):
            start += number.end()
        cells = list(_cells(text, start, found.end(), separator))
        if len(cells) != len(names):
            return
        for index, secret in columns.items():
            yield from _value(text, *cells[index], secret)


def _of_blanks(text: str, header: re.Match[str]) -> Iterator[Span]:
    """The secrets of a table whose columns only blanks part, with or without a column of row numbers."""
    names = header[0].rpartition('"')[2].split()
    columns = _columns(names)
    if not columns or len(names) < _PAIR or "  " not in header[0].strip():
        return
    at = header.end()
    for _ in range(_MOST_LINES):
        line_end = _LINE_END.match(text, at)
        found = _LINE.match(text, line_end.end(), line_end.end() + _LONGEST_LINE) if line_end else None
        if found is None:
            return
        at = found.end()
        cells = list(_WORDS.finditer(text, found.start(), found.end()))
        if not len(names) <= len(cells) <= len(names) + 1:
            return
        for index, secret in columns.items():
            yield from _value(text, *cells[index - len(names)].span(), secret)


def _cells(text: str, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
    """Where the cells of a line begin and end, quoted ones without regard to separators in them."""
    at = start
    while at <= end:
        quote = re.compile(r"\s*(\\*\")").match(text, at, end)
        close = text.find(quote[1], quote.end(), end) if quote else -1
        stop = text.find(separator, close if close >= 0 else at, end)
        stop = end if stop < 0 else stop
        yield at, stop
        at = stop + 1


def _value(text: str, start: int, end: int, secret: Secret) -> Iterator[Span]:
    cell = text[start:end]
    inner = cell.strip(" \t\"'`*\\")
    if inner and is_secret(inner, secret.proof, Style.ASIDE):
        begin = start + cell.index(inner)
        yield Span(begin, begin + len(inner), secret.kind)


def _of_insert(text: str, begin: int, end: int) -> Iterator[Span]:
    if "values" not in text[begin : end + _LONGEST_LINE].lower():
        return
    insert = _INSERT.search(text, begin, end + _LONGEST_LINE)
    if insert is None:
        return
    columns = _columns(insert[1].split(","))
    at = insert.end()
    for _ in range(_MOST_LINES if columns else 0):
        opening = _TUPLE.match(text, at)
        if opening is None:
            return
        at = opening.end()
        for index in range(_MOST_COLUMNS):
            value = _SQL_VALUE.match(text, at)
            if value is None:
                return
            secret = columns.get(index)
            if secret and value["text"] and is_secret(value["text"], secret.proof, Style.QUOTED):
                yield Span(*value.span("text"), secret.kind)
            at = value.end() + 1
            if text[value.end() : at] != ",":
                break


def _of_html(text: str, begin: int) -> Iterator[Span]:
    columns: dict[int, Secret] = {}
    table_start = text.rfind("<tr", max(0, begin - _LONGEST_LINE), begin + 1)
    for row in _HTML_ROW.finditer(text, begin if table_start < 0 else table_start, begin + 20 * _LONGEST_LINE):
        cells = list(_HTML_CELL.finditer(text, row.start(1), row.end(1)))
        if "<th" in row[1].lower():
            columns = _columns(cell[1] for cell in cells)
            continue
        for index, secret in columns.items():
            if index < len(cells):
                yield from _value(text, *cells[index].span(1), secret)
