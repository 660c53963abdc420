"""The rows of a part as they are read, source by source."""

from __future__ import annotations

from collections.abc import Iterator

from trajcompress.dataset.cutting import Span
from trajcompress.dataset.json_rows import LineRange
from trajcompress.dataset.parquet_rows import read_parquet
from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.streams import Progress
from trajcompress.run.assignment import Assignment


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
