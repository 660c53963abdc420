"""Which parts are to be done yet, who works on which, and what becomes of those whose worker dies."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from trajcompress.dataset.rows import Source
from trajcompress.run.assignment import Assignment
from trajcompress.run.committed import CommittedPart
from trajcompress.run.ledger import Ledger
from trajcompress.wording import printable

_MOST_DEATHS = 2
"""A part whose worker died is worked on again, alone; one at which that died too is left."""


class HandedOut:
    """The assignments of a run; knows no event loop.

    Args:
        ledger: knows the parts, and which of them are committed.
        workers: how many there are.
        part_size: of how much input a worker takes parts ahead, in bytes.
        limited: whether only so many rows are taken.
    """

    def __init__(self, ledger: Ledger, workers: int, part_size: int, *, limited: bool) -> None:
        self.todo = deque(each for part in ledger.parts for each in ledger.missing(part))
        self.left: list[tuple[Assignment, str]] = []
        """Those at which workers have died too often, and how the last did."""
        self._ledger = ledger
        self._workers = workers
        self._part_size = part_size
        self._limited = limited
        self._open: dict[int, list[Assignment]] = {}  # by worker
        self._deaths: dict[int, int] = {}  # by part

    @property
    def is_all_done(self) -> bool:
        """Whether nothing is left to be done."""
        return not self.todo and not any(self._open.values())

    def sources_open(self) -> list[Source]:
        """Return the sources of parts that are being worked on."""
        return [span.source for given in self._open.values() for each in given for span in each.part.spans]

    def may_take(self, worker: int) -> bool:
        """Tell whether a worker gets the next part now: one ahead, but none that others could do as well."""
        given, following = self._open.get(worker, []), self.todo[0]
        if self._limited and not self._ledger.knows_start_of(following.part):
            return False  # it may lie behind the last row that is taken
        if not given:
            return True
        suspect = any(each.part.number in self._deaths for each in (following, *given))
        size = sum(each.part.size or 0 for each in given)
        return not suspect and len(self.todo) > self._workers and size <= self._part_size

    def take(self, worker: int) -> Assignment | None:
        """Hand the next part to a worker; None, and nothing is to be done, where all rows are taken before it."""
        assignment = self.todo.popleft()
        if not assignment.piece and self._ledger.knows_start_of(assignment.part):
            assignment = replace(assignment, start=self._ledger.start_of(assignment.part))
        if self.knows_start(assignment) and self._ledger.is_past_limit(assignment.start):
            self.todo.clear()
            return None
        self._open.setdefault(worker, []).append(assignment)
        return assignment

    def knows_start(self, assignment: Assignment) -> bool:
        """Tell whether it is known where an assignment begins."""
        return assignment.piece > 0 or self._ledger.knows_start_of(assignment.part)

    def drop(self, worker: int, number: int) -> None:
        """Take a part from a worker, none of whose rows is taken."""
        self._open[worker] = [each for each in self._open.get(worker, ()) if each.part.number != number]

    def forget_open(self) -> None:
        """Forget who works on what."""
        self._open.clear()

    def commit(self, worker: int, part: CommittedPart) -> None:
        """Take note that a piece is done."""
        self._open[worker] = [each for each in self._open.get(worker, []) if not _is_done_by(each, part)]

    def take_from(self, worker: int) -> list[Assignment]:
        """Return what a worker had that is gone, the last first."""
        return self._open.pop(worker, [])[::-1]

    def died_at(self, assignment: Assignment, how: str) -> None:
        """Have an assignment worked on again whose worker died, unless it was not the first."""
        number = assignment.part.number
        self._deaths[number] = self._deaths.get(number, 0) + 1
        if self._deaths[number] >= _MOST_DEATHS:
            self.left.append((assignment, how))
        else:
            self.todo.extendleft(reversed(self._rest_of(assignment)))

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


def _is_done_by(assignment: Assignment, part: CommittedPart) -> bool:
    """Tell whether an assignment is done with a piece that was committed."""
    if assignment.part.number != part.key.number:
        return False
    if not assignment.part.open_ended or part.is_last:
        return True
    end = part.start.index + part.read.rows
    return assignment.end_index is not None and assignment.piece <= part.key.piece and end >= assignment.end_index


def named(assignment: Assignment) -> str:
    """Name an assignment's part, for people."""
    part = assignment.part
    span = part.spans[0]
    name = printable(part.source.name)
    if len(part.spans) > 1:
        return f"{name} and the {len(part.spans) - 1} files after it"
    if span.end is None:
        return name
    return f"{name}, {'row groups' if part.source.kind == 'parquet' else 'bytes'} {span.begin:,} to {span.end:,}"
