"""The rows that a run takes, read with notes on how: in which format, and which role names mean which roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from msgspec import Struct

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.forms.form import Form
from trajcompress.run.build.components import build_format_options
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.cursor import Counts, Cursor
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.rows import PartRows
from trajcompress.run.parts.selection import Selection
from trajcompress.run.rows.row import Finished, Parsed, parse_row
from trajcompress.settings import Settings


class PieceBegin(Struct, frozen=True):
    """Rows of a part, or of a piece of it, follow; ``again`` is what is there of it already."""

    part: Part
    piece: int
    start: Cursor
    again: CommittedPart | None = None


class PieceEnd(Struct, frozen=True):
    """All rows of a piece have come; ``read`` is how many there were, ``is_last`` says that the part has no more."""

    read: Counts
    is_last: bool


class Explains(Protocol):
    """Says how rows are read."""

    def explain(self, parsed: Parsed) -> None:
        """See a row; those of one source follow each other."""

    def end_source(self) -> None:
        """See that no row follows."""


class TriedAgain(Struct, frozen=True):
    """A row that failed before."""

    parsed: Parsed

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return self.parsed.size


Item: TypeAlias = PieceBegin | Parsed | TriedAgain | Finished | PieceEnd


FinishedBefore: TypeAlias = Callable[[CommittedPart], Callable[[Parsed], Finished | TriedAgain]]
"""Gives, for a part that is tried again, what takes its rows in order and restores those that did not fail."""


@dataclass(slots=True)
class Reading:
    """The rows that settings select of the parts that it is assigned, between where each piece begins and ends.

    ``bytes_read`` is how far it has come, on top of what was there; ``cut_short`` says that :meth:`stop` has left
    rows. ``form`` is that which rows take, ``part`` that of the last row. The ``explainer`` sees all rows; of
    parts that are tried again ``finished_before`` restores those that did not fail.
    """

    settings: Settings
    selection: Selection
    explainer: Explains | None = None
    form: Form | None = None
    bytes_read: int = 0
    finished_before: FinishedBefore | None = None
    part: Part | None = field(default=None, init=False)
    cut_short: bool = field(default=False, init=False)
    _asked_to_stop: bool = field(default=False, init=False)

    def stop(self) -> None:
        """Give no more rows."""
        self._asked_to_stop = True

    def all_of(self, ledger: Ledger, read_through: Callable[[Source], None]) -> Iterator[Item]:
        """Read what a ledger has to be done; ``read_through`` gets each source once its last row was read."""

        def read(assignment: Assignment, end: Cursor) -> None:
            if assignment.is_last:
                ledger.counted(assignment.part, end)
            for source in ledger.reads_through(assignment.part):
                read_through(source)

        return self.items(ledger.assignments(), read)

    def items(self, assignments: Iterable[Assignment], read: Callable[[Assignment, Cursor], None]) -> Iterator[Item]:
        """Read and parse each row; ``read`` is called with each assignment that was read, and where it ends."""
        explainer = self.explainer
        for assignment in assignments:
            before = self.bytes_read
            for item in self._part(assignment, read):
                if self._asked_to_stop:
                    self.cut_short = True
                    return
                if isinstance(item, Parsed):
                    self.part = assignment.part
                    if explainer:
                        explainer.explain(item)
                yield item
            self.bytes_read = before + (assignment.part.size or 0)
        if explainer:
            explainer.end_source()

    def _part(self, assignment: Assignment, read: Callable[[Assignment, Cursor], None]) -> Iterator[Item]:
        part, piece, start, selection = assignment.part, assignment.piece, assignment.start, self.selection
        options = build_format_options(self.settings)
        rows = PartRows(assignment, self._moved(part))
        seen = taken = size = 0
        yield PieceBegin(part, piece, start, assignment.again)
        done = self.finished_before(assignment.again) if assignment.again and self.finished_before else None
        for source, row in rows:
            position = start.position + seen
            if selection.takes(source, row.index, position):
                parsed = parse_row(source, row, position, options, self.form)
                if part.open_ended and size and size + parsed.size > self.settings.processing.part_size:
                    counts = Counts(seen, 0, taken)
                    yield PieceEnd(counts, is_last=False)
                    piece, start = piece + 1, start.behind(counts, same_source=True)
                    seen = taken = size = 0
                    yield PieceBegin(part, piece, start)
                yield parsed if done is None else done(parsed)
                size += parsed.size
                taken += 1
            seen += 1
            if start.taken + taken == selection.limit:  # at once: a pipe may not give another row for long
                break
        counts = Counts(seen, rows.lines, taken)
        read(assignment, start.behind(counts, same_source=True))
        yield PieceEnd(counts, is_last=assignment.is_last)

    def _moved(self, part: Part) -> Callable[[int], None]:
        before = self.bytes_read

        def moved(byte: int) -> None:
            self.bytes_read = before + min(max(0, byte - part.offset), part.size or byte)

        return moved
