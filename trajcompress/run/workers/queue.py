"""The queue of parts: hands them out to workers, knows where each begins, and hands on what a dead worker had.

It looks at no row, and does nothing that grows with the number of rows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from trajcompress.dataset.rows import Source
from trajcompress.errors import WorkerDiedError
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.cursor import Cursor
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import Selection
from trajcompress.run.workers.messages import Given, Take, WhereBegins
from trajcompress.wording import printable

_MOST_DEATHS = 2
"""A part whose worker died is worked on again, alone; one at which that died too is left."""


class PartQueue:
    """What of a ledger's parts is to be done, for so many ``workers``."""

    def __init__(self, ledger: Ledger, selection: Selection, workers: int, part_size: int) -> None:
        self.todo = deque(each for part in ledger.parts for each in ledger.missing(part))
        self.is_stopping = False
        self._ledger = ledger
        self._selection = selection
        self._workers = workers
        self._part_size = part_size
        self._open: dict[int, list[Assignment]] = {}
        self._deaths: dict[int, int] = {}
        self._left: list[tuple[Assignment, str]] = []
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def is_all_done(self) -> bool:
        """Whether nothing is left to be done."""
        return not self.todo and not any(self._open.values())

    def has_work(self) -> bool:
        """Whether anything is to be handed out."""
        return bool(self.todo) and not self.is_stopping

    def reading(self) -> list[Source]:
        """Return the sources of parts that were begun and are not done."""
        return [span.source for given in self._open.values() for each in given for span in each.part.spans]

    def forget_open(self) -> None:
        """Take what was begun for not begun."""
        self._open.clear()

    def stop(self) -> None:
        """Hand nothing out any more."""
        self.is_stopping = True
        self.changed()

    def check_all_done(self) -> None:
        """See that all is done.

        Raises:
            WorkerDiedError: something was left.
        """
        if self._left:
            assignment, how = self._left[0]
            more = f" (and {len(self._left) - 1} more parts)" if len(self._left) > 1 else ""
            raise WorkerDiedError(
                f"{_named(assignment)}: two worker processes died at it{more}, the last by {how}; its rows are not "
                "done. Where that is for want of memory, take fewer workers (--num-workers); the same command tries "
                "it again"
            )
        if not self.is_all_done and not self.is_stopping:
            raise WorkerDiedError(
                "all worker processes have died; where that is for want of memory, take fewer: --num-workers"
            )

    async def until_all_done(self) -> None:
        """Wait until nothing is left to be done, or nothing is handed out any more."""
        await self._until(lambda: self.is_stopping or self.is_all_done)

    async def take(self, worker: int) -> Given | None:
        """Return what a worker is to do next, once there is something for it; None where there is nothing more."""
        await self._until(lambda: self.is_stopping or not self.todo or self._may_take(worker))
        if self.is_stopping or not self.todo:
            return None
        assignment = self.todo.popleft()
        part, ledger = assignment.part, self._ledger
        known = assignment.piece > 0 or ledger.knows_start_of(part)
        if known and not assignment.piece:
            assignment = replace(assignment, start=ledger.start_of(part))
        if known and ledger.is_past_limit(assignment.start):
            self.todo.clear()
            self.changed()
            return None
        self._open.setdefault(worker, []).append(assignment)
        return Given(assignment, counts_first=not known or ledger.is_waited_for(part))

    def _may_take(self, worker: int) -> bool:
        """Tell whether a worker gets the next part now: one ahead, but none that others could do as well."""
        given, following = self._open.get(worker, []), self.todo[0]
        if self._selection.limit is not None and not self._ledger.knows_start_of(following.part):
            return False  # it may lie behind the last row that is taken
        if not given:
            return True
        suspect = any(each.part.number in self._deaths for each in (following, *given))
        size = sum(each.part.size or 0 for each in given)
        return not suspect and len(self.todo) > self._workers and size <= self._part_size

    async def where_begins(self, worker: int, number: int) -> Cursor | None:
        """Return where a part begins, once that is known; None where nothing of it is taken after all."""
        part = self._ledger.parts[number]
        await self._until(lambda: self.is_stopping or self._ledger.knows_start_of(part))
        start = self._ledger.start_of(part)
        if self.is_stopping or self._ledger.is_past_limit(start):
            self.done(worker, lambda each: each.part.number == number)
            return None
        return start

    def done(self, worker: int, is_done: Callable[[Assignment], bool]) -> None:
        """Take note that a worker has done some of what it was given."""
        self._open[worker] = [each for each in self._open.get(worker, ()) if not is_done(each)]

    async def answer(self, worker: int, question: Any) -> Given | Cursor | None:
        """Answer a question for a part, or for where one begins."""
        match question:
            case Take():
                return await self.take(worker)
            case WhereBegins(number):
                return await self.where_begins(worker, number)
        raise ValueError(f"no such question: {question!r}")

    def died(self, worker: int, how: str, is_done: Callable[[Assignment], bool], note: Callable[[str], None]) -> bool:
        """Hand out again what a worker had that is gone; return whether another is to take its place."""
        given = self._open.pop(worker, [])
        for assignment in reversed(given):
            if is_done(assignment):
                continue
            number = assignment.part.number
            self._deaths[number] = self._deaths.get(number, 0) + 1
            if self._deaths[number] >= _MOST_DEATHS:
                self._left.append((assignment, how))
            else:
                self.todo.extendleft(reversed(self._rest_of(assignment)))
        self.changed()
        if given:
            note(f"a worker process has died ({how}); its parts are worked on again")
        return bool(given) and self.has_work()

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

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def changed(self) -> None:
        """Let all that wait look again."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)


def is_done_by(assignment: Assignment, part: CommittedPart) -> bool:
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
