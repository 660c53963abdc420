"""How much of what the assistant said is kept, of rows over the target: by their length and by their input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

KEPT_COLUMNS = ("source_file", "original_tokens", "assistant_tokens_original", "assistant_tokens_kept")
"""The columns of the metrics that it is added up from."""
BANDS = ((1, 2, "up to 2 × the target"), (2, 4, "2 to 4 ×"), (4, 8, "4 to 8 ×"), (8, 2**40, "over 8 ×"))
"""Lengths of rows before, in targets: more than the first number, up to the second."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows over the target that have something in common: their assistant tokens before, and those still there."""

    name: str
    rows: int
    original: int
    kept: int

    @property
    def share(self) -> float:
        """Share of the tokens that is kept."""
        return self.kept / self.original if self.original else 1.0


def added(groups: Iterable[Kept]) -> list[Kept]:
    """Add up those of one name, in the order in which the names first come."""
    sums: dict[str, Kept] = {}
    for each in groups:
        one = sums.get(each.name, Kept(each.name, 0, 0, 0))
        sums[each.name] = Kept(each.name, one.rows + each.rows, one.original + each.original, one.kept + each.kept)
    return list(sums.values())


def in_bands(groups: Iterable[Kept]) -> list[Kept]:
    """Order by length, the shortest first."""
    names = [name for _, _, name in BANDS]
    return sorted(groups, key=lambda each: names.index(each.name))


def least_first(groups: Iterable[Kept]) -> list[Kept]:
    """Order by the share that is kept."""
    return sorted(groups, key=lambda each: (each.share, -each.original, each.name))


_HELD_INPUTS = 5000


class KeptTally:
    """Assistant tokens of rows over the target, before and after, added up batch by batch.

    Without a ``target`` nobody can say how long rows are by it. With ``most_inputs`` memory does not grow with their
    number: only so many are certain to be right, those that keep the least share.
    """

    def __init__(self, target: int | None, most_inputs: int | None = None) -> None:
        self._target = target
        self._most_inputs = most_inputs
        self._by_length: list[Kept] = []
        self._by_input: dict[str, tuple[int, Kept]] = {}  # with the shortest length that there is

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch that were over the target."""
        for name, band, *sums in _sums(batch, self._target):
            if self._target is not None:
                self._by_length = added([*self._by_length, Kept(BANDS[band][2], *sums)])
            shortest, kept = self._by_input.get(name, (band, Kept(name, 0, 0, 0)))
            self._by_input[name] = min(band, shortest), added([kept, Kept(name, *sums)])[0]
        if self._most_inputs is not None and len(self._by_input) > _HELD_INPUTS:
            *before, last = self._by_input  # metrics are in input order, so those of long ago are complete
            least = least_first(self._by_input[name][1] for name in before)[: self._most_inputs]
            self._by_input = {name: self._by_input[name] for name in (*(each.name for each in least), last)}

    def by_length(self) -> list[Kept]:
        """Return the lengths that there are, the shortest first."""
        return in_bands(self._by_length)

    def by_input(self) -> list[Kept]:
        """Return the inputs, those with the shortest rows first."""
        return [kept for _, kept in sorted(self._by_input.values(), key=lambda each: (each[0], each[1].name))]


def _sums(batch: pa.RecordBatch, target: int | None) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield by input and band: rows, and the assistant's tokens before and after."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    original, kept = KEPT_COLUMNS[2:]
    table = pa.table({name: batch[name] for name in KEPT_COLUMNS})
    table = table.filter(pc.greater(table[original], 0))
    edges = [most * target for _, most, _ in BANDS[:-1]] if target is not None else []
    bands = np.searchsorted(edges, table["original_tokens"].to_numpy())
    grouped = table.append_column("band", pa.array(bands)).group_by(["source_file", "band"], use_threads=False)
    sums = grouped.aggregate([(original, "count"), (original, "sum"), (kept, "sum")])
    names = ("source_file", "band", f"{original}_count", f"{original}_sum", f"{kept}_sum")
    for name, *figures in zip(*(sums[name].to_pylist() for name in names), strict=True):
        band, rows, before, after = (int(each or 0) for each in figures)
        yield name, band, rows, before, after
