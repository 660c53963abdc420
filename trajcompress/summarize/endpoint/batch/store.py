"""The requests of batches and the replies to them, in an SQLite file that survives the process.

A request is known by a digest of its body, so a row that is worked on again finds the reply to what it asked before.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from trajcompress.errors import OutputError
from trajcompress.summarize.answer import Answer

MOST_TRIES = 2
"""Batches that a request is sent with before it counts as unanswered."""

_ROUND = "a round has ended"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    row TEXT NOT NULL,
    model TEXT NOT NULL,
    body BLOB NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    batch INTEGER,
    last INTEGER,
    reply BLOB
);
CREATE INDEX IF NOT EXISTS requests_of_batch ON requests (batch);
CREATE TABLE IF NOT EXISTS batches (
    number INTEGER PRIMARY KEY,
    requests INTEGER NOT NULL,
    file TEXT,
    id TEXT,
    ended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS settled (name TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS awaiting (row TEXT PRIMARY KEY);
"""


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The server answered a request with an HTTP error; ``words`` are what it says, free of secrets."""

    status: int
    codes: tuple[str, ...]
    param: str | None
    words: str


class Answered(msgspec.Struct, frozen=True, tag=True):
    """The server answered a request, with a batch (at half the price) or by itself."""

    answer: Answer
    batched: bool = True


Reply: TypeAlias = Answered | Refused
_DECODER = msgspec.json.Decoder(Reply)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of requests; ``id`` and ``file`` are the endpoint's names for it and its upload, once there are."""

    number: int
    requests: int
    file: str | None
    id: str | None


def request_id(body: bytes) -> str:
    """Return the name of a request, by which its reply is found: a digest of its body."""
    return hashlib.sha256(body).hexdigest()[:48]


