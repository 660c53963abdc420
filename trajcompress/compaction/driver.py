"""The driver: runs the work on one row to its end, with whoever answers its requests for summaries."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from msgspec import structs

from trajcompress.compaction.happened import Happened
from trajcompress.compaction.ladder import compact
from trajcompress.compaction.policy import Asking, Policy
from trajcompress.compaction.row_metrics import conclude
from trajcompress.errors import OF_THE_RUN, SummarizerUnusableError, SummaryError
from trajcompress.events import Emit, nobody
from trajcompress.metrics.row import RowMetrics
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.deadline import Deadline
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.transcript.trajectory import RowId, Trajectory

Write: TypeAlias = Callable[[SummaryRequest], Summary]
Step: TypeAlias = SummaryRequest | Happened
Answer: TypeAlias = Summary | Exception


class RowWork:
    """The work on one row; ``write`` writes its summaries at once, None has them asked for."""

    def __init__(self, work: Asking[Happened], write: Write | None) -> None:
        self._work, self._write = work, write
        self._passes = self._redactions = 0

    def step(self, answer: Answer | None) -> Step:
        """Go on with the answer to the last request, None at first, until a model has to be called.

        Raises:
            EngineMismatchError: counts of the whole run are in doubt.
        """
        try:
            request = self._resume(answer)
            while self._write is not None:
                request = self._resume(_answered(self._write, request))
        except StopIteration as ended:
            happened: Happened = ended.value
            return structs.replace(happened, passes=self._passes, redactions=self._redactions)
        return request

    def _resume(self, answer: Answer | None) -> SummaryRequest:
        if answer is None:
            request = next(self._work)
        else:
            request = self._work.send(answer) if isinstance(answer, Summary) else self._work.throw(answer)
        self._passes += 1
        self._redactions += request.redactions
        return request


def _answered(write: Write, request: SummaryRequest) -> Answer:
    """Return a summary, or the mistake of ours that was met instead: the row pays for it."""
    try:
        return write(request)
    except OF_THE_RUN:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is
        return error


class RowDriver:
    """Drives the work on rows; summaries are asked for from the event loop.

    Args:
        counter: counts tokens.
        summarizer: is asked for summaries.
        policy: what a compacted row must be.
        executor: where rows are worked on; None for the event loop's own.
        emit: sink of events.
    """

    def __init__(
        self,
        counter: TokenCounter,
        summarizer: Summarizer,
        policy: Policy,
        executor: Executor | None = None,
        *,
        emit: Emit = nobody,
    ) -> None:
        self._summarizer = summarizer
        self._policy = policy
        self._counter = counter
        self._write = summarizer.write if isinstance(summarizer, ExtractiveSummarizer) else None
        self._emit = emit
        self._off_loop = OffLoop(executor)

    async def compact(
        self, trajectory: Trajectory, row: RowId, counted: Count | None = None, line: int | None = None
    ) -> Happened:
        """Do all that is to be done to a row.

        Args:
            trajectory: the row to compact.
            row: where it stands.
            counted: its count, where that is known.
            line: that it was read from, from 1, for events.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        deadline, usage = Deadline(self._policy.timeout_s), Usage()
        emit = partial(self._emit, source_file=row.source_file, source_row=row.source_row, source_line=line)
        work = RowWork(compact(trajectory, row, self._policy, self._counter, emit=emit, counted=counted), self._write)
        step = await self._off_loop(work.step, None)
        while isinstance(step, SummaryRequest):
            if self._policy.mode == "segments":  # of which there may be dozens in a row
                deadline = Deadline(self._policy.timeout_s)
            step = await self._off_loop(work.step, await self._ask(step, deadline, usage))
        return structs.replace(step, usage=usage)

    def metrics(self, row: RowId, trajectory: Trajectory, happened: Happened, line: int | None = None) -> RowMetrics:
        """Return the metrics of a row that was compacted here, or that settings leave out."""
        return conclude(row, trajectory, happened, policy=self._policy, counter=self._counter, line=line)

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
        except OF_THE_RUN:
            raise
        except Exception as error:  # noqa: BLE001 - a mistake of ours: the row pays for it
            return error
        finally:
            total.add(usage)
