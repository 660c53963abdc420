"""Claims on summaries that are being asked for: no two runs with one cache pay for the same at the same time."""

from __future__ import annotations

import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LEASE_S = 15.0
"""How long a claim holds that is not renewed: that of a process which was killed."""
_RENEWALS = 3  # within a lease
_PATIENCE_S = 5.0
_SCHEMA = "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, expires REAL NOT NULL)"
_CLAIM = (
    "INSERT INTO claims VALUES (:key, :owner, :expires) ON CONFLICT (key) DO UPDATE "
    "SET owner = :owner, expires = :expires WHERE expires < :now OR expires > :latest"
)


class Claims:
    """Who asks for what, by key, in an SQLite file of one machine. Safe to use from several threads.

    While claims are held a thread renews them. Where the file cannot be used, ``note`` is called once, and whoever
    claims something gets it.
    """

    def __init__(self, path: Path, note: Callable[[str], None] = lambda _: None) -> None:
        self._lock = threading.Lock()
        self._path = path
        self._note = note
        self._owner = secrets.token_hex(8)
        self._held: set[str] = set()
        self._closed = threading.Event()
        self._renewing: threading.Thread | None = None
        self._db: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=_PATIENCE_S)
            self._db.execute("PRAGMA synchronous=OFF")  # what a loss of power takes has no owner either
            self._db.execute(_SCHEMA)
            self._db.execute("DELETE FROM claims WHERE expires < ?", (time.time(),))
        except (OSError, sqlite3.Error) as error:
            self._go_on_without(error)

    def take(self, key: str) -> bool:
        """Claim a key; tell whether it is ours now. It is not where anybody else holds it, be it in this process."""
        with self._lock:
            if key in self._held:
                return False
            if self._db is not None:
                now = time.time()
                # A lease that ends later than any was made by a clock that has been set back since.
                claim = {"key": key, "owner": self._owner, "expires": now + LEASE_S, "now": now}
                try:
                    if not self._db.execute(_CLAIM, claim | {"latest": now + 2 * LEASE_S}).rowcount:
                        return False
                except sqlite3.Error as error:
                    self._go_on_without(error)
            self._held.add(key)
            if self._renewing is None:
                self._renewing = threading.Thread(target=self._renew, name="claims", daemon=True)
                self._renewing.start()
            return True

    def release(self, key: str) -> None:
        """Give a key back that was taken."""
        with self._lock:
            self._held.discard(key)
            if self._db is not None:
                with suppress(sqlite3.Error):  # it expires
                    self._db.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))

    def close(self) -> None:
        """Give back all that is held."""
        self._closed.set()
        if self._renewing is not None:
            self._renewing.join()
        with self._lock:
            if self._db is not None:
                with suppress(sqlite3.Error):
                    self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
                self._db.close()
                self._db = None

    def _renew(self) -> None:
        while not self._closed.wait(LEASE_S / _RENEWALS):
            with self._lock:
                if self._db is not None and self._held:
                    with suppress(sqlite3.Error):  # the next time
                        self._db.execute(
                            "UPDATE claims SET expires = ? WHERE owner = ?", (time.time() + LEASE_S, self._owner)
                        )

    def _go_on_without(self, error: Exception) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None
        self._note(
            f"cache: {self._path}: cannot be used: {error}; other runs may pay for the same summaries meanwhile"
        )
