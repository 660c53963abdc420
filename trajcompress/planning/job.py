"""Planning a whole input in one reading: the way of a run, with a stand-in for the summariser and nothing written."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, TypeAlias, get_args

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import total_size
from trajcompress.dataset.standing import Watch
from trajcompress.errors import EngineMismatchError
from trajcompress.metrics.row import Outcome, RowMetrics, rows_written
from trajcompress.metrics.totals import Totals
from trajcompress.planning.advice import Advice, advise
from trajcompress.planning.lengths import Lengths
from trajcompress.planning.requests import Requests
from trajcompress.planning.rows import PlannedRow, PlanSetup, RowPlanner
from trajcompress.run.build import build_counter, build_form_with, count_workers
from trajcompress.run.build_summarizer import require_context
from trajcompress.run.explainer import Explainer
from trajcompress.run.ledger import Ledger
from trajcompress.run.paths import find_run_inputs
from trajcompress.run.pipeline import process_in_order
from trajcompress.run.reading import Reading
from trajcompress.run.reporter import TakesNotes
from trajcompress.run.row import Accepted, Parsed
from trajcompress.run.selection import build_selection
from trajcompress.settings import Settings
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.workers.pool import WorkerPool, start_workers, useful_workers

_MOST_OVER = 5


@dataclass(slots=True)
class OverRow:
    """A row that stays over the target, with what is expected of it and, once it was looked at, what helps."""

    metrics: RowMetrics
    trajectory: Trajectory
    advice: Advice | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        row, advice = self.metrics, self.advice
        return {
            "source_file": row.source_file,
            "source_row": row.source_row,
            "source_line": row.source_line,
            "trajectory_id": row.trajectory_id,
            "reason": row.reason,
            "tokens": row.compressed_tokens,
            "largest_turn": row.largest_turn,
            "largest_turn_role": row.largest_turn_role,
            "largest_turn_tokens": row.largest_turn_tokens,
            "tried": [asdict(tried) for tried in advice.tried] if advice else [],
            "helps": list(advice.sentences) if advice else [],
        }


@dataclass(slots=True)
class TargetPlan:
    """Sums over all rows for one target.

    ``causes`` are the reasons of rows that stay over the target; ``in_dataset`` counts the rows that are written;
    ``most_over`` are the longest of those that stay over.
    """

    target_max_tokens: int
    requests: Requests = field(default_factory=Requests)
    totals: Totals = field(default_factory=Totals)
    causes: Counter[str] = field(default_factory=Counter)
    in_dataset: int = 0
    most_over: list[OverRow] = field(default_factory=list)

    def add(self, planned: PlannedRow, parsed: Parsed) -> None:
        """Add one row."""
        row = planned.metrics
        if row.still_over_limit and row.compressed_tokens is not None and isinstance(parsed.made, Accepted):
            self.most_over.append(OverRow(replace(row, source_line=parsed.made.line), parsed.made.trajectory))
            self.most_over.sort(key=lambda over: -(over.metrics.compressed_tokens or 0))
            del self.most_over[_MOST_OVER:]
        self.requests.join(planned.requests)
        self.totals.add(row)
        self.in_dataset += rows_written(row)
        if row.still_over_limit and row.reason:
            self.causes[row.reason] += 1

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values; names that ``summary.json`` has mean the same here."""
        totals = self.totals
        return {
            "target_max_tokens": self.target_max_tokens,
            "rows": totals.rows,
            **{outcome: totals.outcomes[outcome] for outcome in get_args(Outcome)},
            "in_dataset": self.in_dataset,
            "still_over_limit": totals.still_over_limit,
            "causes": dict(sorted(self.causes.items())),
            "largest_over": [over.as_dict() for over in self.most_over],
            "reasons": dict(sorted(totals.reasons.items())),
            "original_tokens": totals.original_tokens,
            "expected_tokens": totals.compressed_tokens,
            "tokens_saved": totals.tokens_saved,
        }


_PlanRow: TypeAlias = Callable[[Parsed], Awaitable[list[PlannedRow]]]
_Planned: TypeAlias = tuple[Parsed, list[PlannedRow]]


