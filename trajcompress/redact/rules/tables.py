"""Secrets in a column of a table whose header names it: CSV, Markdown, HTML, SQL, what databases print."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Secret, secret_of
from trajcompress.redact.known import is_telling
from trajcompress.redact.spans import Span
from trajcompress.redact.values import Style, is_secret

_ENDS = (",", ";", "\t", " |", "|", ")", "`", "</th>", "_hash", "\n", "\r", "\\n", '"')
HEADERS = (
    *(f"password{end}".encode() for end in _ENDS),
    *(f"{name}{end}".encode() for name in ("passwd", "passwort", "api_key") for end in (",", ";", "\t", " |", "\n")),
    *(b"secret access key", b"access key id,", b"secretkey,", b"pwd,", b"password  "),
)
"""What a text is searched for that may be a header."""

_LINE = late_re(r"[^\n\r\\]*(?:\\[^nr\\][^\n\r\\]*)*")
_LINE_END = late_re(r"\r?\n|\\{1,8}r\\{1,8}n|\\{1,8}n")
_TITLE = late_re(r"[^/:=<>()@$\\]{0,60}|.*\"[^/:=<>()@$]{0,60}")  # the first may have JSON before it
_NAME = late_re(r"[\w .-]{3,40}")
_PAIR = 2
_QUOTED = late_re(r"\s*(\\*\")")
_Found: TypeAlias = tuple[list[Span], int]
_MOST_LINES = 200
_MOST_COLUMNS = 40
_LONGEST_LINE = 2000
_LONGEST_HTML = 40_000
_STRUCTURE = late_re(r'\\*"\s*[\]},:]')  # of JSON that the table, or a line of it, is in
_WORDS = late_re(r"[^\s\\]+")
_RULE = late_re(r"[\s|:+=-]*")
_NUMBERED = late_re(r"\s*\d{1,6}[\t:|→]\s*")
_INSERT = late_re(r"\(([^()]{1,1000})\)\s*VALUES\s*", re.IGNORECASE)
_TUPLE = late_re(r"\s*,?\s*(?:\\n)?\s*\(")
_SQL_VALUE = late_re(r"\s*(?:[nN]?(?P<quote>\\*')(?P<text>[^'\n]*?)(?P=quote)|(?P<bare>[^,()']+))\s*")
_HTML_ROW = late_re(r"<tr\b[^>]{0,80}>((?:[^<]++|<(?!/?tr\b)){0,400}+)</tr>", re.IGNORECASE)
_HTML_CELL = late_re(r"<t[hd]\b[^>]{0,80}>\s*(?:<\w+>)?(.{0,200}?)(?:</\w+>)?\s*</t[hd]>", re.IGNORECASE | re.DOTALL)


def table_spans(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of tables; ``places`` are where ``HEADERS`` start and end."""
    no_rows = 0  # how far there are none in HTML
    done = 0  # what has been read is no header: a text may repeat one without end
    for start, _ in places:
        if start < done:
            continue
        begin = max(done, _line_start(text, start))
        header = _LINE.match(text, begin, begin + _LONGEST_LINE)
        if header is None:
            continue
        found, done = _of_insert(text, header)
        if "</th>" in header[0].lower():
            more, end = _of_html(text, begin) if begin >= no_rows else ([], begin)
            no_rows = begin + _LONGEST_HTML // 2 if end == begin >= no_rows else no_rows
        else:
            more, end = _of_lines(text, header)
        done = max(done, end, start + 1)
        yield from (*found, *more)


def _line_start(text: str, at: int) -> int:
    furthest = max(0, at - _LONGEST_LINE)
    real, written = text.rfind("\n", furthest, at), text.rfind("\\n", furthest, at)
    return max(furthest, real + 1, written + 2 if written >= 0 else 0)


def _columns(cells: Iterable[str]) -> dict[int, Secret]:
    """The columns whose names promise secrets."""
    named = ((index, secret_of(re.sub(r"\W+", "_", cell.strip(" \t\"'`*[]")))) for index, cell in enumerate(cells))
    return {
        index: secret for index, secret in named if secret is not None and secret.kind not in {"signature", "cookie"}
    }


