"""Summaries of a run that another one replaces in its folder: kept by what was asked for, whatever row asked."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from trajcompress.errors import OutputError
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.cache.store import ALL, SCHEMA

_DIGEST = 64
"""Characters that a key ends with, of what was asked for."""
_OF_ROW = late_re(rf"\n([0-9a-f]{{{_DIGEST}}})\Z")
_ADD = "INSERT OR IGNORE INTO summaries VALUES (?, ?, ?)"
_MOST = 1_000


def keep_replaced(summaries: Path, replaced: Path) -> None:
    """Move the summaries of a run to where the run that replaces it finds them; of a damaged file what can be read.

    Failures are not kept: they are asked for again.

    Args:
        summaries: The summaries of the run, by row and request.
        replaced: Those of runs that were replaced, by request.

    Raises:
        OutputError: the disk is full, or a file cannot be written.
    """
    if not summaries.exists():
        return
    try:
        with closing(sqlite3.connect(replaced)) as to:
            to.execute(SCHEMA)
            with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(summaries)) as of:
                of.text_factory = bytes
                found = of.execute(ALL)
                while rows := found.fetchmany(_MOST):
                    with to:
                        to.executemany(_ADD, filter(None, map(_moved, rows)))
        for path in summaries.parent.glob(f"{summaries.name}*"):
            path.unlink()
    except (OSError, sqlite3.Error) as error:
        raise OutputError(f"{replaced}: cannot be written: {error}; make room and go on") from error


def count_kept(*stores: Path) -> int:
    """Return how many summaries stores keep, one that several of them keep once; 0 of those that cannot be read."""
    asked: set[str] = set()
    for path in filter(Path.exists, stores):
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
            asked.update(key[-_DIGEST:] for (key,) in db.execute("SELECT key FROM summaries"))
    return len(asked)


def _moved(row: tuple[bytes, bytes, bytes]) -> tuple[str, str, str] | None:
    try:
        key, summary, usage = (value.decode() for value in row)
    except UnicodeDecodeError:
        return None
    asked = _OF_ROW.search(key)
    return (asked[1], summary, usage) if asked else None
