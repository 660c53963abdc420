"""The journal of a run: which parts are committed.

An SQLite database in WAL mode. A part counts as written when its line is here and not before: whatever lies in the
run folder without one is the debris of a kill, and is written again on resume.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from trajcompress.errors import OutputError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS parts (
    number INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    next_index INTEGER NOT NULL,
    next_position INTEGER NOT NULL,
    data_file TEXT,
    rows INTEGER NOT NULL,
    totals TEXT NOT NULL
);
"""
_COLUMNS = "number, source, next_index, next_position, data_file, rows, totals"


@dataclass(frozen=True, slots=True)
class Part:
    """A committed part: the fate of consecutive rows of one source.

    ``next_index`` is the row of the source that comes after it, ``next_position`` the same in the whole input;
    ``totals`` are those of the whole run after it, from which a resumed run goes on.
    """

    number: int
    source: str
    next_index: int
    next_position: int
    data_file: str | None
    rows: int
    totals: Any


class Journal:
    """The journal, open. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
        except sqlite3.DatabaseError as error:
            raise OutputError(f"{path}: cannot be used: {error}; start again with --overwrite") from error
        self._lock = threading.Lock()

    def parts(self) -> list[Part]:
        """Return the committed parts in order.

        Raises:
            OutputError: the journal cannot be read.
        """
        try:
            with self._lock:
                found = self._db.execute(f"SELECT {_COLUMNS} FROM parts ORDER BY number").fetchall()  # noqa: S608 - our own
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: cannot be read: {error}; start again with --overwrite") from error
        return [
            Part(number, source, index, position, data_file, rows, json.loads(totals))
            for number, source, index, position, data_file, rows, totals in found
        ]

    def add_parts(self, parts: Iterable[Part]) -> None:
        """Commit parts whose files are already durable, all of them or none.

        Raises:
            OutputError: the disk is full, or the journal cannot be written.
        """
        lines = [(*astuple(part)[:-1], json.dumps(part.totals)) for part in parts]
        try:
            with self._lock, self._db:
                self._db.execute("BEGIN")
                self._db.executemany("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?)", lines)
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: cannot be written: {error}; make room and go on") from error

    def close(self) -> None:
        """Close the database, its write-ahead log folded in."""
        with self._lock:
            self._db.close()
