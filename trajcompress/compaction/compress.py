"""One trajectory, start to end: what is to be done to it, and the calls of a model in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import replace
from typing import TypeAlias

from trajcompress.compaction.measure import Rules
from trajcompress.compaction.row_work import Answer, RowCompressor, Step
from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.events import Tell, nobody
from trajcompress.metrics.row import RowMetrics
from trajcompress.summarize.base import Summarizer, SummaryRequest, Usage
from trajcompress.summarize.deadline import Deadline
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn

__all__ = ["Begin", "GoOn", "Rules", "TrajectoryCompressor"]

GoOn: TypeAlias = Callable[[Answer | None], Awaitable[Step]]
"""Goes on with a row as :meth:`~trajcompress.compaction.row_work.RowWork.step` does, wherever that is done."""
Begin: TypeAlias = Callable[[Trajectory, RowMetrics], GoOn]


class TrajectoryCompressor:
    """Compresses trajectories by fixed rules; calls are made from the event loop.

    Args:
        counter: counts tokens.
        summarizer: is asked for summaries.
        rules: what a compressed trajectory must be.
        executor: where rows are worked on; None for the event loop's own.
        tell: is told what happens.
        begin: begins the work on a row somewhere else.
    """

    def __init__(
        self,
        counter: TokenCounter,
        summarizer: Summarizer,
        rules: Rules,
        executor: Executor | None = None,
        *,
        tell: Tell = nobody,
        begin: Begin | None = None,
    ) -> None:
        self._summarizer = summarizer
        self._timeout_s = rules.timeout_s
        write = summarizer.write if isinstance(summarizer, ExtractiveSummarizer) else None
        self._begin = begin or _begin_in(executor, RowCompressor(counter, rules, write, tell))

    async def compress(self, trajectory: Trajectory, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        """Return the turns of the compressed trajectory, or None to keep the row as it is; fill the metrics.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        deadline = Deadline(self._timeout_s)
        go_on = self._begin(trajectory, metrics)
        step = await go_on(None)
        while isinstance(step, SummaryRequest):
            step = await go_on(await self._ask(step, deadline, metrics))
        return step.turns

    async def _ask(self, request: SummaryRequest, deadline: Deadline, metrics: RowMetrics) -> Answer:
        """Ask for a summary; return it, or why there is none."""
        usage = Usage()
        try:
            async with deadline:
                return await self._summarizer.summarize(
                    replace(request, waiting=deadline.stopped, renew=deadline.renew), usage
                )
        except SummarizerUnusableError:
            raise
        except (SummaryError, TimeoutError) as error:
            return error
        finally:
            metrics.charge(usage)


def _begin_in(executor: Executor | None, rows: RowCompressor) -> Begin:
    off_loop = OffLoop(executor)

    def begin(trajectory: Trajectory, metrics: RowMetrics) -> GoOn:
        work = rows.begin(trajectory, metrics)
        return lambda answer: off_loop(work.step, answer)

    return begin
