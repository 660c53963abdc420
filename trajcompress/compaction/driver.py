"""The driver: runs the work on one row to its end, with whoever answers its requests for summaries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from trajcompress.compaction.ladder import compact
from trajcompress.compaction.outcome import Compacted, charged, conclude
from trajcompress.compaction.policy import Policy
from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.events import Emit, nobody
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.deadline import Deadline
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.transcript.trajectory import RowId, Trajectory

Write: TypeAlias = Callable[[SummaryRequest], Summary]
Step: TypeAlias = SummaryRequest | Compacted
Answer: TypeAlias = Summary | SummaryError | TimeoutError
GoOn: TypeAlias = Callable[[Answer | None], Awaitable[Step]]
"""Goes on with a row as :meth:`RowWork.step` does, wherever that is done."""
Begin: TypeAlias = Callable[[Trajectory, RowId, Count | None], GoOn]


class RowWork:
    """The work on one row; ``write`` writes its summaries at once, None has them asked for."""

    def __init__(
        self,
        trajectory: Trajectory,
        row: RowId,
        policy: Policy,
        counter: TokenCounter,
        write: Write | None,
        *,
        emit: Emit = nobody,
        counted: Count | None = None,
    ) -> None:
        emit_of_row = partial(emit, source_file=row.source_file, source_row=row.source_row)
        self._work = compact(trajectory, row, policy, counter, emit=emit_of_row, counted=counted)
        self._conclude = partial(conclude, row, trajectory, policy, counter.engine)
        self._write = write
        self._passes = self._redactions = 0

    def step(self, answer: Answer | None) -> Step:
        """Go on with the answer to the last request, None at first, until a model has to be called.

        Raises:
            EngineMismatchError: counts of the whole run are in doubt.
        """
        try:
            request = self._resume(answer)
            while self._write is not None:
                request = self._resume(self._write(request))
        except StopIteration as ended:
            return self._conclude(ended.value, passes=self._passes, redactions=self._redactions)
        return request

    def _resume(self, answer: Answer | None) -> SummaryRequest:
        if answer is None:
            request = next(self._work)
        else:
            request = self._work.send(answer) if isinstance(answer, Summary) else self._work.throw(answer)
        self._passes += 1
        self._redactions += request.redactions
        return request


class Compactor:
    """Compacts rows; summaries are asked for from the event loop.

    Args:
        counter: counts tokens.
        summarizer: is asked for summaries.
        policy: what a compacted row must be.
        executor: where rows are worked on; None for the event loop's own.
        emit: sink of events.
        begin: begins the work on a row somewhere else.
    """

    def __init__(
        self,
        counter: TokenCounter,
        summarizer: Summarizer,
        policy: Policy,
        executor: Executor | None = None,
        *,
        emit: Emit = nobody,
        begin: Begin | None = None,
    ) -> None:
        self._summarizer = summarizer
        self._timeout_s = policy.timeout_s
        self._begin = begin or _begin_here(counter, built_in(summarizer), policy, executor, emit)

    async def compact(self, trajectory: Trajectory, row: RowId, counted: Count | None = None) -> Compacted:
        """Do all that is to be done to a row.

        Args:
            trajectory: it.
            row: where it stands.
            counted: its count, where that is known.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        deadline, usage = Deadline(self._timeout_s), Usage()
        go_on = self._begin(trajectory, row, counted)
        step = await go_on(None)
        while isinstance(step, SummaryRequest):
            step = await go_on(await self._ask(step, deadline, usage))
        return replace(step, metrics=charged(step.metrics, usage))

    async def _ask(self, request: SummaryRequest, deadline: Deadline, total: Usage) -> Answer:
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
            total.add(usage)


def built_in(summarizer: Summarizer) -> Write | None:
    """Return what writes a summary at once, where that is the built-in summariser."""
    return summarizer.write if isinstance(summarizer, ExtractiveSummarizer) else None


def _begin_here(
    counter: TokenCounter, write: Write | None, policy: Policy, executor: Executor | None, emit: Emit
) -> Begin:
    off_loop = OffLoop(executor)

    def begin(trajectory: Trajectory, row: RowId, counted: Count | None) -> GoOn:
        work = RowWork(trajectory, row, policy, counter, write, emit=emit, counted=counted)
        return lambda answer: off_loop(work.step, answer)

    return begin
