"""The rows that a run takes, read with notes on how: in which format, and which role names mean which roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.formats.adapter import explain_format, explain_roles
from trajcompress.forms.form import Form
from trajcompress.run.assignment import Assignment
from trajcompress.run.build import build_format_options
from trajcompress.run.committed import CommittedPart
from trajcompress.run.cursor import Counts, Cursor
from trajcompress.run.ledger import Ledger
from trajcompress.run.part_rows import PartRows
from trajcompress.run.row import Accepted, Parsed, parse_row
from trajcompress.run.selection import Selection
from trajcompress.settings import Settings
from trajcompress.settings.choices import Role
from trajcompress.transcript.text_protocol import beginning_of, explain_text_protocol, has_text_protocol
from trajcompress.transcript.trajectory import Trajectory
from trajcompress.wording import printable

_MOST_LINES = 20
"""Files may be many, and hostile rows name a role each; ways of reading that are new have as many more."""


@dataclass(frozen=True, slots=True)
class PieceBegin:
    """Rows of a part, or of a piece of it, follow; ``again`` is what is there of it already."""

    part: Part
    piece: int
    start: Cursor
    again: CommittedPart | None = None


@dataclass(frozen=True, slots=True)
class PieceEnd:
    """All rows of a piece have come; ``read`` is how many there were, ``is_last`` says that the part has no more."""

    read: Counts
    is_last: bool


Item: TypeAlias = PieceBegin | Parsed | PieceEnd


@dataclass(slots=True)
class Reading:
    """The rows that settings select of the parts that it is assigned, between where each piece begins and ends.

    ``bytes_read`` is how far it has come, on top of what was there; ``cut_short`` says that :meth:`stop` has left
    rows. ``form`` is that which rows take, ``part`` that of the last row. ``note`` gets lines on how rows are
    read.
    """

    settings: Settings
    selection: Selection
    note: Callable[[str], None] | None = None
    form: Form | None = None
    bytes_read: int = 0
    part: Part | None = field(default=None, init=False)
    cut_short: bool = field(default=False, init=False)
    _asked_to_stop: bool = field(default=False, init=False)

    def stop(self) -> None:
        """Give no more rows."""
        self._asked_to_stop = True

    def all_of(self, ledger: Ledger, read_through: Callable[[Source], None]) -> Iterator[Item]:
        """Read what a ledger has to be done; ``read_through`` is told each source once its last row was read."""

        def read(assignment: Assignment, end: Cursor) -> None:
            if assignment.is_last:
                ledger.counted(assignment.part, end)
            for source in ledger.reads_through(assignment.part):
                read_through(source)

        return self.items(ledger.assignments(), read)

    def items(self, assignments: Iterable[Assignment], read: Callable[[Assignment, Cursor], None]) -> Iterator[Item]:
        """Read and parse each row; ``read`` is told of each assignment that was read, and where it ends."""
        explainer = Explainer(self.note, self.settings.input.role_map) if self.note else None
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
                yield parsed
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


class Explainer:
    """Notes how the rows of each source are read, of many sources only what is new; ``role_map`` needs no note.

    What needs all rows of a source to be said comes at its end.
    """

    def __init__(self, note: Callable[[str], None], role_map: Mapping[str, Role]) -> None:
        self._note = note
        self._role_map = role_map
        self._source = ""
        self._said_of_it: set[str] = set()
        self._said: set[str] = set()
        self._lines = 0
        self._rows = self._of_protocol = 0
        self._begin = ""

    def explain(self, parsed: Parsed) -> None:
        """Say how a row was read, if that is new."""
        if not isinstance(parsed.made, Accepted):
            return
        trajectory, source = parsed.made.trajectory, parsed.source.name
        if source != self._source:
            self.end_source()
            self._source, self._said_of_it = source, set()
        for text in (explain_format(trajectory), *explain_roles(trajectory, self._role_map)):
            if text not in self._said_of_it:
                self._say(text, text)
        self._count(trajectory)

    def end_source(self) -> None:
        """Say what is to be said of all rows of the source."""
        if self._of_protocol:
            text = explain_text_protocol(self._of_protocol, self._rows, self._begin)
            self._say(text, f"text protocol: {self._begin}")
        self._rows = self._of_protocol = 0

    def _count(self, trajectory: Trajectory) -> None:
        self._rows += 1
        if has_text_protocol(trajectory.turns):
            if not self._of_protocol:
                self._begin = beginning_of(trajectory.turns)
            self._of_protocol += 1

    def _say(self, text: str, way: str) -> None:
        """Say a line; ``way`` is what of it other sources may have in common with this one."""
        if self._lines >= (_MOST_LINES if way in self._said else 2 * _MOST_LINES):
            return
        self._said_of_it.add(way)
        self._said.add(way)
        self._lines += 1
        self._note(f"{printable(self._source)}: {text}")
        if self._lines == _MOST_LINES:
            self._note("from here on files are named only where their rows are read in another way")
