"""Secrets in a column that only a query or a table's definition names: ``SELECT name, password`` and ``bob|letmein``.

Databases print rows without their header (``sqlite3``, ``psql -tA``, ``mysql -NB``, a cursor's tuples), and dumps
insert them without names. The query stands in one turn, the rows in the next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.context import ANSWERS, answer_of, output_of
from trajcompress.redact.keys import Secret, secret_of
from trajcompress.redact.known import Line
from trajcompress.redact.spans import Span
from trajcompress.redact.values import Style, is_secret

QUERIES = (b"select ", b"select\n", b"select\\n", b"create table", b"copy ", b'columns":', b'columns\\":')
"""What a text is searched for that may name the columns of rows without a header."""

_ESCAPES = late_re(r"\\+[nrt]|\\+")
_GAP = r"(?:\s|\\+[nrt])+"  # also in JSON
_TABLE = r"(?P<table>[\w.\"'`\[\]\\]{1,80})"
_SELECT = late_re(
    rf"(?:(?<!\w)|(?<=\\[nrt]))select{_GAP}(?:(?:distinct|all|top{_GAP}\d{{1,9}}){_GAP})?"
    rf"(?P<columns>(?:(?!\bselect\b)[^;]){{1,600}}?){_GAP}from{_GAP}{_TABLE}",
    re.IGNORECASE,
)
_CREATE = late_re(
    rf"(?:(?<!\w)|(?<=\\[nrt]))create{_GAP}table{_GAP}(?:if{_GAP}not{_GAP}exists{_GAP})?{_TABLE}(?:{_GAP})?\(",
    re.IGNORECASE,
)
_COPY = late_re(r"\bCOPY (?P<table>[\w.\"]{1,80}) \((?P<columns>[^()\n]{1,600})\) FROM stdin;$", re.MULTILINE)
_INSERT = late_re(r"\binsert\s+into\s+(?P<table>[\w.\"'`\[\]]{1,80})\s+values\s*(?=\()", re.IGNORECASE)
_INSERTS = late_re(r"insert\s+into", re.IGNORECASE)
_COLUMNS = late_re(r"columns\\*\":\s?\[(?P<columns>[^\[\]{}]{1,600})\]")
_CONSTRAINTS = frozenset({"primary", "foreign", "unique", "constraint", "check", "key", "index", "fulltext"})
_PLAIN = late_re(r"[\w.*]+(?:\s+(?:as\s+)?\w+)?", re.IGNORECASE)
_SAME = late_re(r"(?:hex|quote|trim|lower|upper|ifnull|coalesce|nullif|convert|cast|decrypt|substr)\(", re.IGNORECASE)
_JOINED = late_re(r"\|\||\b(?:group_)?concat(?:_ws)?\(|\bstring_agg\(", re.IGNORECASE)
_WORD = late_re(r"[A-Za-z_][\w.]*")
_CSV = late_re(r"\bcsv\b", re.IGNORECASE)
_NUMBERED = late_re(r"[ ]+\d+\t")  # as cat -n prints files
_QUOTED = r"[bu]?\\*'[^'\n\\]{0,200}\\*'|[bu]?\\*\"[^\"\n\\]{0,200}\\*\""
_LITERAL = late_re(rf"\s*(?:{_QUOTED}|[-+\d.]{{1,40}}|none|null|true|false)\s*", re.IGNORECASE)
_TUPLE = late_re(rf"[(\[](?P<cells>(?:[^()\[\]'\"\\]|{_QUOTED}){{3,800}})[)\]]")
_PRINTED = late_re(r"[ ]{0,8}(?:\w{1,20}: ?)?[\[(]")  # a line of tuples alone; those in code stand behind a name
_JSON = late_re(r"\s*[\[{]")
_AROUND_CELL = " \t\r\n\"'\\"
_MOST_LINES = 300
_LONGEST_LINE = 2000
_LONGEST_DEFINITION = 4000
_LONGEST_INSERT = 20_000
_MOST_QUERIES = 20  # of a turn
_MOST_TABLES = 200
_PAIR = 2


class Layout(NamedTuple):
    """How many columns rows have, and which of them hold secrets."""

    width: int
    secrets: Mapping[int, Secret]


def queried(texts: Sequence[str], places: Iterable[int]) -> Iterator[Line]:
    """The rows with secrets that answer a query or follow a definition.

    Args:
        texts: what each turn says and calls.
        places: the turns that have one of ``QUERIES``.
    """
    places = list(places)
    tables = dict(islice(_defined(texts[index] for index in places), _MOST_TABLES))
    answers = _Answers(texts)
    for index in places:
        question = texts[index]
        csv = "," * (_CSV.search(question) is not None)
        for layout, end in _asked(question, tables):
            below = question.find("\n", end)  # the query's own line is no answer, whatever it is piped to
            yield from _rows(question[below:] if below >= 0 else "", layout, ("|", "│", "\t", *csv))
            for place in range(index + 1, min(index + 1 + ANSWERS, len(texts))):
                near = place == index + 1 or layout.width > _PAIR
                yield from _rows(answers[place][0], layout, ("|", "│", *("\t" * near), *csv))
                yield from _tuples(answers[place][1], layout)
        for listed in islice(_COLUMNS.finditer(question), _MOST_QUERIES):
            if listed_as := _layout(_ESCAPES.sub("", listed["columns"]).split(",")):
                yield from _tuples(answers[index][1], listed_as)
        if "COPY " in question:
            yield from _copied(answers[index][0])
    for index in range(len(texts) if tables else 0):
        if _INSERTS.search(texts[index]):
            yield from _inserted(answers[index][0], tables)


class _Answers(dict[int, tuple[str, str]]):
    """What commands printed, by turn, as lines and as JSON: of each it is found out once, if at all."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts

    def __missing__(self, index: int) -> tuple[str, str]:
        printed = answer_of(self._texts[index]).strip("\n")
        return self.setdefault(index, (output_of(printed), printed if _JSON.match(printed) else ""))


