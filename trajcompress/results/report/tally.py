"""What plots and lists show, counted batch by batch: memory does not grow with the number of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trajcompress.metrics.totals import Totals
from trajcompress.results.kept import KeptTally, least_first
from trajcompress.results.report.columns import flags, numbers, numbers_if_any
from trajcompress.results.report.figures import Figures
from trajcompress.results.report.tallies import (
    Causes,
    FactsShares,
    Lengths,
    Ratios,
    SegmentCounts,
    Sources,
    Stretches,
    Worst,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from trajcompress.results.report.columns import Numbers


_MOST_SAVED = 5
_LEAST_KEPT = 10


def tally(batches: Iterable[pa.RecordBatch], totals: Totals, *, target: int) -> Figures:
    """Count what is shown of the metrics of a run, in input order, besides their totals."""
    import pyarrow.compute as pc

    stretches = Stretches(totals.rows)
    lengths, ratios, sources = Lengths(target), Ratios(), Sources()
    causes, shares, segments = Causes(), FactsShares(), SegmentCounts()
    assistant = KeptTally(target, _LEAST_KEPT)
    over, lost, failed, saved = Worst(), Worst(), Worst(), Worst(_MOST_SAVED)
    for batch in batches:
        before, after = numbers(batch, "original_tokens"), numbers(batch, "compressed_tokens")
        longest = _longest(batch, after)
        segments.add(numbers_if_any(batch, "rows_written"), before, after)
        needed, kept = numbers(batch, "facts_needed"), numbers(batch, "facts_kept")
        is_over = flags(batch, "still_over_limit")
        lengths.add(before, longest)
        ratios.add(numbers(batch, "compression_ratio")[flags(batch, "was_compressed")])
        sources.add(batch)
        causes.add(batch, longest - target)
        shares.add(needed, kept)
        stretches.add(batch)
        assistant.add(batch)
        saved.add(batch, before - after, flags(batch, "was_compressed"))
        over.add(batch, longest - target, is_over)
        lost.add(batch, needed - kept, needed > kept)
        failed.add(batch, before, pc.equal(batch["outcome"], "failed").to_numpy(zero_copy_only=False))
    return Figures(
        target=target,
        totals=totals,
        lengths=lengths.bins(),
        ratios=ratios.counts,
        sources=sources.largest(),
        causes=causes.ordered(),
        facts_shares=shares.counts,
        stretches=stretches.ordered(),
        segmented=segments.ordered(),
        kept_by_length=assistant.by_length(),
        kept_by_input=least_first(assistant.by_input())[:_LEAST_KEPT],
        most_over=over.ordered(),
        most_facts_lost=lost.ordered(),
        failed=failed.ordered(),
        most_saved=saved.ordered(),
    )


def _longest(batch: pa.RecordBatch, after: Numbers) -> Numbers:
    """Return the tokens of the longest row that was written for each, which is the only one but in segments."""
    import numpy as np

    longest = numbers_if_any(batch, "max_row_tokens")
    return np.where(np.isnan(longest), after, longest)
