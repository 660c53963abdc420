"""Planning a whole input in one reading: the way of a run, with a stand-in for the summariser and nothing written."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from trajcompress.dataset.cutting import Part, cut_into_parts
from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import total_size
from trajcompress.dataset.sources import Found
from trajcompress.dataset.standing import Watch
from trajcompress.errors import EngineMismatchError
from trajcompress.planning.advice import advise
from trajcompress.planning.figures import PlanFigures, TargetPlan
from trajcompress.planning.in_workers import PlanSetup, PlanWork, plan_in_workers
from trajcompress.planning.lengths import Lengths
from trajcompress.planning.parts import plan_parts
from trajcompress.planning.rows import RowPlanner
from trajcompress.run.build.components import build_counter, build_form_with, check_segments
from trajcompress.run.build.summarizer import require_context
from trajcompress.run.loop.pipeline import MAX_BYTES_IN_FLIGHT
from trajcompress.run.loop.reading import Reading
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import build_selection
from trajcompress.run.paths import find_run_inputs
from trajcompress.run.progress.reporter import TakesNotes
from trajcompress.run.rows.explainer import build_explainer
from trajcompress.run.workers.pools import OpenedPool, open_pool
from trajcompress.run.workers.work_in_workers import first_facts, of_worker
from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice


class PlanReporter(TakesNotes, Protocol):
    """Follows how planning goes."""

    def moved(self, bytes_read: int, rows: int) -> None:
        """Some more rows are done; ``rows`` are all so far."""


@dataclass(frozen=True, slots=True)
class DatasetPlan:
    """What a run would do with each target, and the lengths of the rows that can be counted.

    ``changed`` says of inputs what became of them while they were read, ``left_out`` what no input was made of.
    """

    tokenizer: str
    targets: tuple[TargetPlan, ...]
    lengths: Lengths
    changed: Mapping[str, str]
    left_out: Sequence[LeftOut]


def plan_dataset(settings: Sequence[Settings], inputs: Sequence[str], reporter: PlanReporter) -> DatasetPlan:
    """Plan what ``compress`` would do with each of the settings, which differ in their target alone.

    Rows that the output format cannot hold are rejected where they are written, which a plan does not foresee.

    Raises:
        UsageError: settings, inputs or tokenizer are wrong.
        WorkerDiedError: a part ends the process that works on it.
    """
    check_segments(settings[0])
    found = find_run_inputs(settings[0], inputs)
    watch = Watch(found.sources, reporter.note)
    for note in found.notes():
        reporter.note(note)
    parts = cut_into_parts(found.sources, settings[0].processing.part_size)
    planning = _Planning(settings, found, parts, watch, reporter)
    try:
        return planning.run("auto")
    except EngineMismatchError as error:
        reporter.note(f"{error}; counting everything again with the tokenizer itself")
        return planning.run("reference")


@dataclass(frozen=True, slots=True)
class _Planning:
    settings: Sequence[Settings]
    found: Found
    parts: Sequence[Part]
    watch: Watch
    reporter: PlanReporter

    def run(self, engine: EngineChoice) -> DatasetPlan:
        """Plan all parts, in worker processes where that is worth it and there can be some."""
        figures = PlanFigures.of([each.compression.target_max_tokens for each in self.settings])
        setup = PlanSetup([of_worker(each) for each in self.settings], engine)
        with open_pool(self.settings[0], self.parts, lambda _: setup, self.reporter.note) as opened:
            tokenizer = self._plan_in_workers(opened, figures) if opened else None
        if tokenizer is not None:
            if any(target.most_over for target in figures.targets):
                counter = build_counter(self.settings[0], engine)
                with contextlib.closing(counter.tokenizer):
                    self._advise(figures, counter)
            return self._planned(tokenizer, figures)
        counter = build_counter(self.settings[0], engine)
        with contextlib.closing(counter.tokenizer):
            self._plan_here(counter, figures)
            self._advise(figures, counter)
        return self._planned(counter.tokenizer.name, figures)

    def _plan_in_workers(self, opened: OpenedPool, figures: PlanFigures) -> str:
        """Return the name of the tokenizer."""
        settings, reporter = self.settings[0], self.reporter
        facts = first_facts(opened.pool)
        for note in facts.notes:
            reporter.note(note)
        reporter.note(f"parts are worked on {opened.who}")
        selection = build_selection(settings, self.found.sources)
        reporter.started(total_size(self.found.sources))
        look = self.watch.look
        work = PlanWork(settings, selection, self.parts, figures, reporter.note, reporter.moved, look)
        plan_in_workers(opened.pool, work, opened.workers)
        return str(facts.tokenizer["name"])

    def _plan_here(self, counter: TokenCounter, figures: PlanFigures) -> None:
        settings, reporter = self.settings[0], self.reporter
        for note in counter.tokenizer.notes:
            reporter.note(note)
        require_context(settings, counter)
        selection = build_selection(settings, self.found.sources)
        explainer = build_explainer(settings, reporter.note, hides_calls=counter.hides_calls)
        reading = Reading(settings, selection, explainer, build_form_with(settings, counter))
        items = reading.all_of(Ledger(self.parts, {}, selection), self.watch.look)
        reporter.started(total_size(self.found.sources))

        def moved(rows: int) -> None:
            reporter.moved(reading.bytes_read, figures.rows + rows)

        def part_done(_number: int, of_part: PlanFigures) -> None:
            figures.join(of_part)

        plan_parts(items, RowPlanner(self.settings, counter), part_done, moved, max_bytes=MAX_BYTES_IN_FLIGHT)

    def _advise(self, figures: PlanFigures, counter: TokenCounter) -> None:
        """See what helps the rows that stay over their target."""
        for each, target in zip(self.settings, figures.targets, strict=True):
            for over in target.most_over:
                over.advice = advise(over.trajectory, over.metrics, each, counter)

    def _planned(self, tokenizer: str, figures: PlanFigures) -> DatasetPlan:
        return DatasetPlan(tokenizer, figures.targets, figures.lengths, self.watch.changed, self.found.left_out)