def _defined(texts: Iterable[str]) -> Iterator[tuple[str, Layout]]:
    """The tables that are defined, by their names."""
    for text in texts:
        done = 0
        for found in _CREATE.finditer(text):
            if found.start() < done:
                continue
            columns = _split(text[found.end() : found.end() + _LONGEST_DEFINITION])
            done = found.end() + sum(map(len, columns))
            columns = [_ESCAPES.sub(" ", column) for column in columns]
            names = [words[0] for column in columns if (words := _WORD.findall(column))]
            layout = _layout([name for name in names if name.lower() not in _CONSTRAINTS])
            if layout:
                yield _table_name(found["table"]), layout


def _table_name(written: str) -> str:
    return written.rpartition(".")[2].strip("\"'`[]\\").lower()


def _asked(question: str, tables: Mapping[str, Layout]) -> Iterator[tuple[Layout, int]]:
    """The layouts of the rows that queries give, and where each query names its table."""
    for found in islice(_SELECT.finditer(question), _MOST_QUERIES):
        columns = _ESCAPES.sub(" ", found["columns"])
        layout = tables.get(_table_name(found["table"])) if columns.strip() == "*" else _layout(_split(columns))
        if layout and layout.width >= _PAIR:
            yield layout, found.end()


def _layout(columns: Sequence[str]) -> Layout | None:
    named = {index: secret for index, column in enumerate(columns) if (secret := _secret_column(column))}
    return Layout(len(columns), named) if named else None


def _secret_column(column: str) -> Secret | None:
    """What a column of a query promises: of expressions only those that give the value."""
    column = column.strip().replace("`", "").replace('"', "").strip("'")
    if not (_PLAIN.fullmatch(column) or _SAME.match(column) or _JOINED.search(column)):
        return None
    secrets = (secret_of(word.rpartition(".")[2]) for word in _WORD.findall(column))
    return next((secret for secret in secrets if secret and secret.kind not in {"signature", "cookie"}), None)


