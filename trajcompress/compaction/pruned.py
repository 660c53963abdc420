"""Pruning one row before anything of it is summarised, and what a summariser reads of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trajcompress.compaction.measure import Measured
from trajcompress.compaction.shortened import shared_turn, shorten, whole_row
from trajcompress.compaction.text import Kind, Pruned, Step, prune, prune_steps, prune_until
from trajcompress.facts import facts_kept
from trajcompress.facts.ledger import FactLedger
from trajcompress.facts.reading import Reader
from trajcompress.metrics.row import RowMetrics
from trajcompress.redact import Known
from trajcompress.redact.turns import clean_turns
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Region, Trajectory, Turn


@dataclass(frozen=True, slots=True)
class PrunedRow:
    """A row of as many turns, some of them shorter.

    ``turns`` are those of the whole row. ``measured`` is what there is to compress now, without an earlier summary as
    it was before; ``changed`` are positions in its turns. Where protected results are cut to find out what must be
    summarised besides, ``uncut`` is the row before that.
    """

    turns: tuple[Turn, ...]
    measured: Measured
    changed: frozenset[int] = frozenset()
    ledger: FactLedger | None = None
    uncut: Measured | None = None

    def describe(self, metrics: RowMetrics, gone: Region | None = None) -> None:
        """Say how many of the turns that are kept were pruned, and add the facts that went and those still told."""
        if self.ledger is None:
            return
        kept = frozenset(index for index in self.changed if gone is None or not gone.start <= index < gone.end)
        needed = self.ledger.needed(kept)
        turns, reader = self.measured.trajectory.turns, Reader()
        told = sum(len(facts_kept(facts, reader.text([turns[index]]))) for index, facts in needed.items())
        metrics.turns_pruned = len(kept)
        metrics.facts_needed = (metrics.facts_needed or 0) + sum(map(len, needed.values()))
        metrics.facts_kept = (metrics.facts_kept or 0) + told


def prune_row(trajectory: Trajectory, measured: Measured, counter: TokenCounter, limit: int) -> PrunedRow:
    """Prune the middle of a row over its limit, no more than needed.

    Where not even everything is enough, results are pruned and arguments are not: these are words of the assistant,
    which a trainer learns from, and cutting them would save few of its turns from being summarised.
    """
    turns = measured.trajectory.turns
    ledger = FactLedger(turns)
    steps = _steps(measured, ledger)

    def fits(after: tuple[Turn, ...]) -> bool:
        row = replace(trajectory, turns=whole_row(trajectory, measured, after))
        count = counter.count(row, measured.known)
        return count.tokens <= limit and count.method == measured.count.method

    if steps and fits(prune(turns, steps).turns):
        after = prune_until(turns, steps, fits)
    else:
        after = prune(turns, _of_results(steps))
    return _row(trajectory, measured, counter, after, ledger)


def prune_results(trajectory: Trajectory, measured: Measured, counter: TokenCounter) -> PrunedRow:
    """Prune all results of the middle of a row, whether it fits or not."""
    ledger = FactLedger(measured.trajectory.turns)
    after = prune(measured.trajectory.turns, _of_results(_steps(measured, ledger)))
    return _row(trajectory, measured, counter, after, ledger)


def prune_reading(
    turns: Sequence[Turn], region: Region, cleaned: Sequence[Turn], facts: Sequence[str], known: Known | None
) -> tuple[Turn, ...]:
    """Return what a summariser reads of a region: pruned, but for facts that must be in the summary.

    Args:
        turns: all turns of the row.
        region: which of them are summarised.
        cleaned: the region without its secrets.
        facts: what stays in a pruned turn that tells it.
        known: the secrets of the row, where pruned turns are to be without secrets, too.
    """
    steps = prune_steps(turns[: region.end], region, lambda _index, _kind: facts)
    read = list(cleaned)
    for step in steps:
        read[step.index - region.start] = step.turn if known is None else clean_turns([step.turn], known).turns[0]
    return tuple(read)


def _steps(measured: Measured, ledger: FactLedger) -> list[Step]:
    turns, middle, shared = measured.trajectory.turns, measured.layout.middle, shared_turn(measured)
    results = {index for index in range(middle.start, middle.end) if turns[index].answers}
    told = ledger.needed(results)

    def needed(index: int, kind: Kind) -> Sequence[str]:
        if kind != "arguments":
            return told.get(index, ())
        return ledger.needed_of(index, results)

    return [step for step in prune_steps(turns, middle, needed) if step.index != shared]


def _of_results(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if step.kind != "arguments"]


def _row(
    trajectory: Trajectory, measured: Measured, counter: TokenCounter, after: Pruned, ledger: FactLedger
) -> PrunedRow:
    """Count the whole row as a trainer sees it; pruned is only what gets smaller by it."""
    turns = whole_row(trajectory, measured, after.turns)
    shorter = shorten(measured, after.turns, counter)
    count = counter.count(replace(trajectory, turns=turns), shorter.known)
    if count.tokens >= measured.count.tokens or count.method != measured.count.method:
        return PrunedRow(trajectory.turns, measured)
    shorter = replace(shorter, count=count, unpruned=measured.trajectory.turns)
    return PrunedRow(turns, shorter, frozenset(after.changed), ledger)
