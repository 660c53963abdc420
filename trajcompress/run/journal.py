"""The journal of a run: which parts are committed, and every summary that was paid for.

An SQLite database in WAL mode. A part counts as written when its line is here and not before: whatever lies in the
run folder without one is the debris of a kill, and is removed on resume. A summary is here before anything is made of
it, so that no kill makes it be paid for twice.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trajcompress.errors import OutputError
from trajcompress.summarize.base import Summary, Usage

_SCHEMA = """
CREATE TABLE IF NOT EXISTS parts (
    number INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    items INTEGER NOT NULL,
    data_file TEXT,
    totals TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS summaries (
    row TEXT NOT NULL,
    request TEXT NOT NULL,
    summary TEXT NOT NULL,
    usage TEXT NOT NULL,
    PRIMARY KEY (row, request)
);
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A committed part: ``items`` rows and rejected lines of one source, in order.

    ``totals`` are those of the whole run after it, from which a resumed run goes on.
    """

    number: int
    source: str
    items: int
    data_file: str | None
    totals: Any


class Journal:
    """The journal, open. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise OutputError(f"{path}: cannot be used: {error}; start again with --overwrite") from error
        self._lock = threading.Lock()

    def parts(self) -> list[Part]:
        """Return the committed parts in order."""
        with self._lock:
            rows = self._db.execute("SELECT * FROM parts ORDER BY number").fetchall()
        return [
            Part(number, source, items, data_file, json.loads(totals))
            for number, source, items, data_file, totals in rows
        ]

    def add_part(self, part: Part) -> None:
        """Commit a part whose files are already durable."""
        values = (
            part.number,
            part.source,
            part.items,
            part.data_file,
            json.dumps(part.totals),
        )
        with self._lock:
            self._db.execute("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", values)

    def find_summary(self, row: str, request: str) -> tuple[Summary, Usage] | None:
        """Return what was recorded for this request of this row."""
        with self._lock:
            found = self._db.execute(
                "SELECT summary, usage FROM summaries WHERE row = ? AND request = ?", (row, request)
            ).fetchone()
        return (Summary(**json.loads(found[0])), Usage(**json.loads(found[1]))) if found else None

    def add_summary(self, row: str, request: str, summary: Summary, usage: Usage) -> None:
        """Record a summary and what it cost."""
        values = (row, request, json.dumps(asdict(summary)), json.dumps(asdict(usage)))
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO summaries VALUES (?, ?, ?, ?)", values)

    def close(self) -> None:
        """Close the database, its write-ahead log folded in."""
        with self._lock:
            self._db.close()
