"""The work on rows of a run, done in worker processes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial

from trajcompress.compaction.compress import Begin, GoOn
from trajcompress.compaction.row_work import Answer, RowCompressor, RowWork, Step
from trajcompress.events import Tell, nobody
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.build import build_counter, build_rules
from trajcompress.settings import Settings
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.workers.pool import WorkerPool
from trajcompress.workers.wire import Answered, Handle


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to begin with; ``key`` names it from then on."""

    key: int
    trajectory: Trajectory
    metrics: RowMetrics


@dataclass(frozen=True, slots=True)
class Resume:
    """The answer that a row waits for; ``metrics`` have what it cost."""

    key: int
    metrics: RowMetrics
    answer: Answer


@dataclass(frozen=True, slots=True)
class Reached:
    """How far the work on a row has come."""

    step: Step
    metrics: RowMetrics


@dataclass(frozen=True, slots=True)
class RowSetup:
    """How workers work on rows."""

    settings: Settings
    engine: EngineChoice

    def prepare(self, tell: Tell) -> Handle:
        """Load the tokenizer, and return what goes on with rows."""
        settings = self.settings
        counter = build_counter(settings, self.engine, processes=1)
        write = ExtractiveSummarizer().write if settings.summarization.model is None else None
        is_logged = settings.output.log_file is not None
        return _Rows(RowCompressor(counter, build_rules(settings), write, tell if is_logged else nobody)).go_on


class _Rows:
    """Rows that are under way in a worker; some wait for the answer of a model."""

    def __init__(self, compressor: RowCompressor) -> None:
        self._compressor = compressor
        self._under_way: dict[int, tuple[Trajectory, RowMetrics, RowWork]] = {}

    def go_on(self, message: NewRow | Resume) -> Answered:
        if isinstance(message, NewRow):
            trajectory, metrics = message.trajectory, message.metrics
            work, answer = self._compressor.begin(trajectory, metrics), None
        else:
            trajectory, metrics, work = self._under_way.pop(message.key)
            metrics.take_over(message.metrics)
            answer = message.answer
        step = work.step(answer)
        if isinstance(step, SummaryRequest):
            self._under_way[message.key] = trajectory, metrics, work
            step = replace(step, count=len, tell=nobody)  # the run puts in its own
        return Answered(Reached(step, metrics), trajectory.turns)


def begin_in(pool: WorkerPool, counter: TokenCounter, tell: Tell) -> Begin:
    """Return what begins the work on rows in workers that were set up for it.

    Args:
        pool: the workers.
        counter: counts for summarisers, which are asked from here.
        tell: is told what happens.
    """
    keys = itertools.count()

    def begin(trajectory: Trajectory, metrics: RowMetrics) -> GoOn:
        worker, key = pool.least_busy, next(keys)

        async def go_on(answer: Answer | None) -> Step:
            message = NewRow(key, trajectory, metrics) if answer is None else Resume(key, metrics, answer)
            reached: Reached = await worker.ask(message, trajectory.turns, tell)
            metrics.take_over(reached.metrics)
            if not isinstance(reached.step, SummaryRequest):
                return reached.step
            tell_of_row = partial(tell, source_file=metrics.source_file, source_row=metrics.source_row)
            return replace(reached.step, count=counter.count_text, tell=tell_of_row)

        return go_on

    return begin
