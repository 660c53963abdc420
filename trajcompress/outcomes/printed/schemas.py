"""The schema of a database, as statements that make its tables: each with its own columns."""

from __future__ import annotations

import re
from itertools import islice

from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.processes.late_patterns import late_re

_TABLE = late_re(r"\bCREATE (?:\w{1,20} ){0,2}TABLE (?:IF NOT EXISTS )?([^\s(]{1,120}) ?\(", re.IGNORECASE)
_NO_COLUMN = late_re(  # columns may be called key or index, too, and mostly in small letters
    r"(?:PRIMARY|FOREIGN|CONSTRAINT|UNIQUE|CHECK|EXCLUDE|FULLTEXT|SPATIAL|primary|foreign|constraint|unique|check"
    r"|KEY|INDEX)\b"
)
_WORDS = late_re(r"--[^\n]{0,400}|/\*[^*]{0,400}\*/|'[^'\n]{0,400}'")  # comments and strings
_QUOTES = '`"[]'
_LEAST_TABLES, _MOST_TABLES, _MOST_USED = 2, 200, 4
_PARTS = late_re(r"[(),]")
_SHARE = 0.6  # of a text are statements, or it is none


def schema_of(body: str, later: Later) -> list[str]:
    """Return the tables of a schema with their columns, those first that later turns use; nothing of another text."""
    heads = list(islice(_TABLE.finditer(body), _MOST_TABLES)) if "CREATE " in body or "create " in body else []
    if len(heads) < _LEAST_TABLES:
        return []
    statements = _WORDS.sub(lambda words: " " * len(words[0]), body)
    ends = [*(head.start() for head in heads[1:]), len(body)]
    found = [_columns(statements, head.end(), end) for head, end in zip(heads, ends, strict=True)]
    spans = [(head.start(), end) for head, (_, end) in zip(heads, found, strict=True)]
    if sum(end - start for start, end in spans) < _SHARE * len(body):
        return []
    places = [each.start for each in lines_used(body, later, _MOST_USED)]
    used, others = list[str](), list[str]()
    for head, (names, _), (start, end) in zip(heads, found, spans, strict=True):
        tables = used if any(start <= place < end for place in places) else others
        tables.append(f"{head[1].strip(_QUOTES)}({', '.join(names)})")
    return [*used, *others]


def _columns(statements: str, start: int, end: int) -> tuple[list[str], int]:
    """Return the columns of a table whose parenthesis opens before a place, and where that ends."""
    depth, begins, names = 1, start, list[str]()
    for sign in _PARTS.finditer(statements, start, end):
        depth += {"(": 1, ")": -1}.get(sign[0], 0)
        if depth == 0 or (depth == 1 and sign[0] == ","):
            first = statements[begins : sign.start()].split(None, 1)[:1]
            names += [name.strip(_QUOTES) for name in first if not _NO_COLUMN.match(name)]
            begins = sign.end()
        if depth == 0:
            return names, sign.end()
    return names, end
