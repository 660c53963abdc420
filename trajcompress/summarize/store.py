"""Summaries that were paid for, kept so that none is paid for twice."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

from trajcompress.errors import OutputError
from trajcompress.summarize.base import Summary, Usage

T = TypeVar("T", Summary, Usage)

_PATIENCE_S = 30.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS summaries (key TEXT PRIMARY KEY, summary TEXT NOT NULL, usage TEXT NOT NULL)"


@dataclass(frozen=True, slots=True)
class Stored:
    """A summary and what it cost."""

    summary: Summary
    usage: Usage


class SummaryStore:
    """Summaries by key, in an SQLite file that several runs may share. Safe to use from several threads.

    What is added survives the death of the process at any moment; of what was added in the last instants before the
    machine itself loses power, some may be gone.

    Raises:
        OutputError: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=_PATIENCE_S)
            _write_ahead(self._db)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"{path}: cannot be used: {error}; move it away, or name another folder") from error

    def find(self, key: str) -> Stored | None:
        """Return what was added under this key.

        Raises:
            OutputError: the file cannot be read.
        """
        try:
            with self._lock:
                row = self._db.execute("SELECT summary, usage FROM summaries WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: cannot be read: {error}; mend it or move it away, and go on") from error
        return Stored(_read(Summary, row[0]), _read(Usage, row[1])) if row else None

    def is_empty(self) -> bool:
        """Tell whether nothing was ever added."""
        with self._lock:
            return self._db.execute("SELECT 1 FROM summaries LIMIT 1").fetchone() is None

    def add(self, key: str, stored: Stored, *, instead_of: Stored | None = None) -> None:
        """Keep a summary; the first one under a key stays, unless it is ``instead_of``, which cannot be used.

        Raises:
            OutputError: the disk is full, or the file cannot be written.
        """
        values = (key, _written(stored.summary), _written(stored.usage))
        try:
            with self._lock:
                if instead_of is not None:
                    old = self._db.execute("SELECT summary FROM summaries WHERE key = ?", (key,)).fetchone()
                    if old and _read(Summary, old[0]) == instead_of.summary:
                        self._db.execute("DELETE FROM summaries WHERE key = ? AND summary = ?", (key, old[0]))
                self._db.execute("INSERT OR IGNORE INTO summaries VALUES (?, ?, ?)", values)
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: a summary cannot be kept: {error}; make room and go on") from error

    def close(self) -> None:
        """Close the file, its write-ahead log folded in."""
        with self._lock:
            self._db.close()


def _written(value: Summary | Usage) -> str:
    """Return the JSON text of a flat dataclass."""
    return json.dumps({field.name: getattr(value, field.name) for field in fields(value)})


def _read(kind: type[T], text: str) -> T:
    """Read a dataclass that another version may have written: with fields that are unknown here, or without some."""
    values = json.loads(text)
    return kind(**{field.name: values[field.name] for field in fields(kind) if field.name in values})


def _write_ahead(db: sqlite3.Connection) -> None:
    """Turn the write-ahead log on. SQLite's own timeout does not cover this where several processes do it at once."""
    give_up = time.monotonic() + _PATIENCE_S
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.01)
        else:
            return