class PlanReporter(TakesNotes, Protocol):
    """Who is told how planning goes."""

    def moved(self, bytes_read: int, rows: int) -> None:
        """Some more rows are done; ``rows`` are all so far."""


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """What a run would do with each target, and the lengths of the rows that can be counted.

    ``changed`` says of inputs what became of them while they were read, ``left_out`` what no input was made of.
    """

    tokenizer: str
    targets: tuple[TargetPlan, ...]
    changed: Mapping[str, str]
    left_out: Sequence[LeftOut]
    lengths: Lengths = field(default_factory=Lengths)

    def add(self, parsed: Parsed, rows: Sequence[PlannedRow]) -> None:
        """Add what is expected of one row, for each target."""
        for target, row in zip(self.targets, rows, strict=True):
            target.add(row, parsed)
        if (tokens := rows[0].metrics.original_tokens) is not None:
            self.lengths.add(tokens)


def plan_dataset(settings: Sequence[Settings], inputs: Sequence[str], reporter: PlanReporter) -> DatasetPlan:
    """Plan what ``compress`` would do with each of the settings, which differ in their target alone.

    Rows that the output format cannot hold are rejected where they are written, which a plan does not foresee.

    Raises:
        UsageError: settings, inputs or tokenizer are wrong.
    """
    found = find_run_inputs(settings[0], inputs)
    sources = found.sources
    watch = Watch(sources, reporter.note)
    for note in found.notes():
        reporter.note(note)

    def attempt(engine: EngineChoice) -> DatasetPlan:
        workers = useful_workers(settings[0], sources)
        counter = build_counter(settings[0], engine, processes=1 if workers else None)
        with (
            contextlib.closing(counter.tokenizer),
            ThreadPoolExecutor(count_workers(settings[0]), "count") as counting,
        ):
            for note in counter.tokenizer.notes:
                reporter.note(note)
            require_context(settings[0], counter)
            with start_workers(PlanSetup(settings, engine), workers, reporter.note) as pool:
                plan_row = _plan_row_in(pool, counting, RowPlanner(settings, counter))
                targets = tuple(TargetPlan(each.compression.target_max_tokens) for each in settings)
                planned = DatasetPlan(counter.tokenizer.name, targets, watch.changed, found.left_out)
                form, selection = build_form_with(settings[0], counter), build_selection(settings[0], sources)
                explainer = Explainer(reporter.note, settings[0].input.role_map)
                reading = Reading(settings[0], selection, explainer, form)
                ledger = Ledger(cut_into_parts(sources, settings[0].processing.part_size), {}, selection)
                items = reading.all_of(ledger, watch.look)
                rows = (item for item in items if isinstance(item, Parsed))
                most = settings[0].processing.max_in_flight
                reporter.started(total_size(sources))

                def moved() -> None:
                    reporter.moved(reading.bytes_read, targets[0].totals.rows)

                asyncio.run(_plan_all(planned, rows, plan_row, most, moved))
            for each, target in zip(settings, targets, strict=True):
                for over in target.most_over:
                    over.advice = advise(over.trajectory, over.metrics, each, counter)
            return planned

    try:
        return attempt("auto")
    except EngineMismatchError as error:
        reporter.note(f"{error}; counting everything again with the tokenizer itself")
        return attempt("reference")


def _plan_row_in(pool: WorkerPool | None, threads: Executor, planner: RowPlanner) -> _PlanRow:
    """Return what plans a row in a worker where there are any, else in a thread."""
    off_loop = OffLoop(threads)
    if pool is None:
        return lambda parsed: off_loop(planner.plan, parsed)
    return pool.ask


async def _plan_all(
    planned: DatasetPlan,
    rows: Iterator[Parsed],
    plan_row: _PlanRow,
    most: int,
    moved: Callable[[], None],
) -> None:
    """Plan all rows, with one engine, ``most`` of them at a time."""

    async def plan_one(parsed: Parsed) -> _Planned:
        return parsed, await plan_row(parsed)

    async def consume(done: Sequence[_Planned]) -> None:
        for parsed, row in done:
            planned.add(parsed, row)
        moved()

    await process_in_order(rows, plan_one, consume, size_of=lambda parsed: parsed.size, max_in_flight=most)
