"""The work on rows of a run, done in worker processes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial

from trajcompress.compaction.driver import Answer, Begin, GoOn, RowWork, Step
from trajcompress.compaction.policy import Policy
from trajcompress.events import Tell, nobody
from trajcompress.run.build import build_counter, build_policy
from trajcompress.settings import Settings
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.transcript.trajectory import RowId, Trajectory
from trajcompress.workers.pool import WorkerPool
from trajcompress.workers.wire import Answered, Handle


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row to begin with; ``key`` names it from then on."""

    key: int
    trajectory: Trajectory
    row: RowId


@dataclass(frozen=True, slots=True)
class Resume:
    """The answer that a row waits for."""

    key: int
    answer: Answer


@dataclass(frozen=True, slots=True)
class RowSetup:
    """How workers work on rows."""

    settings: Settings
    engine: EngineChoice

    def prepare(self, tell: Tell) -> Handle:
        """Load the tokenizer, and return what goes on with rows."""
        settings = self.settings
        counter = build_counter(settings, self.engine, processes=1)
        is_logged = settings.output.log_file is not None
        return _Rows(counter, build_policy(settings), settings, tell if is_logged else nobody).go_on


class _Rows:
    """Rows that are under way in a worker; some wait for the answer of a model."""

    def __init__(self, counter: TokenCounter, policy: Policy, settings: Settings, tell: Tell) -> None:
        write = ExtractiveSummarizer().write if settings.summarization.is_built_in else None
        self._begin = partial(RowWork, policy=policy, counter=counter, write=write, tell=tell)
        self._under_way: dict[int, tuple[Trajectory, RowWork]] = {}

    def go_on(self, message: NewRow | Resume) -> Answered:
        if isinstance(message, NewRow):
            trajectory = message.trajectory
            work, answer = self._begin(trajectory, message.row), None
        else:
            trajectory, work = self._under_way.pop(message.key)
            answer = message.answer
        step = work.step(answer)
        if isinstance(step, SummaryRequest):
            self._under_way[message.key] = trajectory, work
            step = replace(step, count=len, tell=nobody)  # the run puts in its own
        return Answered(step, trajectory.turns)


def begin_in(pool: WorkerPool, counter: TokenCounter, tell: Tell) -> Begin:
    """Return what begins the work on rows in workers that were set up for it; summarisers count with ``counter``."""
    keys = itertools.count()

    def begin(trajectory: Trajectory, row: RowId, _counted: Count | None) -> GoOn:
        worker, key = pool.least_busy, next(keys)

        async def go_on(answer: Answer | None) -> Step:
            message = NewRow(key, trajectory, row) if answer is None else Resume(key, answer)
            step: Step = await worker.ask(message, trajectory.turns, tell)
            if not isinstance(step, SummaryRequest):
                return step
            tell_of_row = partial(tell, source_file=row.source_file, source_row=row.source_row)
            return replace(step, count=counter.count_text, tell=tell_of_row)

        return go_on

    return begin
