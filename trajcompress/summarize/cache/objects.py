"""The summaries of a run whose output lies in a store: each is an object there before it is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from trajcompress.dataset.storage.location import read_all
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import OutputError
from trajcompress.summarize.cache.store import UNREADABLE, Stored, SummaryStore, read_stored, written_stored


class ObjectRecord(SummaryStore):
    """Summaries in ``folder`` of a store, and in an SQLite file of this machine, which is asked first.

    So whoever goes on with the run finds them, on whatever machine.

    Raises:
        OutputError: the file or the folder cannot be used.
    """

    is_remote = True

    def __init__(self, path: Path, folder: StorePath, note: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(path, note)
        self._folder = folder
        try:
            self._there = {object_.name for object_ in folder.iterdir()}
        except OSError as error:
            raise OutputError(f"{folder}: cannot be read: {error.strerror}") from error

    def find(self, key: str) -> Stored | None:
        """Return what was added under this key, on this machine or another."""
        stored = super().find(key)
        if stored is not None or _name(key) not in self._there:
            return stored
        self._take_over([self._folder / _name(key)])
        return super().find(key)

    def fetch(self) -> None:
        """Bring what is in the store alone into the file."""
        self._take_over([self._folder / name for name in sorted(self._there)])

    def _take_over(self, objects: Sequence[StorePath]) -> None:
        for content in read_all(objects):
            if isinstance(content, FileNotFoundError):
                continue
            if isinstance(content, OSError):
                raise OutputError(f"{content.filename}: cannot be read: {content.strerror}") from content
            with suppress(*UNREADABLE):  # what cannot be read is asked for again
                key, summary, usage = json.loads(content)
                super().add(str(key), read_stored(summary, usage))

    def add(self, key: str, stored: Stored, *, instead_of: Stored | None = None) -> None:
        """Keep a summary here and in the store."""
        super().add(key, stored, instead_of=instead_of)
        text = json.dumps([key, *written_stored(stored)])
        try:
            (self._folder / _name(key)).write_bytes(text.encode())
        except OSError as error:
            raise OutputError(f"{error.filename}: a summary cannot be kept: {error.strerror}") from error

    def is_empty(self) -> bool:
        """Tell whether nothing was ever added."""
        return not self._there and super().is_empty()


def _name(key: str) -> str:
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}.json"
