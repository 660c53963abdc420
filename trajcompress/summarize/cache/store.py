"""Summaries that were paid for, kept so that none is paid for twice."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

import msgspec

from trajcompress.errors import OutputError
from trajcompress.summarize.base import Summary, Usage

T = TypeVar("T", Summary, Usage)

_PATIENCE_S = 30.0
_LONGEST = 2**24  # bytes of a summary
_LARGEST = 2**53  # of a figure
SCHEMA = "CREATE TABLE IF NOT EXISTS summaries (key TEXT PRIMARY KEY, summary TEXT NOT NULL, usage TEXT NOT NULL)"
UNREADABLE = (ValueError, TypeError, RecursionError, msgspec.MsgspecError)
ALL = "SELECT key, summary, usage FROM summaries"


@dataclass(frozen=True, slots=True)
class Stored:
    """A summary and what it cost."""

    summary: Summary
    usage: Usage


class SummaryStore:
    """Summaries by key, in an SQLite file that several runs may share. Safe to use from several threads.

    What is added survives the death of the process at any moment; of what was added in the last instants before the
    machine itself loses power, some may be gone. What is there and cannot be read counts as not there, and gives way
    to what is added; ``note`` is called once.

    Raises:
        OutputError: the file cannot be used.
    """

    is_remote = False
    """Whether to add something takes so long that an event loop should not wait for it."""

    def __init__(self, path: Path, note: Callable[[str], None] = lambda _: None) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._note = note
        self._unreadable: set[str] = set()
        self._has_noted = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with ExitStack() as undo:
                connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=_PATIENCE_S)
                self._db = undo.enter_context(closing(connection))
                self._db.text_factory = bytes  # else text that is no UTF-8 is an error of the whole file
                _write_ahead(self._db)
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.execute(SCHEMA)
                undo.pop_all()  # it stays open
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
            raise OutputError(
                f"{self._path}: cannot be read: {error}; repair it or move it away, and go on"
            ) from error
        if row is None:
            return None
        try:
            return read_stored(*row)
        except UNREADABLE:
            if not self._has_noted:
                self._has_noted = True
                self._note(
                    f"{self._path}: a summary in it cannot be read; it, and others like it, are asked for again"
                )
            self._unreadable.add(key)
            return None

    def remove(self, key: str) -> None:
        """Forget what was added under this key.

        Raises:
            OutputError: the file cannot be written.
        """
        try:
            with self._lock:
                self._db.execute("DELETE FROM summaries WHERE key = ?", (key,))
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: cannot be written: {error}; make room and go on") from error

    def paid_for(self, row_id: str) -> Usage:
        """Add up what was paid for a row of the run whose summaries these are.

        Raises:
            OutputError: the file cannot be read.
        """
        begin, end = f"{row_id}\n", f"{row_id}\v"  # all keys of the row, and no others
        try:
            with self._lock:
                rows = self._db.execute(f"{ALL} WHERE key >= ? AND key < ?", (begin, end)).fetchall()
        except sqlite3.Error as error:
            raise OutputError(
                f"{self._path}: cannot be read: {error}; repair it or move it away, and go on"
            ) from error
        paid = Usage()
        for _, summary, usage in rows:
            with suppress(*UNREADABLE):
                paid.add(read_stored(summary, usage).usage)
        return paid

    def usages(self) -> Iterator[Usage]:
        """Yield what was paid for each summary, and for tries that gave none."""
        for _, summary, usage in self.written():
            with suppress(*UNREADABLE):
                yield read_stored(summary.encode(), usage.encode()).usage

    def written(self) -> Iterator[tuple[str, str, str]]:
        """Yield all keys, with what was added under them as :func:`written_stored` gives it; not what is damaged."""
        with self._lock:
            rows = self._db.execute(ALL).fetchall()
        for row in rows:
            with suppress(UnicodeDecodeError):
                key, summary, usage = (each.decode() for each in row)
                yield key, summary, usage

    def is_empty(self) -> bool:
        """Tell whether nothing was ever added."""
        with self._lock:
            return self._db.execute("SELECT 1 FROM summaries LIMIT 1").fetchone() is None

    def add(self, key: str, stored: Stored, *, instead_of: Stored | None = None) -> None:
        """Keep a summary; the first one under a key stays, if it could be read and is not ``instead_of``.

        Raises:
            OutputError: the disk is full, or the file cannot be written.
        """
        values = (key, *written_stored(stored))
        try:
            with self._lock:
                if key in self._unreadable or (instead_of is not None and self._holds(key, instead_of)):
                    self._db.execute("DELETE FROM summaries WHERE key = ?", (key,))
                    self._unreadable.discard(key)
                self._db.execute("INSERT OR IGNORE INTO summaries (key, summary, usage) VALUES (?, ?, ?)", values)
        except sqlite3.Error as error:
            raise OutputError(f"{self._path}: a summary cannot be kept: {error}; make room and go on") from error

    def _holds(self, key: str, stored: Stored) -> bool:
        old = self._db.execute("SELECT summary FROM summaries WHERE key = ?", (key,)).fetchone()
        with suppress(*UNREADABLE):
            return old is not None and _read(Summary, old[0]) == stored.summary
        return True

    def take_over(self, path: Path) -> int:
        """Add what can be read of a damaged store, and return how much that was.

        Raises:
            OutputError: as :meth:`add`.
        """
        taken = set()
        for order in ("ASC", "DESC"):  # up to the first page that is damaged, from either end
            with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as damaged:
                damaged.text_factory = bytes
                for key, summary, usage in damaged.execute(f"{ALL} ORDER BY rowid {order}"):
                    if key in taken:
                        break
                    with suppress(AttributeError, *UNREADABLE):
                        self.add(key.decode(), read_stored(summary, usage))
                        taken.add(key)
        return len(taken)

    def fetch(self) -> None:
        """Bring what is kept elsewhere alone into the file: nothing."""

    def close(self) -> None:
        """Close the file, its write-ahead log folded in."""
        with self._lock:
            self._db.close()


def written_stored(stored: Stored) -> tuple[str, str]:
    """Return the texts of a summary and of what it cost."""
    return _written(stored.summary), _written(stored.usage)


def read_stored(summary: bytes, usage: bytes) -> Stored:
    """Read a summary and what it cost.

    Raises:
        ValueError, TypeError, RecursionError, MsgspecError: they are none.
    """
    return Stored(_read(Summary, summary), _read(Usage, usage))


def _written(value: Summary | Usage) -> str:
    """Return the JSON text of a flat dataclass."""
    return json.dumps({field.name: getattr(value, field.name) for field in fields(value)})


def _read(kind: type[T], text: bytes) -> T:
    """Read a dataclass that another version may have written: with fields that are unknown here, or without some.

    Raises:
        ValueError, TypeError, RecursionError, MsgspecError: it is none.
    """
    if len(text) > _LONGEST:
        raise ValueError("no summary is as long")
    value = msgspec.convert(json.loads(text), kind)
    numbers = [number for name in value.__slots__ if isinstance(number := getattr(value, name), int | float)]
    if not all(0 <= number < _LARGEST for number in numbers):
        raise ValueError("no summary costs as much")
    return value


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
