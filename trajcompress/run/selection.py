"""Which rows of the input a run takes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.streams import Progress


@dataclass(frozen=True, slots=True)
class Selection:
    """All rows, a share of them, or the first few."""

    limit: int | None = None
    sample_percent: float | None = None
    seed: int = 42

    def takes(self, source: Source, index: int) -> bool:
        """Tell whether the sample holds this row: by a hash of where it stands, so that order does not matter."""
        if self.sample_percent is None:
            return True
        identity = f"{self.seed}\0{source.path.name if source.path else source.name}\0{index}"
        digest = hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest) * 100 < self.sample_percent * 2**64


@dataclass(frozen=True, slots=True)
class Item:
    """Something read, and where it was read from."""

    source: Source
    read: Row | Unreadable


def select_rows(
    sources: list[Source], selection: Selection, done: dict[str, int], progress: Progress
) -> Iterator[Item]:
    """Read the selected rows of all sources in order.

    Args:
        sources: in input order.
        selection: which rows to take.
        done: how many selected rows of each source, by name, an earlier try has finished.
        progress: told the bytes read so far over all sources.
    """
    before = 0
    taken = sum(done.values())
    for source in sources:
        skip = done.get(source.name, 0)
        for read in read_rows(source, progress=partial(_report, progress, before)):
            if not selection.takes(source, read.index):
                continue
            if skip:
                skip -= 1
                continue
            if selection.limit is not None and taken >= selection.limit:
                return
            taken += 1
            yield Item(source, read)
        before += source.size or 0
        progress(before)


def _report(progress: Progress, before: int, read: int) -> None:
    progress(before + read)
