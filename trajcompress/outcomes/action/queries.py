"""Statements that a call passes to a database: without comments, and whether they change its records. Pure."""

from __future__ import annotations

import re
from typing import Any

from trajcompress.processes.late_patterns import late_re

_KEYS = ("sql", "query", "statement", "sql_query")
_COMMENT = late_re(r"^[ \t]{0,40}--[^\n]*(?:\n|\Z)", re.MULTILINE)
_CHANGES = (
    r"\s{0,40}(?:(?:INSERT|REPLACE|MERGE)\s+INTO\s|UPDATE\s+\S{1,200}\s+SET\s|DELETE\s+FROM\s"
    r"|(?:CREATE|ALTER|DROP|TRUNCATE)\s+(?:OR\s+REPLACE\s+)?(?:(?:TEMP|TEMPORARY|UNIQUE|MATERIALIZED)\s+)?"
    r"(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA|SEQUENCE|TRIGGER|FUNCTION|PROCEDURE|TYPE|ROLE|USER)\b)"
)
_STATEMENT, _SHOUTED = late_re(_CHANGES, re.IGNORECASE), late_re(_CHANGES)
_ANY_QUERY = "query"  # may as well be what is searched for, in words


def bare_statements(data: dict[str, Any]) -> dict[str, Any]:
    r"""Return arguments with their statements without the lines that are comments, if anything else is there.

    On one line what follows would pass for a part of them.

    >>> bare_statements({"sql": "-- how many\nSELECT count(*) FROM a"})
    {'sql': 'SELECT count(*) FROM a'}
    """
    bare = {
        key: said
        for key in _KEYS
        if isinstance(text := data.get(key), str) and "--" in text and (said := _COMMENT.sub("", text)).strip()
    }
    return {**data, **bare} if bare else data


def changes_records(data: dict[str, Any]) -> bool:
    """Whether a statement among arguments begins with one that changes records or tables."""
    return any(
        isinstance(text := data.get(key), str)
        and (_SHOUTED if key == _ANY_QUERY else _STATEMENT).match(text) is not None
        for key in _KEYS
    )
