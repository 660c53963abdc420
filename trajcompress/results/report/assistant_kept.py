"""What is kept of the assistant, added up batch by batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajcompress.results.kept import BANDS, Kept, added, band_of, in_bands, least_first
from trajcompress.results.report.columns import numbers

if TYPE_CHECKING:
    import pyarrow as pa

_SHOWN_INPUTS = 10
_HELD_INPUTS = 5000


class AssistantKept:
    """Assistant tokens of rows over the target, before and after: by length, and by input."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._by_length: list[Kept] = []
        self._by_input: list[Kept] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Add the rows of a batch that were over the target."""
        original, kept = numbers(batch, "assistant_tokens_original"), numbers(batch, "assistant_tokens_kept")
        chosen = (original > 0).nonzero()[0]
        names = batch["source_file"].take(_positions(chosen.tolist())).to_pylist()
        lengths = numbers(batch, "original_tokens")[chosen].tolist()
        sums = list(zip(original[chosen].astype(int).tolist(), kept[chosen].astype(int).tolist(), strict=True))
        by_length = (
            Kept(BANDS[band_of(int(length), self._target)][2], 1, *each)
            for length, each in zip(lengths, sums, strict=True)
        )
        by_input = (Kept(name, 1, *each) for name, each in zip(names, sums, strict=True))
        self._by_length = added([*self._by_length, *by_length])
        self._by_input = added([*self._by_input, *by_input])
        if len(self._by_input) > _HELD_INPUTS:  # metrics are in input order, so those of long ago are complete
            *before, last = self._by_input
            self._by_input = [*least_first(before)[:_SHOWN_INPUTS], last]

    def by_length(self) -> list[Kept]:
        """Return the lengths that there are, the shortest first."""
        return in_bands(self._by_length)

    def by_input(self) -> list[Kept]:
        """Return the inputs that keep the least share."""
        return least_first(self._by_input)[:_SHOWN_INPUTS]


def _positions(positions: list[int]) -> pa.Array:
    import pyarrow as pa

    return pa.array(positions, pa.int64())
