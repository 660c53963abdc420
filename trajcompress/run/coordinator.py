"""The coordinator of workers: hands out parts, knows where each begins, and adds up what is done.

It does no work on rows, and none that grows with them: some messages for each part, and a few figures now and then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from trajcompress.dataset.rows import Source
from trajcompress.errors import (
    InputError,
    SummarizerUnusableError,
    TooManyFailedError,
    TrajcompressError,
    WorkerDiedError,
)
from trajcompress.metrics.totals import Totals
from trajcompress.run.assignment import Assignment
from trajcompress.run.build_calls import build_leases
from trajcompress.run.committed import CommittedPart, PartKey
from trajcompress.run.cursor import Cursor
from trajcompress.run.explained_in_order import ExplainedInOrder
from trajcompress.run.explainer import HowRead
from trajcompress.run.handed_out import HandedOut, named
from trajcompress.run.part_messages import (
    Advanced,
    Begin,
    Given,
    Happened,
    LeftOpen,
    Noted,
    PartCommitted,
    PartEnds,
    PartRead,
    Plan,
    Take,
    WhereBegins,
)
from trajcompress.run.progress import Progress
from trajcompress.run.row_loop import too_many_failed
from trajcompress.run.tally import Tally
from trajcompress.run.work import Work
from trajcompress.summarize.endpoint.leases.messages import CallFailed, CallNews, RowFailed, TurnWanted

GRACE_S = 4.5
"""How long workers have to end once they are asked to."""


class PartCoordinator:
    """The driver's side of the work of several workers on one run."""

    def __init__(self, work: Work, workers: int) -> None:
        self.is_stopping = False
        self._work = work
        self._ledger = work.ledger
        self._tally = Tally(work.ledger)
        chosen = work.settings.processing
        limited = work.selection.limit is not None
        self._handed = HandedOut(work.ledger, workers, chosen.part_size, limited=limited)
        self._left_open = Totals()
        self._notes: set[str] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._leases = build_leases(work.settings, work.tell)
        order = [(each.part.number, each.piece) for each in self._handed.todo]
        self._explaining = ExplainedInOrder(order, work.reporter.note, work.settings.input.role_map)
        self._unread: dict[Source, set[int]] = {}
        for each in self._handed.todo:
            for span in each.part.spans:
                self._unread.setdefault(span.source, set()).add(each.part.number)

    @property
    def progress(self) -> Progress:
        """All rows so far, also those that are not committed."""
        return self._tally.progress

    @property
    def committed_rows(self) -> int:
        """Rows that are committed."""
        return self._tally.committed_rows

    def open_totals(self) -> Totals:
        """Add up the rows that workers had finished and not committed when they were asked to end."""
        return self._left_open

    def reading(self) -> list[Source]:
        """Return the sources of parts that are not committed, though they were begun."""
        return self._handed.sources_open()

    def stop(self) -> None:
        """Hand nothing out any more."""
        self.is_stopping = True
        self._changed()

    def grace(self, error: Exception) -> float:
        """Return how long others may go on, in seconds, where the work in one worker came to an error."""
        if isinstance(error, InputError):
            self._handed.forget_open()  # what cannot be read has not been
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
            self._explaining.end()
        if left := self._handed.left:
            assignment, how = left[0]
            more = f" (and {len(left) - 1} more parts)" if len(left) > 1 else ""
            raise WorkerDiedError(
                f"{named(assignment)}: two worker processes died at it{more}, the last by {how}; its rows are not "
                "done, all others are. Where that is for want of memory, take fewer workers (--num-workers); the "
                "same command tries it again"
            )
        if not self.is_all_done and not self.is_stopping:
            raise WorkerDiedError(
                "all worker processes have died; where that is for want of memory, take fewer: --num-workers"
            )

    @property
    def is_all_done(self) -> bool:
        """Whether nothing is left to be done."""
        return self._handed.is_all_done

    async def answer(self, worker: int, question: Any) -> Any:
        """Answer a worker's question."""
        match question:
            case Begin():
                return Plan(self._work.selection, self._work.data_format, self._work.store.folder.path)
            case Take():
                return await self._take(worker)
            case WhereBegins(number):
                return await self._where_begins(worker, number)
            case TurnWanted() | CallFailed() | RowFailed():
                return await self._leases.answer(worker, question)
        raise ValueError(f"no such question: {question!r}")

    def told(self, worker: int, news: Any) -> None:
        """Take note of what a worker wants known."""
        if isinstance(news, CallNews):
            self._leases.told(worker, news.news)
            return
        self._note(worker, news)
        self._changed()

    def _note(self, worker: int, news: Any) -> None:
        match news:
            case PartEnds(number, end):
                self._ledger.counted(self._ledger.parts[number], end)
            case PartRead(assignment, how):
                self._read(assignment, how)
            case PartCommitted(part, advanced):
                self._tally.advanced(worker, advanced)
                self._commit(worker, part)
                self.show()
            case Advanced():
                self._tally.advanced(worker, news)
                self.show()
            case LeftOpen(totals):
                self._left_open.join(totals)
            case Noted(text):
                if text not in self._notes:
                    self._notes.add(text)
                    self._work.reporter.note(text)
            case Happened(event, figures):
                if "bytes_read" in figures:  # of that worker alone
                    figures["bytes_read"] = self._tally.bytes_read
                self._work.tell(event, **figures)

    def died(self, worker: int, how: str) -> bool:
        """Take note that a worker is gone; return whether another is to take its place."""
        self._leases.died(worker)
        given = self._handed.take_from(worker)
        self._tally.gone(worker)
        for assignment in given:
            if not self._settled(assignment):
                self._handed.died_at(assignment, how)
        if given:
            self._work.reporter.note(f"a worker process has died ({how}); its parts are worked on again")
        self._changed()
        return bool(given and self._handed.todo) and not self.is_stopping

    async def _take(self, worker: int) -> Given | None:
        handed = self._handed
        await self._until(lambda: self.is_stopping or not handed.todo or handed.may_take(worker))
        if self.is_stopping or not handed.todo:
            return None
        if (assignment := handed.take(worker)) is None:
            self._changed()
            return None
        waited_for = not handed.knows_start(assignment) or self._ledger.is_waited_for(assignment.part)
        return Given(assignment, counts_first=waited_for)

    async def _where_begins(self, worker: int, number: int) -> Cursor | None:
        part = self._ledger.parts[number]
        await self._until(lambda: self.is_stopping or self._ledger.knows_start_of(part))
        start = self._ledger.start_of(part)
        if self.is_stopping or self._ledger.is_past_limit(start):
            self._handed.drop(worker, number)
            return None
        return start

    def _read(self, assignment: Assignment, how: Sequence[HowRead]) -> None:
        self._explaining.add((assignment.part.number, assignment.piece), how)
        for span in assignment.part.spans:
            unread = self._unread.get(span.source, set())
            unread.discard(assignment.part.number)
            if not unread:
                self._work.read_through(span.source)

    def _commit(self, worker: int, part: CommittedPart) -> None:
        self._ledger.commit(part)
        self._tally.committed(part)
        spec = self._ledger.parts[part.key.number]
        self._work.tell(
            "committed",
            source_file=spec.source.name,
            part=part.key.number,
            data_file=part.data.name.rpartition("/")[2] if part.data else None,
            rows=part.progress.rows,
            rows_so_far=self.committed_rows,
        )
        self._handed.commit(worker, part)

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

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def _changed(self) -> None:
        """Let all that wait look again."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
