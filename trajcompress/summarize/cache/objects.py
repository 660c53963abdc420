"""The summaries of a run that other machines find: each is an object or a file there before it is used."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from trajcompress.dataset.durable import write_durably
from trajcompress.dataset.storage.location import Location, read_all
from trajcompress.errors import OutputError
from trajcompress.summarize.cache.store import UNREADABLE, Stored, SummaryStore, read_stored, written_stored


class SummaryObjects(SummaryStore):
    """Summaries in ``folder`` of a store or of shared disks, and in an SQLite file of this machine, asked first.

    So whoever goes on with the run finds them, on whatever machine. Where ``others_add`` to the folder meanwhile, one
    is looked for there whatever it held at first.

    Raises:
        OutputError: the file or the folder cannot be used.
    """

    is_remote = True

    def __init__(
        self,
        path: Path,
        folder: Location,
        note: Callable[[str], None] = lambda _: None,
        *,
        others_add: bool = False,
    ) -> None:
        super().__init__(path, note)
        self._folder = folder
        self._others_add = others_add
        try:
            self._there = {object_.name for object_ in folder.iterdir()}
        except OSError as error:
            raise OutputError(f"{folder}: cannot be read: {error.strerror}") from error

    def find(self, key: str) -> Stored | None:
        """Return what was added under this key, on this machine or another."""
        stored = super().find(key)
        if stored is not None or not (self._others_add or _name(key) in self._there):
            return stored
        self._take_over([self._folder / _name(key)])
        return super().find(key)

    def fetch(self) -> None:
        """Bring what is in the store alone into the file."""
        self._take_over([self._folder / name for name in sorted(self._there)])

    def _take_over(self, objects: Sequence[Location]) -> None:
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
        self._put(key, *written_stored(stored))

    def give(self) -> None:
        """Put into the folder what is in the file alone."""
        for key, summary, usage in self.written():
            if _name(key) not in self._there:
                self._put(key, summary, usage)

    def _put(self, key: str, summary: str, usage: str) -> None:
        try:
            write_durably(self._folder / _name(key), json.dumps([key, summary, usage]).encode())
        except OSError as error:
            raise OutputError(f"{error.filename}: a summary cannot be kept: {error.strerror}") from error

    def is_empty(self) -> bool:
        """Tell whether nothing was ever added."""
        return not self._there and super().is_empty()


def _name(key: str) -> str:
    return f"{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}.json"
