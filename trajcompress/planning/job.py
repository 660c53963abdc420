"""Planning a whole input in one reading: the way of a run, with a stand-in for the summariser and nothing written."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Protocol

from trajcompress.compress import TrajectoryCompressor
from trajcompress.dataset.rows import Source
from trajcompress.errors import EngineMismatchError
from trajcompress.metrics import RowMetrics
from trajcompress.off_loop import OffLoop, run_through
from trajcompress.planning.counting import RowsCountedOnce
from trajcompress.planning.lengths import Lengths
from trajcompress.planning.stand_in import StandInSummarizer
from trajcompress.planning.totals import TargetPlan
from trajcompress.run.build import build_counter, build_format_options, build_rules, count_workers, require_context
from trajcompress.run.explain import Explainer
from trajcompress.run.paths import find_run_sources
from trajcompress.run.pipeline import process_in_order
from trajcompress.run.row import Accepted, Admission, Parsed, finish_row, parse_rows
from trajcompress.run.selection import Start, build_selection, select_rows
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.chunks import ChunkingSummarizer
from trajcompress.tokens.tokenizer import EngineChoice


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
    """What a run would do with each target, and the lengths of the rows that can be counted."""

    tokenizer: str
    targets: tuple[TargetPlan, ...]
    lengths: Lengths = field(default_factory=Lengths)

    def add(self, rows: Sequence[RowMetrics]) -> None:
        """Add what is expected of one row, for each target."""
        for target, row in zip(self.targets, rows, strict=True):
            target.add(row)
        if (tokens := rows[0].original_tokens) is not None:
            self.lengths.add(tokens)


def plan_dataset(settings: Sequence[Settings], inputs: Sequence[str], reporter: PlanReporter) -> DatasetPlan:
    """Plan what ``compress`` would do with each of the settings, which differ in their target alone.

    Rows that the output format cannot hold are rejected where they are written, which a plan does not foresee.

    Raises:
        UsageError: settings, inputs or tokenizer are wrong.
    """
    sources = find_run_sources(settings[0], inputs)

    def attempt(engine: EngineChoice) -> DatasetPlan:
        tokenizer = build_counter(settings[0], engine).tokenizer
        with contextlib.closing(tokenizer), ThreadPoolExecutor(count_workers(settings[0]), "count") as counting:
            for note in tokenizer.notes:
                reporter.note(note)
            counter = RowsCountedOnce(tokenizer, settings[0].compression.count)
            require_context(settings[0], counter)
            return asyncio.run(_Planning(settings, counter, counting).run(sources, reporter))

    try:
        return attempt("auto")
    except EngineMismatchError as error:
        reporter.note(f"{error}; counting everything again with the tokenizer itself")
        return attempt("reference")


class _Planning:
    """One reading, with one engine."""

    def __init__(self, settings: Sequence[Settings], counter: RowsCountedOnce, counting: Executor) -> None:
        self._common = settings[0]
        self._counter = counter
        self._off_loop = OffLoop(counting)
        self._bytes_read = 0
        self._compressors = []
        targets = []
        for each in settings:
            stand_in = StandInSummarizer()
            context = each.summarization.context_tokens
            summarizer: Summarizer = ChunkingSummarizer(stand_in, context) if context else stand_in
            # Nothing is sent, so there is nothing to take secrets out of; a mark counts about what its secret does.
            # Facts make a prompt longer by some hundred tokens at most, and cost about as much as the counting.
            rules = replace(build_rules(each), timeout_s=None, redact=False, facts="off")
            self._compressors.append(TrajectoryCompressor(counter, summarizer, rules))
            targets.append(TargetPlan(each.compression.target_max_tokens, stand_in.requests))
        self._plan = DatasetPlan(counter.tokenizer.name, tuple(targets))
        self._admission = Admission(self._common.processing.save_over_limit, self._common.input.min_tokens)

    async def run(self, sources: list[Source], reporter: PlanReporter) -> DatasetPlan:
        async def consume(rows: Sequence[Sequence[RowMetrics]]) -> None:
            for row in rows:
                self._plan.add(row)
            reporter.moved(self._bytes_read, f"{self._plan.targets[0].totals.rows:,} rows")

        sizes = [source.size for source in sources]
        reporter.started(None if None in sizes else sum(size or 0 for size in sizes))
        await process_in_order(
            self._rows(sources, reporter),
            self._process,
            consume,
            size_of=lambda parsed: parsed.size,
            max_in_flight=self._common.processing.max_in_flight,
        )
        return self._plan

    def _rows(self, sources: list[Source], reporter: PlanReporter) -> Iterator[Parsed]:
        explainer = Explainer(reporter.note, self._common.input.role_map)
        selection = build_selection(self._common, sources)
        items = select_rows(sources, selection, Start(), self._set_bytes_read)
        for parsed in parse_rows(items, build_format_options(self._common)):
            explainer.explain(parsed)
            yield parsed

    def _set_bytes_read(self, count: int) -> None:
        self._bytes_read = count

    async def _process(self, parsed: Parsed) -> Sequence[RowMetrics]:
        return await self._off_loop(self._planned, parsed)

    def _planned(self, parsed: Parsed) -> Sequence[RowMetrics]:
        """Return what becomes of a row for each target, one after the other: they share what is counted."""
        made = parsed.made
        with self._counter.remembering(made.trajectory) if isinstance(made, Accepted) else contextlib.nullcontext():
            return [run_through(finish_row(parsed, each, self._admission)).metrics for each in self._compressors]
