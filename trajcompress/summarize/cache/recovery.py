"""Stores that may have been damaged since they were written: opened so that a run can go on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from trajcompress.errors import OutputError
from trajcompress.summarize.cache.store import Stored, SummaryStore

_MOST_BYTES = 2**40


def open_repaired(path: Path, note: Callable[[str], None]) -> SummaryStore:
    """Open the summaries of a run; of a damaged file what can be read is taken over, and the file is put aside.

    Raises:
        OutputError: the file cannot be used, or another process has locked it.
    """
    damage = _damage(path) if path.exists() else None
    if damage is None:
        return SummaryStore(path, note)
    aside = path.with_name(f"{path.name}.damaged")
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).replace(aside.with_name(aside.name + suffix))
    _lengthen(aside)
    store = SummaryStore(path, note)
    saved = store.take_over(aside)
    note(f"{path}: is damaged ({damage}); {saved:,} summaries of it are kept, others are asked for again")
    return store


def _damage(path: Path) -> str | None:
    """Say why a file is no store that can be read; None where it is one, or is locked."""
    try:
        with closing(sqlite3.connect(path)) as db:
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if found == "ok":
                db.execute("SELECT key, summary, usage FROM summaries LIMIT 1")
                return None
            return str(found).splitlines()[-1]
    except sqlite3.Error as error:
        table_is_missing = "no such table: summaries" in str(error)  # a kill came before there was one
        busy = error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN}
        return None if busy or table_is_missing else str(error)


def _lengthen(path: Path) -> None:
    """Give a file that was cut the length that it says it has: of a shorter one SQLite reads nothing."""
    with path.open("rb+") as file:
        head = file.read(32)
        page, pages = int.from_bytes(head[16:18]), int.from_bytes(head[28:32])
        if head.startswith(b"SQLite format 3") and path.stat().st_size < page * pages < _MOST_BYTES:
            file.truncate(page * pages)


class SummaryCache:
    """Summaries that several runs share; where the file cannot be used, runs go on without it, and say so once.

    Raises:
        OutputError: there is no such folder, and none can be made.
    """

    def __init__(self, path: Path, note: Callable[[str], None]) -> None:
        self._note = note
        self._store: SummaryStore | None = None
        self._is_writable = True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"--cache {path.parent}: {error.strerror}; name another folder") from error
        try:
            self._store = SummaryStore(path, note)
        except OutputError as error:
            self._go_on_without(error)

    def find(self, key: str) -> Stored | None:
        """Return what was added under this key, as far as it can be read."""
        if self._store is None:
            return None
        try:
            return self._store.find(key)
        except OutputError as error:
            self.close()
            self._go_on_without(error)
            return None

    def add(self, key: str, stored: Stored, *, instead_of: Stored | None = None) -> None:
        """Keep a summary, if the file can be written, also where there is ``instead_of``."""
        if self._store is None or not self._is_writable:
            return
        try:
            self._store.add(key, stored, instead_of=instead_of)
        except OutputError as error:
            self._is_writable = False
            self._note(f"cache: {error}; the run goes on and adds nothing to it")

    def close(self) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _go_on_without(self, error: OutputError) -> None:
        self._note(f"cache: {error}; the run goes on without it")
