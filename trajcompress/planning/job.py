"""Planning a whole input in one reading: the way of a run, with a stand-in for the summariser and nothing written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import Source
from trajcompress.dataset.standing import Watch
from trajcompress.errors import EngineMismatchError
from trajcompress.planning.lengths import Lengths
from trajcompress.planning.rows import PlannedRow, PlanSetup, RowPlanner
from trajcompress.planning.totals import TargetPlan
from trajcompress.run.build import build_counter, build_format_options, count_workers, require_context
from trajcompress.run.explain import Explainer
from trajcompress.run.paths import find_run_inputs
from trajcompress.run.pipeline import process_in_order
from trajcompress.run.row import Parsed, parse_rows
from trajcompress.run.selection import Start, build_selection, select_rows
from trajcompress.settings import Settings
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.workers.pool import WorkerPool
from trajcompress.workers.start import start_workers, useful_workers

_PlanRow: TypeAlias = Callable[[Parsed], Awaitable[list[PlannedRow]]]


class PlanReporter(Protocol):
    """Who is told how planning goes."""

    def note(self, text: str) -> None:
        """Something to know, once."""

    def started(self, total_bytes: int | None) -> None:
        """Reading begins; the size of the input where it is known."""

    def moved(self, bytes_read: int, text: str) -> None:
        """Another row is done; ``text`` says how far it is in a few words."""


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """What a run would do with each target, and the lengths of the rows that can be counted.

    ``changed`` says of inputs what became of them while they were read, ``left_out`` what no input was made of.
    """

    tokenizer: str
    targets: tuple[TargetPlan, ...]
    lengths: Lengths = field(default_factory=Lengths)
    changed: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()

    def add(self, rows: Sequence[PlannedRow]) -> None:
        """Add what is expected of one row, for each target."""
        for target, row in zip(self.targets, rows, strict=True):
            target.add(row)
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
                planning = _Planning(settings, counter.tokenizer.name, plan_row, watch)
                planned = asyncio.run(planning.run(sources, reporter))
                return replace(planned, changed=watch.changed, left_out=found.left_out)

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


class _Planning:
    """One reading, with one engine."""

    def __init__(self, settings: Sequence[Settings], tokenizer: str, plan_row: _PlanRow, watch: Watch) -> None:
        self._common = settings[0]
        self._plan_row = plan_row
        self._watch = watch
        self._bytes_read = 0
        self._plan = DatasetPlan(
            tokenizer, tuple(TargetPlan(each.compression.target_max_tokens) for each in settings)
        )

    async def run(self, sources: list[Source], reporter: PlanReporter) -> DatasetPlan:
        async def consume(rows: Sequence[Sequence[PlannedRow]]) -> None:
            for row in rows:
                self._plan.add(row)
            reporter.moved(self._bytes_read, f"{self._plan.targets[0].totals.rows:,} rows")

        sizes = [source.size for source in sources]
        reporter.started(None if None in sizes else sum(size or 0 for size in sizes))
        await process_in_order(
            self._rows(sources, reporter),
            self._plan_row,
            consume,
            size_of=lambda parsed: parsed.size,
            max_in_flight=self._common.processing.max_in_flight,
        )
        return self._plan

    def _rows(self, sources: list[Source], reporter: PlanReporter) -> Iterator[Parsed]:
        explainer = Explainer(reporter.note, self._common.input.role_map)
        selection = build_selection(self._common, sources)
        items = select_rows(sources, selection, Start(), self._set_bytes_read, read_through=self._watch.look)
        for parsed in parse_rows(items, build_format_options(self._common)):
            explainer.explain(parsed)
            yield parsed

    def _set_bytes_read(self, count: int) -> None:
        self._bytes_read = count
