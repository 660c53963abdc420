"""Parts: consecutive rows of one input, the unit of work and of commit.

A part is a file of dataset rows, a row group of metrics, and the rejects of its rows. Where parts end depends on the
rows alone, so a run that was interrupted and resumed ends with the same files as one that was not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NamedTuple

from trajcompress.compaction.provenance import RECORD_TYPES, with_record_beside
from trajcompress.dataset.readers import arrow_schema
from trajcompress.dataset.rows import Source
from trajcompress.dataset.shape import Columns, Opaque, shape_of_arrow
from trajcompress.dataset.writers import DatasetWriter
from trajcompress.errors import RowError
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.row import Finished, Parsed, Rejected, reject
from trajcompress.transcript.summary_marks import RECORD_COLUMN

MAX_PART_ROWS = 2000
MAX_PART_BYTES = 64 * 2**20


@dataclass(slots=True)
class PartSize:
    """How much was added, in rows and in bytes of input."""

    rows: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        """Add a row of so many bytes."""
        self.rows += 1
        self.bytes += size

    def is_full_for(self, size: int) -> bool:
        """Tell whether so many bytes more are too many; what is empty takes any."""
        return self.rows >= MAX_PART_ROWS or (self.rows > 0 and self.bytes + size > MAX_PART_BYTES)


class EndedPart(NamedTuple):
    """A part that takes no more rows; its data file is complete under its temporary name.

    ``next_index`` is the row of the source that comes after it, ``next_position`` the same in the whole input;
    ``rows`` counts the rows of the input, ``written_rows`` those of the dataset.
    """

    source: Source
    next_index: int
    next_position: int
    data_file: str | None
    rows: int
    written_rows: int
    metrics: list[RowMetrics]
    rejected: list[str]


class PartBuilder:
    """Builds one part after another: rows go to the data file as they come, metrics and rejects wait for its end."""

    def __init__(self, dataset: DatasetWriter, types: Columns) -> None:
        self._dataset = dataset
        self._types = types
        self._source: Source | None = None
        self._native: Columns = {}
        self._begin()

    def _begin(self) -> None:
        self._size = PartSize()
        self._written_rows = 0
        self._next_index = self._next_position = 0
        self.metrics: list[RowMetrics] = []
        self._rejected: list[str] = []

    @property
    def is_empty(self) -> bool:
        """Whether no row was added to the open part."""
        return not self._size.rows

    def must_end_before(self, parsed: Parsed) -> bool:
        """Tell whether the open part cannot take a row: it is full, or of another source."""
        return self._size.is_full_for(parsed.size) or parsed.source != self._source

    def add(self, finished: Finished) -> RowMetrics:
        """Add a row to the open part; return its metrics, which say so where it had to be rejected."""
        parsed = finished.parsed
        if parsed.source != self._source:
            self._source = parsed.source
            self._native = _native_columns(parsed.source) | self._types
        written = self._write(finished)
        if written.rejected:
            self._rejected.append(_reject_line(parsed.source, written.rejected))
        self._size.add(parsed.size)
        self.metrics.append(written.metrics)
        self._next_index, self._next_position = written.metrics.source_row + 1, parsed.position + 1
        return written.metrics

    def _write(self, finished: Finished) -> Finished:
        """Write what became of a row; where the dataset's format cannot hold all of that, the row is rejected."""
        made = finished.parsed.made
        if not finished.rows or isinstance(made, Rejected):
            return finished
        rows = finished.rows
        if isinstance(self._native.get(RECORD_COLUMN), Opaque):  # no column can hold that and our provenance
            rows = tuple(with_record_beside(row) for row in rows)
        try:
            self._dataset.write(finished.parsed.source.stem, rows, finished.raw, native=self._native)
        except RowError as error:
            return reject(finished.parsed, finished.metrics, made.reject(error.reason, error.detail))
        self._written_rows += len(rows)
        return finished

    def end(self) -> EndedPart | None:
        """End the open part, and begin another; None where it has no rows."""
        if self._source is None or self.is_empty:
            return None
        ended = EndedPart(
            self._source,
            self._next_index,
            self._next_position,
            self._dataset.end_part(),
            self._size.rows,
            self._written_rows,
            self.metrics,
            self._rejected,
        )
        self._begin()
        return ended


def _native_columns(source: Source) -> Columns:
    """Return the types that a typed source declares, so that its columns keep them, and that of our own."""
    schema = arrow_schema(source)
    return RECORD_TYPES | ({field.name: shape_of_arrow(field.type) for field in schema} if schema else {})


def _reject_line(source: Source, rejected: Rejected) -> str:
    line = {
        "source": source.name,
        "line": rejected.line,
        "reason": rejected.reason,
        "detail": rejected.detail,
        "raw": rejected.raw,
    }
    return json.dumps(line) + "\n"
