"""Adding metrics up for a report, batch by batch: memory does not grow with the number of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from trajcompress.metrics.totals import Totals
from trajcompress.results.report.columns import flags, numbers
from trajcompress.results.report.figures import Figures
from trajcompress.results.report.stretches import Stretches
from trajcompress.results.report.tallies import Causes, FactsShares, Lengths, Ratios, Sources, Worst
from trajcompress.summarize.base import add_costs

if TYPE_CHECKING:
    import pyarrow as pa

_COUNTED = {"outcomes": "outcome", "reasons": "reason", "count_methods": "count_method", "summarizers": "summarizer"}


def aggregate(batches: Iterable[pa.RecordBatch], *, target: int, rows: int) -> Figures:
    """Add up the metrics of a run.

    Args:
        batches: the metrics in input order, with the columns of ``metrics_schema``.
        target: the limit of the run, in tokens.
        rows: how many rows the batches hold together.
    """
    import pyarrow.compute as pc

    totals, stretches = Totals(), Stretches(rows)
    lengths, ratios, sources = Lengths(target), Ratios(), Sources()
    causes, shares = Causes(), FactsShares()
    over, lost, failed = Worst(), Worst(), Worst()
    for batch in batches:
        add_to_totals(totals, batch)
        before, after = numbers(batch, "original_tokens"), numbers(batch, "compressed_tokens")
        needed, kept = numbers(batch, "facts_needed"), numbers(batch, "facts_kept")
        is_over = flags(batch, "still_over_limit")
        lengths.add(before, after)
        ratios.add(numbers(batch, "compression_ratio")[flags(batch, "was_compressed")])
        sources.add(batch)
        causes.add(batch, after - target)
        shares.add(needed, kept)
        stretches.add(batch)
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
        cost_usd=stretches.cost_usd,
        rows_without_price=stretches.rows_without_price,
        most_over=over.ordered(),
        most_facts_lost=lost.ordered(),
        failed=failed.ordered(),
    )


def add_to_totals(totals: Totals, batch: pa.RecordBatch) -> None:
    """Add a batch of metrics at once, which gives what adding its rows one by one does."""
    import pyarrow.compute as pc

    totals.rows += batch.num_rows
    for field in fields(totals):
        value = getattr(totals, field.name)
        if isinstance(value, Counter):
            column = batch[_COUNTED[field.name]].drop_null()
            value.update({each["values"]: each["counts"] for each in column.value_counts().to_pylist()})
        elif field.name in batch.schema.names and field.name != "cost_usd":
            setattr(totals, field.name, value + (pc.sum(batch[field.name]).as_py() or 0))
    cost = None if batch["cost_usd"].null_count else pc.sum(batch["cost_usd"]).as_py() or 0.0
    totals.cost_usd = add_costs(totals.cost_usd, cost)