class BatchStore:
    """Requests, batches and replies. Safe to use from several threads.

    Raises:
        OutputError: the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with self._saying(), ExitStack() as undo:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db = undo.enter_context(closing(connection))
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(_SCHEMA)
            undo.pop_all()  # it stays open

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def find(self, name: str) -> Reply | Literal["unanswered"] | None:
        """Return the reply to a request; None where it is still to be had."""
        with self._using() as db:
            row = db.execute("SELECT reply, tries, batch FROM requests WHERE id = ?", (name,)).fetchone()
        if row is None:
            return None
        reply, tries, batch = row
        if reply is not None:
            read: Reply = _DECODER.decode(reply)
            return read
        return "unanswered" if batch is None and tries >= MOST_TRIES else None

    def want(self, name: str, row: str, model: str, body: bytes) -> None:
        """Note that a request is to be sent with the next batch; once is enough."""
        with self._using() as db:
            db.execute(
                "INSERT OR IGNORE INTO requests (id, row, model, body) VALUES (?, ?, ?, ?)", (name, row, model, body)
            )

    def answer(self, name: str, row: str, model: str, reply: Reply) -> None:
        """Keep the reply to a request that was sent by itself."""
        with self._using() as db:
            db.execute(
                "INSERT OR REPLACE INTO requests (id, row, model, body, tries, reply) VALUES (?, ?, ?, x'', 0, ?)",
                (name, row, model, msgspec.json.encode(reply)),
            )

    def form_batches(self, most_requests: int, most_bytes: int, *, overhead: int) -> list[Batch]:
        """Put all that is wanted into batches, and return these and others that are open.

        Args:
            most_requests: In one batch.
            most_bytes: Of one batch.
            overhead: Bytes that each request takes besides its body.
        """
        with self._using() as db, db:
            db.execute("BEGIN")
            wanted = db.execute(
                "SELECT rowid, model, length(body) + ? FROM requests "
                "WHERE reply IS NULL AND batch IS NULL AND tries < ? ORDER BY model, rowid",
                (overhead, MOST_TRIES),
            ).fetchall()
            for group in _groups(wanted, most_requests, most_bytes):
                number = db.execute("INSERT INTO batches (requests) VALUES (?)", (len(group),)).lastrowid
                db.executemany(
                    "UPDATE requests SET batch = ?, tries = tries + 1 WHERE rowid = ?",
                    [(number, rowid) for rowid in group],
                )
        return self.open_batches()

    def open_batches(self) -> list[Batch]:
        """Return the batches whose replies are not in yet, in order."""
        columns = "number, requests, file, id"
        with self._using() as db:
            rows = db.execute(f"SELECT {columns} FROM batches WHERE NOT ended ORDER BY number").fetchall()  # noqa: S608 - our own
        return [Batch(*row) for row in rows]

    def requests_of(self, batch: Batch) -> Iterator[tuple[str, bytes]]:
        """Yield the names and bodies of a batch's requests, in order."""
        last = 0
        while True:
            with self._using() as db:
                rows = db.execute(
                    "SELECT rowid, id, body FROM requests WHERE batch = ? AND rowid > ? ORDER BY rowid LIMIT 256",
                    (batch.number, last),
                ).fetchall()
            if not rows:
                return
            last = rows[-1][0]
            yield from ((name, body) for _, name, body in rows)

    def note_upload(self, batch: Batch, file: str) -> None:
        """Note what the endpoint calls the file of a batch."""
        with self._using() as db:
            db.execute("UPDATE batches SET file = ? WHERE number = ?", (file, batch.number))

    def note_created(self, batch: Batch, name: str) -> None:
        """Note what the endpoint calls a batch."""
        with self._using() as db:
            db.execute("UPDATE batches SET id = ? WHERE number = ?", (name, batch.number))

    def end(self, batch: Batch, replies: Iterable[tuple[str, Reply]]) -> int:
        """Keep the replies of a batch, which has ended; return of how many of its requests there is none.

        Those can be sent with another batch. Replies to what was not in the batch are left out.
        """
        with self._using() as db, db:
            db.execute("BEGIN")
            db.executemany(
                "UPDATE requests SET reply = ?, body = x'' WHERE id = ? AND batch = ? AND reply IS NULL",
                ((msgspec.json.encode(reply), name, batch.number) for name, reply in replies),
            )
            missing: int = db.execute(
                "SELECT count(*) FROM requests WHERE batch = ? AND reply IS NULL", (batch.number,)
            ).fetchone()[0]
            db.execute("UPDATE requests SET batch = NULL, last = ? WHERE batch = ?", (batch.number, batch.number))
            db.execute("UPDATE batches SET ended = 1 WHERE number = ?", (batch.number,))
        return missing

    def give_back(self, batch: Batch) -> None:
        """Let a batch that has ended count for nothing, as the endpoint refused whatever was asked."""
        with self._using() as db:
            db.execute("UPDATE requests SET tries = tries - 1 WHERE last = ? AND reply IS NULL", (batch.number,))

    def awaiting(self) -> frozenset[str] | None:
        """Return the rows that waited for replies when all were last worked on; None where that never ended."""
        with self._using() as db:
            if db.execute("SELECT 1 FROM settled WHERE name = ?", (_ROUND,)).fetchone() is None:
                return None
            return frozenset(row for (row,) in db.execute("SELECT row FROM awaiting"))

    def end_round(self, awaiting: Iterable[str]) -> None:
        """Note that all rows were worked on, and which of them wait for replies."""
        with self._using() as db, db:
            db.execute("BEGIN")
            db.execute("DELETE FROM awaiting")
            db.executemany("INSERT INTO awaiting VALUES (?)", ((row,) for row in awaiting))
            db.execute("INSERT OR IGNORE INTO settled VALUES (?)", (_ROUND,))

    def settled(self) -> frozenset[str]:
        """Return what was noted with :meth:`settle`."""
        with self._using() as db:
            return frozenset(name for (name,) in db.execute("SELECT name FROM settled"))

    def settle(self, name: str) -> None:
        """Note for good that something about the endpoint is known."""
        with self._using() as db:
            db.execute("INSERT OR IGNORE INTO settled VALUES (?)", (name,))

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        with self._saying(), self._lock:
            yield self._db

    @contextmanager
    def _saying(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise OutputError(
                f"{self._path}: cannot be used: {error}; make room or move it away, and go on"
            ) from error


def _groups(wanted: Sequence[tuple[int, str, int]], most_requests: int, most_bytes: int) -> Iterator[list[int]]:
    group: list[int] = []
    model, size = "", 0
    for rowid, of, length in wanted:
        if group and (of != model or len(group) == most_requests or size + length > most_bytes):
            yield group
            group, size = [], 0
        model = of
        group.append(rowid)
        size += length
    if group:
        yield group