def _split(columns: str) -> list[str]:
    """The columns of a list, up to the parenthesis that closes it."""
    parts: list[str] = []
    depth = start = 0
    for at, character in enumerate(columns):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        if depth < 0:
            return [*parts, columns[start:at]]
        if character == "," and depth == 0:
            parts.append(columns[start:at])
            start = at + 1
    return [*parts, columns[start:]]


def _rows(answer: str, layout: Layout, separators: Iterable[str]) -> Iterator[Line]:
    separators = tuple(separators)
    for line in _lines(answer):
        for separator in separators:
            cells = list(_cells(line, separator))
            if len(cells) == layout.width + 2 and line.lstrip().startswith(separator):  # within a frame
                cells = cells[1:-1]
            if len(cells) == layout.width and not (separator == "\t" and _NUMBERED.match(line)):
                yield from _line(line, cells, layout)
        for found in _TUPLE.finditer(line) if _PRINTED.match(line) else ():
            yield from _tuple(line, found, layout)


def _tuples(data: str, layout: Layout) -> Iterator[Line]:
    """The rows in JSON, one list for each."""
    for found in _TUPLE.finditer(data, 0, _LONGEST_INSERT):
        yield from _tuple(data, found, layout)


def _lines(answer: str) -> Iterator[str]:
    """The first lines of an answer."""
    return (line for line in answer.split("\n", _MOST_LINES)[:_MOST_LINES] if len(line) <= _LONGEST_LINE)


def _cells(line: str, separator: str) -> Iterator[tuple[int, int]]:
    at = 0
    for cell in line.split(separator):
        yield at, at + len(cell)
        at += len(cell) + len(separator)


def _line(line: str, cells: Sequence[tuple[int, int]], layout: Layout) -> Iterator[Line]:
    """The line with its secrets, if it has any."""
    spans = []
    for index, secret in layout.secrets.items():
        start, end = cells[index]
        start += len(line[start:end]) - len(line[start:end].lstrip(_AROUND_CELL))
        end -= len(line[start:end]) - len(line[start:end].rstrip(_AROUND_CELL))
        value = line[start:end]
        if '"' not in value and is_secret(value, secret.proof, Style.QUOTED):  # else JSON that is no table
            spans.append(Span(start, end, secret.kind))
    if spans:
        yield Line(line, tuple(spans))


def _tuple(text: str, found: re.Match[str], layout: Layout) -> Iterator[Line]:
    begin, end = found.span("cells")
    cells: list[tuple[int, int]] = []
    at = begin
    while len(cells) < layout.width and (cell := _LITERAL.match(text, at, end)):
        cells.append((cell.start() - begin, cell.end() - begin))
        at = cell.end() + 1
        if cell.end() >= end or text[cell.end()] != ",":
            break
    if len(cells) == layout.width and at > end:
        yield from _line(text[begin:end], cells, layout)


def _copied(text: str) -> Iterator[Line]:
    """The rows that ``pg_dump`` writes."""
    for found in islice(_COPY.finditer(text), _MOST_TABLES):
        layout = _layout(found["columns"].split(","))
        rows = text[found.end() : found.end() + _LONGEST_INSERT].partition("\n\\.")[0]
        if layout:
            yield from _rows(rows.strip("\n"), layout, "\t")


def _inserted(text: str, tables: Mapping[str, Layout]) -> Iterator[Line]:
    """The rows of statements that name no columns."""
    done = 0
    for found in _INSERT.finditer(text):
        layout = tables.get(_table_name(found["table"]))
        if layout and found.end() >= done:
            end = text.find("\n", found.end(), found.end() + _LONGEST_INSERT)
            done = end if end >= 0 else min(found.end() + _LONGEST_INSERT, len(text))
            for row in _TUPLE.finditer(text, found.end(), done):
                yield from _tuple(text, row, layout)
