"""What plots and lists show, counted batch by batch: memory does not grow with the number of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trajcompress.metrics.totals import Totals
from trajcompress.results.report.assistant_kept import AssistantKept
from trajcompress.results.report.columns import flags, numbers
from trajcompress.results.report.figures import Figures
from trajcompress.results.report.tallies import Causes, FactsShares, Lengths, Ratios, Sources, Stretches, Worst

if TYPE_CHECKING:
    import pyarrow as pa


_MOST_SAVED = 5


def tally(batches: Iterable[pa.RecordBatch], totals: Totals, *, target: int) -> Figures:
    """Count what is shown of the metrics of a run, in input order, besides their totals."""
    import pyarrow.compute as pc

    stretches = Stretches(totals.rows)
    lengths, ratios, sources = Lengths(target), Ratios(), Sources()
    causes, shares = Causes(), FactsShares()
    assistant = AssistantKept(target)
    over, lost, failed, saved = Worst(), Worst(), Worst(), Worst(_MOST_SAVED)
    for batch in batches:
        before, after = numbers(batch, "original_tokens"), numbers(batch, "compressed_tokens")
        needed, kept = numbers(batch, "facts_needed"), numbers(batch, "facts_kept")
        is_over = flags(batch, "still_over_limit")
        lengths.add(before, after)
        ratios.add(numbers(batch, "compression_ratio")[flags(batch, "was_compressed")])
        sources.add(batch)
        causes.add(batch, after - target)
        shares.add(needed, kept)
        stretches.add(batch)
        assistant.add(batch)
        saved.add(batch, before - after, flags(batch, "was_compressed"))
        over.add(batch, after - target, is_over)
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
        kept_by_length=assistant.by_length(),
        kept_by_input=assistant.by_input(),
        most_over=over.ordered(),
        most_facts_lost=lost.ordered(),
        failed=failed.ordered(),
        most_saved=saved.ordered(),
    )
