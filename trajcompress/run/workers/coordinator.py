"""The coordinator of workers that commit parts: hands these out, and adds up what is done.

It does no work on rows, and none that grows with them: some messages for each part, and a few figures now and then.
"""

from __future__ import annotations

import asyncio
from typing import Any

from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError, SummarizerUnusableError, TooManyFailedError, TrajcompressError
from trajcompress.metrics.totals import Totals
from trajcompress.run.build.calls import build_leases
from trajcompress.run.finish import Join, joins_of, narrow_parts
from trajcompress.run.loop.row_loop import too_many_failed
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.committed import CommittedPart, PartKey
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.explainer import build_explainer
from trajcompress.run.work import Work
from trajcompress.run.workers.messages import (
    SHOW_EACH_S,
    Advanced,
    Begin,
    Happened,
    Instructions,
    Joined,
    LeftOpen,
    Narrow,
    Noted,
    PartCommitted,
    PartEnds,
    PartRead,
    TakeLast,
    Widened,
)
from trajcompress.run.workers.parts_read import PartsRead
from trajcompress.run.workers.queue import PartQueue, is_done_by
from trajcompress.run.workers.tally import Tally
from trajcompress.summarize.endpoint.leases.messages import CallFailed, CallNews, RowFailed, TurnWanted

GRACE_S = 4.5
"""How long workers have to end once they are asked to."""

_SHOW_S = 0.01
"""How often any worker says how far it is, however many they are."""


