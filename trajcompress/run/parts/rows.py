"""The rows of a part as they are read, source by source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from trajcompress.dataset.cutting import Span
from trajcompress.dataset.json_rows import LineRange
from trajcompress.dataset.parquet_rows import read_parquet, row_group_rows
from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.streams import Progress
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.cursor import Counts, Cursor
from trajcompress.run.parts.selection import Selection


class PartRows:
    """Iterates over what is read of an assignment, with where from; ``lines`` counts those of a range of lines then.

    Raises:
        InputError: a source cannot be opened, or vanishes while it is read.
    """

    def __init__(self, assignment: Assignment, progress: Progress) -> None:
        self.lines = 0
        self._assignment = assignment
        self._progress = progress

    def __iter__(self) -> Iterator[tuple[Source, Row | Unreadable]]:
        before = 0
        for span in self._assignment.part.spans:
            for row in self._rows(span, before):
                yield span.source, row
            before += span.source.size or 0

    def _rows(self, span: Span, before: int) -> Iterator[Row | Unreadable]:
        start, end_index = self._assignment.start, self._assignment.end_index
        if span.end is None:

            def progress(byte: int) -> None:
                self._progress(before + byte)

            for row in read_rows(span.source, progress=progress, first=start.index):
                if end_index is not None and row.index >= end_index:
                    return
                yield row
        elif span.source.kind == "parquet":
            yield from read_parquet(span.source, self._progress, groups=(span.begin, span.end))
        else:
            lines = LineRange(span.source, span.begin, span.end)
            yield from lines.rows(index=start.index, line=start.line, progress=self._progress)
            self.lines = lines.lines


@dataclass(frozen=True, slots=True)
class Places:
    """The rows of a part by where they stand: of each source the index of the first, and how many.

    None is the index of that with which the part begins.
    """

    rows: tuple[tuple[Source, int | None, int], ...]
    lines: int = 0

    @property
    def counts(self) -> Counts:
        """How many there are, if all are taken."""
        rows = sum(count for _, _, count in self.rows)
        return Counts(rows, self.lines, rows)

    def taken(self, selection: Selection, start: Cursor) -> int:
        """Return how many of them are taken."""
        if selection.takes_all:
            taken = self.counts.rows
        else:
            begins = ((source, start.index if first is None else first, count) for source, first, count in self.rows)
            places = ((source, first + at) for source, first, count in begins for at in range(count))
            taken = sum(selection.takes(*place, position) for position, place in enumerate(places, start.position))
        return taken if selection.limit is None else min(taken, selection.limit - start.taken)


def count_rows(assignment: Assignment) -> Places:
    """Count the rows of a part, as fast as its format allows.

    Raises:
        InputError: as :class:`PartRows`.
    """
    spans = assignment.part.spans
    span, first = spans[0], 0 if len(spans) > 1 else None
    if span.end is None:
        counted = Counter(source for source, _ in PartRows(assignment, lambda _: None))
        return Places(tuple((each.source, first, counted[each.source]) for each in spans))
    if span.source.kind == "parquet":
        before, within = row_group_rows(span.source, span.begin, span.end)
        return Places(((span.source, before, within),))
    rows_of_range, lines = LineRange(span.source, span.begin, span.end).count()
    return Places(((span.source, None, rows_of_range),), lines)
