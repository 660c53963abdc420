"""The coordinator of workers: hands out parts, knows where each begins, and adds up what is done.

It does no work on rows, and none that grows with them: some messages for each part, and a few figures now and then.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from trajcompress.run.committed import CommittedPart, PartKey
from trajcompress.run.cursor import Cursor
from trajcompress.run.explainer import Explainer, HowRead
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
from trajcompress.run.work import Work
from trajcompress.wording import printable

GRACE_S = 4.5
"""How long workers have to end once they are asked to."""
_MOST_DEATHS = 2
"""A part whose worker died is worked on again, alone; one at which that died too is left."""


class PartCoordinator:
    """The driver's side of the work of several workers on one run."""

    def __init__(self, work: Work, workers: int) -> None:
        self.committed_rows = work.ledger.progress().rows
        self.is_stopping = False
        self._work = work
        self._workers = workers
        self._ledger = work.ledger
        self._committed = work.ledger.progress()
        self._bytes_before = work.ledger.bytes_done()
        self._todo = deque(each for part in work.ledger.parts for each in work.ledger.missing(part))
        self._open: dict[int, list[Assignment]] = {}
        self._advanced: dict[int, Advanced] = {}
        self._bytes_of_others = 0  # workers that have ended
        self._deaths: dict[int, int] = {}
        self._left: list[tuple[Assignment, str]] = []
        self._left_open = Totals()
        self._notes: set[str] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._explaining = _InOrder([(each.part.number, each.piece) for each in self._todo], work)
        self._unread: dict[Source, set[int]] = {}
        for each in self._todo:
            for span in each.part.spans:
                self._unread.setdefault(span.source, set()).add(each.part.number)

    @property
    def progress(self) -> Progress:
        """All rows so far, also those that are not committed."""
        progress = Progress()
        progress.join(self._committed)
        for advanced in self._advanced.values():
            progress.join(advanced.progress)
        return progress

    def open_totals(self) -> Totals:
        """Add up the rows that workers had finished and not committed when they were asked to end."""
        return self._left_open

    def reading(self) -> list[Source]:
        """Return the sources of parts that are not committed, though they were begun."""
        return [span.source for given in self._open.values() for each in given for span in each.part.spans]

    def stop(self) -> None:
        """Hand nothing out any more."""
        self.is_stopping = True
        self._changed()

    def grace(self, error: Exception) -> float:
        """Return how long others may go on, in seconds, where the work in one worker came to an error."""
        if isinstance(error, InputError):
            self._open.clear()  # what cannot be read has not been
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
        if self._left:
            assignment, how = self._left[0]
            more = f" (and {len(self._left) - 1} more parts)" if len(self._left) > 1 else ""
            raise WorkerDiedError(
                f"{_named(assignment)}: two worker processes died at it{more}, the last by {how}; its rows are not "
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
        return not self._todo and not any(self._open.values())

    async def answer(self, worker: int, question: Any) -> Any:
        """Answer a worker's question."""
        match question:
            case Begin():
                return Plan(self._work.selection, self._work.data_format, self._work.store.folder.path)
            case Take():
                return await self._take(worker)
            case WhereBegins(number):
                return await self._where_begins(worker, number)
        raise ValueError(f"no such question: {question!r}")

    def told(self, worker: int, news: Any) -> None:
        """Take note of what a worker wants known."""
        match news:
            case PartEnds(number, end):
                self._ledger.counted(self._ledger.parts[number], end)
            case PartRead(assignment, how):
                self._read(assignment, how)
            case PartCommitted(part, advanced):
                self._advanced[worker] = advanced
                self._commit(worker, part)
                self.show()
            case Advanced():
                self._advanced[worker] = news
                self.show()
            case LeftOpen(totals):
                self._left_open.join(totals)
            case Noted(text):
                if text not in self._notes:
                    self._notes.add(text)
                    self._work.reporter.note(text)
            case Happened(event, figures):
                if "bytes_read" in figures:  # of that worker alone
                    figures["bytes_read"] = self._bytes_read()
                self._work.emit(event, **figures)
        self._changed()

    def died(self, worker: int, how: str) -> bool:
        """Take note that a worker is gone; return whether another is to take its place."""
        given = self._open.pop(worker, [])
        if advanced := self._advanced.pop(worker, None):
            self._bytes_of_others += advanced.bytes_read
        for assignment in reversed(given):
            if self._settled(assignment):
                continue
            number = assignment.part.number
            self._deaths[number] = self._deaths.get(number, 0) + 1
            if self._deaths[number] >= _MOST_DEATHS:
                self._left.append((assignment, how))
            else:
                self._todo.extendleft(reversed(self._rest_of(assignment)))
        if given:
            self._work.reporter.note(f"a worker process has died ({how}); its parts are worked on again")
        self._changed()
        return bool(given and self._todo) and not self.is_stopping

    async def _take(self, worker: int) -> Given | None:
        await self._until(lambda: self.is_stopping or not self._todo or self._may_take(worker))
        if self.is_stopping or not self._todo:
            return None
        assignment = self._todo.popleft()
        part, ledger = assignment.part, self._ledger
        known = assignment.piece > 0 or ledger.knows_start_of(part)
        if known and not assignment.piece:
            assignment = replace(assignment, start=ledger.start_of(part))
        if known and ledger.is_past_limit(assignment.start):
            self._todo.clear()
            self._changed()
            return None
        self._open.setdefault(worker, []).append(assignment)
        return Given(assignment, counts_first=not known or ledger.is_waited_for(part))

    def _may_take(self, worker: int) -> bool:
        """Tell whether a worker gets the next part now: one ahead, but none that others could do as well."""
        given, following = self._open.get(worker, []), self._todo[0]
        if self._work.selection.limit is not None and not self._ledger.knows_start_of(following.part):
            return False  # it may lie behind the last row that is taken
        if not given:
            return True
        suspect = any(each.part.number in self._deaths for each in (following, *given))
        size = sum(each.part.size or 0 for each in given)
        return not suspect and len(self._todo) > self._workers and size <= self._work.settings.processing.part_size

    async def _where_begins(self, worker: int, number: int) -> Cursor | None:
        part = self._ledger.parts[number]
        await self._until(lambda: self.is_stopping or self._ledger.knows_start_of(part))
        start = self._ledger.start_of(part)
        if self.is_stopping or self._ledger.is_past_limit(start):
            self._open[worker] = [each for each in self._open.get(worker, ()) if each.part.number != number]
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
        self._committed.join(part.progress)
        self.committed_rows += part.progress.rows
        spec = self._ledger.parts[part.key.number]
        self._work.emit(
            "committed",
            source_file=spec.source.name,
            part=part.key.number,
            data_file=part.data.name.rpartition("/")[2] if part.data else None,
            rows=part.progress.rows,
            rows_so_far=self.committed_rows,
        )
        given = self._open.get(worker, [])
        self._open[worker] = [each for each in given if not _is_done_by(each, part)]

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

    def _rest_of(self, assignment: Assignment) -> list[Assignment]:
        """Return what is left of an assignment, some pieces of which may be committed."""
        if assignment.again:
            return [assignment]
        end = assignment.end_index
        missing = self._ledger.missing(assignment.part)
        return [
            each
            for each in missing
            if each.piece >= assignment.piece and not each.again and (end is None or each.start.index < end)
        ]

    def show(self) -> None:
        """Show how far it is; raise TooManyFailedError where more rows failed than are allowed."""
        progress = self.progress
        self._work.reporter.advanced(self._bytes_read(), progress)
        if (why := too_many_failed(self._work.settings, progress)) is not None:
            raise TooManyFailedError(why)

    def _bytes_read(self) -> int:
        of_workers = sum(advanced.bytes_read for advanced in self._advanced.values())
        return self._bytes_before + self._bytes_of_others + of_workers

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


class _InOrder:
    """Explains how rows were read in the order of the parts, whichever comes first."""

    def __init__(self, order: Sequence[tuple[int, int]], work: Work) -> None:
        self._order = deque(order)
        self._known: dict[tuple[int, int], Sequence[HowRead]] = {}
        self._explainer = Explainer(work.reporter.note, work.settings.input.role_map)

    def add(self, place: tuple[int, int], how: Sequence[HowRead]) -> None:
        """Take how the rows of a part were read."""
        self._known.setdefault(place, how)
        while self._order and self._order[0] in self._known:
            self._explain(self._order.popleft())

    def end(self) -> None:
        """Explain what is left."""
        for place in self._order:
            self._explain(place)
        self._explainer.end_source()

    def _explain(self, place: tuple[int, int]) -> None:
        for how in self._known.get(place, ()):
            self._explainer.add(how)


def _is_done_by(assignment: Assignment, part: CommittedPart) -> bool:
    """Tell whether an assignment is done with a piece that was committed."""
    if assignment.part.number != part.key.number:
        return False
    if not assignment.part.open_ended or part.is_last:
        return True
    end = part.start.index + part.read.rows
    return assignment.end_index is not None and assignment.piece <= part.key.piece and end >= assignment.end_index


def _named(assignment: Assignment) -> str:
    part = assignment.part
    span = part.spans[0]
    name = printable(part.source.name)
    if len(part.spans) > 1:
        return f"{name} and the {len(part.spans) - 1} files after it"
    if span.end is None:
        return name
    return f"{name}, {'row groups' if part.source.kind == 'parquet' else 'bytes'} {span.begin:,} to {span.end:,}"