class PartCoordinator:
    """The driver's side of the work of several workers on one run."""

    def __init__(self, work: Work, workers: int) -> None:
        self._work = work
        self._workers = workers
        self._ledger = work.ledger
        self._queue = PartQueue(work.ledger, work.selection, workers, work.settings.processing.part_size)
        self._tally = Tally(work.ledger)
        self._leases = build_leases(work.settings, work.emit, work.check_cost)
        self._left_open = Totals()
        self._last: asyncio.Future[list[Narrow | Join]] | None = None
        self._widening: dict[int, CommittedPart] = {}
        self._to_join: list[Location] = []
        self._joined: set[Location] = set()
        self._notes: set[str] = set()
        self._parts_read = PartsRead(
            self._queue.todo, build_explainer(work.settings, work.reporter.note), work.read_through
        )

    @property
    def progress(self) -> Progress:
        """All rows so far, also those that are not committed."""
        return self._tally.progress

    @property
    def committed_rows(self) -> int:
        """Rows that are committed."""
        return self._tally.committed_rows

    @property
    def is_stopping(self) -> bool:
        """Whether nothing is handed out any more."""
        return self._queue.is_stopping

    @property
    def is_all_done(self) -> bool:
        """Whether nothing is left to be done."""
        return self._queue.is_all_done

    def has_work(self) -> bool:
        """Tell whether a worker that begins now would find something to do."""
        return self._queue.has_work()

    def open_totals(self) -> Totals:
        """Add up the rows that workers had finished and not committed when they were asked to end."""
        return self._left_open

    def reading(self) -> list[Source]:
        """Return the sources of parts that are not committed, though they were begun."""
        return self._queue.reading()

    def stop(self) -> None:
        """Hand nothing out any more."""
        self._queue.stop()

    def grace(self, error: Exception) -> float:
        """Return how long others may go on, in seconds, where the work in one worker came to an error."""
        if isinstance(error, InputError):
            self._queue.forget_open()  # what cannot be read has not been
        if not isinstance(error, SummarizerUnusableError):
            return 0
        if self.progress.summarization_api_calls:  # others were answered
            error.has_answered, error.exit_code = True, TrajcompressError.exit_code
        self.stop()
        return GRACE_S

    def end(self) -> None:
        """See that all is done.

        Raises:
            WorkerDiedError: something was left.
        """
        if not self.is_stopping:
            self._parts_read.end()
        self._queue.check_all_done()

    async def answer(self, worker: int, question: Any) -> Any:
        """Answer a worker's question."""
        match question:
            case Begin():
                show_each_s = max(SHOW_EACH_S, self._workers * _SHOW_S)
                return Instructions(
                    self._work.selection, self._work.data_format, self._work.store.folder.path, show_each_s
                )
            case TurnWanted() | CallFailed() | RowFailed():
                return await self._leases.answer(worker, question)
            case TakeLast():
                return await self._take_last(worker)
        return await self._queue.answer(worker, question)

    async def _take_last(self, worker: int) -> Narrow | Join | None:
        """Return a share of the end of the run, once all parts are committed."""
        await self._queue.until_all_done()
        if self.is_stopping:
            return None
        if self._last is None:
            self._last = asyncio.ensure_future(asyncio.to_thread(self._look_for_last))
        last = await asyncio.shield(self._last)  # others wait for it, too
        share = last.pop() if last else None
        if isinstance(share, Narrow):
            self._widening[worker] = share.part
        return share

    def _look_for_last(self) -> list[Narrow | Join]:
        store, parts = self._work.store, self._ledger.in_order()
        columns, narrow = narrow_parts(store, parts)
        joins = joins_of(store, parts)
        self._to_join = [join.joined for join in joins]
        return [*joins, *(Narrow(part, columns) for part in narrow)]

    @property
    def joined(self) -> list[Location]:
        """What is joined of the metrics, where all is."""
        return self._to_join if self._joined.issuperset(self._to_join) else []

    def emitted(self, worker: int, news: Any) -> None:
        """Take note of what a worker wants known."""
        if isinstance(news, CallNews):
            self._leases.emitted(worker, news.news)
            return
        self._note(worker, news)
        self._queue.changed()

    def _note(self, worker: int, news: Any) -> None:
        match news:
            case PartEnds(number, end):
                self._ledger.counted(self._ledger.parts[number], end)
            case PartRead(assignment, how):
                self._parts_read.add(assignment, how)
            case PartCommitted(part, advanced):
                self._tally.advanced(worker, advanced)
                self._commit(worker, part)
                self.show()
            case Advanced():
                self._tally.advanced(worker, news)
                self.show()
            case Widened() | Joined():
                self._finish(worker, news)
            case LeftOpen(totals):
                self._left_open.join(totals)
            case Noted(text) if text not in self._notes:
                self._notes.add(text)
                self._work.reporter.note(text)
            case Happened(event, figures):
                if "bytes_read" in figures:  # of that worker alone
                    figures["bytes_read"] = self._tally.bytes_read
                self._work.emit(event, **figures)

    def _finish(self, worker: int, news: Widened | Joined) -> None:
        if isinstance(news, Joined):
            self._joined.add(news.joined)
        else:
            self._widening.pop(worker, None)
            self._ledger.commit(news.part)

    def died(self, worker: int, how: str) -> bool:
        """Take note that a worker is gone; return whether another is to take its place."""
        self._leases.died(worker)
        self._tally.gone(worker)
        if (part := self._widening.pop(worker, None)) is not None:
            self._settle_widened(part)
        return self._queue.died(worker, how, self._settled, self._work.reporter.note)

    def _settle_widened(self, part: CommittedPart) -> None:
        """Take a part for what it is now; what a worker did not get to is done at the end of the run."""
        if (now := self._work.store.settle_replaced(part)) is not None:
            self._ledger.commit(now)

    def _commit(self, worker: int, part: CommittedPart) -> None:
        self._ledger.commit(part)
        self._tally.committed(part)
        spec = self._ledger.parts[part.key.number]
        self._work.emit(
            "committed",
            source_file=spec.source.name,
            part=part.key.number,
            data_file=part.data.name.rpartition("/")[2] if part.data else None,
            rows=part.progress.rows,
            rows_so_far=self.committed_rows,
        )
        self._queue.done(worker, lambda assignment: is_done_by(assignment, part))

    def _settled(self, assignment: Assignment) -> bool:
        """Tell whether a part whose worker died was committed before, to the last; take note of it then."""
        key = PartKey(assignment.part.number, assignment.piece)
        if assignment.part.open_ended and not assignment.again:
            return False
        part = self._work.store.read_one(key)
        if part is None or part == assignment.again or self._work.store.settle(part):
            return False
        self._commit(-1, part)
        return True

    def show(self) -> None:
        """Show how far it is; raise TooManyFailedError where more rows failed than are allowed."""
        progress = self.progress
        self._work.reporter.advanced(self._tally.bytes_read, progress)
        if (why := too_many_failed(self._work.settings, progress)) is not None:
            raise TooManyFailedError(why)
