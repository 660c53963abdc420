"""Selection of the rows that a run takes: a limit, a sample, a shard."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence

from msgspec import Struct

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Source
from trajcompress.errors import InputError
from trajcompress.settings import Settings
from trajcompress.settings.values import Shard

_HASHES = 2**64
_EVERYTHING = (_HASHES, 0)


class Selection(Struct, frozen=True):
    """All rows, or a share of them: ``limit`` at most, of a sample, of a shard, which has every Nth of the input.

    In the sample are rows whose hash and position are below ``sampled_below``. The position matters where files in
    different folders have the same name.
    """

    limit: int | None = None
    sampled_below: tuple[int, int] = _EVERYTHING
    seed: int = 42
    shard: Shard | None = None

    @property
    def takes_all(self) -> bool:
        """Whether all rows are taken, up to the limit."""
        return self.shard is None and self.sampled_below == _EVERYTHING

    @property
    def needs_position(self) -> bool:
        """Whether it matters how many rows of the whole input come before a row."""
        return self.limit is not None or self.shard is not None or self.sampled_below[1] > 0

    def takes(self, source: Source, index: int, position: int) -> bool:
        """Tell whether to take row ``index`` of a source, which is row ``position`` of the whole input."""
        if self.shard is not None and position % self.shard.count != self.shard.number - 1:
            return False
        return (
            self.sampled_below == _EVERYTHING or (row_hash(source, index, self.seed), position) < self.sampled_below
        )


def build_selection(settings: Settings, sources: Sequence[Source]) -> Selection:
    """Return the selection that the settings ask for.

    An exact number of rows takes a first reading of the input, to find which rows have the smallest hashes.

    Raises:
        InputError: the input cannot be read twice, and would have to be.
    """
    chosen = settings.input
    below = _EVERYTHING
    if chosen.sample_percent is not None:
        below = (round(chosen.sample_percent / 100 * _HASHES), 0)
    elif chosen.sample_count is not None:
        below = _above_smallest(sources, chosen.sample_count, chosen.seed)
    return Selection(chosen.limit, below, chosen.seed, chosen.shard)


def row_hash(source: Source, index: int, seed: int) -> int:
    """Return a number below 2**64 for where a row stands: the same whatever else is read, and in which order."""
    identity = f"{seed}\0{source.path.name if source.path else source.name}\0{index}"
    return int.from_bytes(hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _above_smallest(sources: Sequence[Source], count: int, seed: int) -> tuple[int, int]:
    """Return a bound that exactly ``count`` rows of the input are below, or all where there are no more."""
    if stream := next((source.name for source in sources if source.is_stream), None):
        raise InputError(
            f"{stream}: --sample-count reads the input twice, which a pipe cannot be; use --sample-percent"
        )
    places = ((source, read.index) for source in sources for read in read_rows(source))
    hashes = ((row_hash(source, index, seed), position) for position, (source, index) in enumerate(places))
    smallest = heapq.nsmallest(count, hashes)
    return (smallest[-1][0], smallest[-1][1] + 1) if len(smallest) == count else _EVERYTHING