def _of_lines(text: str, header: re.Match[str]) -> _Found:
    """The secrets of a table of lines, and where it ends."""
    numbered = _NUMBERED.match(header[0])
    line = header[0][numbered.end() :] if numbered else header[0]
    separator = next((mark for mark in ("|", "\t", ",", ";") if mark in line), None)
    names = line.split(separator) if separator else line.rpartition('"')[2].split()
    if len(names) == _PAIR and separator and _NAME.fullmatch(names[0].strip()) and is_telling(names[1].strip()):
        secret = secret_of(names[0].strip())
        if secret:  # a line of names and values
            return list(_value(text, header.end() - len(names[1]), header.end(), secret)), header.end()
    columns = _columns(names)
    if not (columns and _PAIR <= len(names) <= _MOST_COLUMNS and all(map(_TITLE.fullmatch, names))):
        return [], header.end()
    found: list[Span] = []
    at = header.end()
    for row in _rows(text, at):
        at = row.end()
        if row[0] and _RULE.fullmatch(row[0]):
            continue
        number = _NUMBERED.match(row[0]) if numbered else None
        start = row.start() + (number.end() if number else 0)
        cells = list(_cells(text, start, at, separator))
        extra = 0 if separator else len(cells) - len(names)  # a column without a name, of row numbers
        if extra not in {0, 1} or len(cells) != len(names) + extra:
            break
        for index, secret in columns.items():
            found += _value(text, *cells[index + extra], secret)
    return found, at


def _rows(text: str, at: int) -> Iterator[re.Match[str]]:
    for _ in range(_MOST_LINES):
        line_end = _LINE_END.match(text, at)
        row = _LINE.match(text, line_end.end(), line_end.end() + _LONGEST_LINE) if line_end else None
        if row is None:
            return
        at = row.end()
        yield row


def _cells(text: str, start: int, end: int, separator: str | None) -> Iterator[tuple[int, int]]:
    """Where the cells of a line begin and end, quoted ones without regard to separators in them; None is blanks."""
    if separator is None:
        yield from (word.span() for word in _WORDS.finditer(text, start, end))
        return
    at = start
    while at <= end:
        quote = _QUOTED.match(text, at, end)
        close = text.find(quote[1], quote.end(), end) if quote else -1
        stop = text.find(separator, close if close >= 0 else at, end)
        stop = end if stop < 0 else stop
        yield at, stop
        at = stop + 1


def _value(text: str, start: int, end: int, secret: Secret) -> Iterator[Span]:
    cell = text[start:end]
    inner = _STRUCTURE.split(cell.strip(" \t\"'`*\\"), 1)[0]
    if inner.rstrip("]}") != inner and inner.rstrip("]}").isdigit():  # a number in JSON
        return
    if inner and is_secret(inner, secret.proof, Style.ASIDE):
        at = cell.index(inner)
        inner = cell[len(cell[:at].rstrip("\\")) : at] + inner  # an escape stays whole
        begin = start + cell.index(inner)
        yield Span(begin, begin + len(inner), secret.kind)


def _of_insert(text: str, header: re.Match[str]) -> _Found:
    """The secrets of the values that a statement inserts, and where it ends."""
    end = header.end() + _LONGEST_LINE
    if "values" not in text[header.start() : end].lower():
        return [], header.end()
    insert = _INSERT.search(text, header.start(), end)
    columns = _columns(insert[1].split(",")) if insert else {}
    found: list[Span] = []
    at = insert.end() if insert else header.end()
    for _ in range(_MOST_LINES if columns else 0):
        opening = _TUPLE.match(text, at)
        if opening is None:
            break
        at = opening.end()
        for index, value in enumerate(_values(text, at)):
            at = value.end() + 1
            secret = columns.get(index)
            if secret and value["text"] and is_secret(value["text"], secret.proof, Style.QUOTED):
                found.append(Span(*value.span("text"), secret.kind))
    return found, at


def _values(text: str, at: int) -> Iterator[re.Match[str]]:
    """The values between the parentheses of a statement."""
    for _ in range(_MOST_COLUMNS):
        value = _SQL_VALUE.match(text, at)
        if value is None:
            return
        yield value
        at = value.end() + 1
        if text[value.end() : at] != ",":
            return


def _of_html(text: str, begin: int) -> _Found:
    """The secrets of a table in HTML, and where it ends."""
    columns: dict[int, Secret] = {}
    found: list[Span] = []
    end = begin
    table_start = text.rfind("<tr", max(0, begin - _LONGEST_LINE), begin + 1)
    for row in _HTML_ROW.finditer(text, begin if table_start < 0 else table_start, begin + _LONGEST_HTML):
        end = row.end()
        cells = list(_HTML_CELL.finditer(text, row.start(1), row.end(1)))
        if "<th" in row[1].lower():
            columns = _columns(cell[1] for cell in cells)
            continue
        for index, secret in columns.items():
            if index < len(cells):
                found += _value(text, *cells[index].span(1), secret)
    return found, end
