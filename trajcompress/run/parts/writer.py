"""Writing a part: its rows go to its data file, its metrics and its rejects as they come, under temporary names."""

from __future__ import annotations

import glob
import json
from collections.abc import Sequence
from typing import BinaryIO

from msgspec import Struct, field

from trajcompress.compaction.provenance import PROVENANCE_TYPES, with_provenance_beside
from trajcompress.dataset.durable import TEMPORARY, sync, temporary
from trajcompress.dataset.readers import arrow_schema
from trajcompress.dataset.rows import Source
from trajcompress.dataset.shape import Columns, Opaque, Scalar, merge, shape_of_arrow
from trajcompress.dataset.storage.location import Location, name_within
from trajcompress.dataset.writers import open_part
from trajcompress.errors import RowError
from trajcompress.forms.chat import as_read
from trajcompress.metrics.files import MetricsWriter, TableWriter
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.segment import SegmentMetrics
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.manifest import WrittenFile, describe_file
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.parts.committed import CommittedPart, PartKey
from trajcompress.run.parts.cursor import Counts, Cursor
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.row import Finished, Rejected, reject
from trajcompress.settings.choices import OutputFormat
from trajcompress.transcript.summary_marks import PROVENANCE_COLUMN


class DataFormat(Struct, frozen=True):
    """How data files are written.

    ``types`` are those of columns of the form that rows are in, ``reserved`` those that no other values may stand
    beside, whichever part they are in.
    """

    name: OutputFormat
    types: Columns = field(default_factory=dict)
    reserved: Columns = field(default_factory=dict)


def reserved_columns(sources: Sequence[Source]) -> Columns:
    """Return the columns whose values in a typed source have no JSON form, so that no others fit beside them.

    Where sources differ in the type of one, that of the first holds.

    Raises:
        InputError: a source cannot be opened.
    """
    reserved: Columns = {}
    for source in sources if len(sources) > 1 else ():
        for name, shape in _declared(source).items():
            if merge(shape, Scalar.JSON) is Scalar.MIXED:
                reserved.setdefault(name, shape)
    return reserved


class PartWriter:
    """Writes one part, or one piece of one. ``progress`` counts its rows so far."""

    def __init__(self, folder: RunFolder, key: PartKey, start: Cursor, data: str, data_format: DataFormat) -> None:
        """Take its key, where it begins, and the name of its data file."""
        self.progress = Progress()
        self._folder = folder
        self._key = key
        self._start = start
        self._format = data_format
        self._paths = {
            "data": folder.data / data,
            "metrics": folder.metrics_parts / key.file("parquet"),
            "rejected": folder.rejected_parts / key.file("jsonl"),
            "segments": folder.segments_parts / key.file("parquet"),
        }
        self._data = open_part(self._paths["data"], data_format.reserved)
        self._metrics = MetricsWriter(self._paths["metrics"])
        self._segments = TableWriter(self._paths["segments"], SegmentMetrics)
        self._rejects: BinaryIO | None = None
        self._written = self._rejected = self._segmented = 0
        self._source: Source | None = None
        self._native: Columns = {}

    def add(self, finished: Finished) -> RowMetrics:
        """Write what became of a row; return its metrics, which say so where it had to be rejected."""
        source = finished.parsed.source
        if source != self._source:
            declared = _declared(source)
            renamed = {as_read(name): shape for name, shape in declared.items()}
            self._source, self._native = source, PROVENANCE_TYPES | renamed | declared | self._format.types
        written = self._write(finished)
        if written.rejected:
            self._reject(_reject_line(source, written.rejected))
        self._metrics.add(written.metrics)
        for segment in written.segments:
            self._segments.add(segment)
        self._segmented += len(written.segments)
        self.progress.add(written.metrics)
        return written.metrics

    def _write(self, finished: Finished) -> Finished:
        """Write a row; where the dataset's format cannot hold all that became of it, it is rejected."""
        made = finished.parsed.made
        if not finished.rows or isinstance(made, Rejected):
            return finished
        rows = finished.rows
        if isinstance(self._native.get(PROVENANCE_COLUMN), Opaque):  # no column can hold that and our provenance
            rows = tuple(with_provenance_beside(row) for row in rows)
        try:
            self._data.write(rows, finished.raw, self._native)
        except RowError as error:
            return reject(finished.parsed, finished.metrics, made.reject(error.reason, error.detail))
        self._written += len(rows)
        return finished

    def _reject(self, line: bytes) -> None:
        if self._rejects is None:
            self._rejects = temporary(self._paths["rejected"]).open("wb")
        self._rejects.write(line)
        self._rejected += 1

    def end(self, read: Counts, *, is_last: bool) -> CommittedPart:
        """Make its files complete and durable under their temporary names; return its manifest."""
        files = []
        if self._data.close():
            files.append(self._describe("data", self._written))
        if self._metrics.close():
            files.append(self._describe("metrics", self.progress.rows))
        if self._segments.close():
            files.append(self._describe("segments", self._segmented))
        if self._rejects is not None:
            self._rejects.close()
            sync(temporary(self._paths["rejected"]))
            files.append(self._describe("rejected", self._rejected))
        return CommittedPart(self._key, is_last, self._start, read, tuple(files), self.progress)

    def _describe(self, what: str, rows: int) -> WrittenFile:
        path = self._paths[what]
        return describe_file(temporary(path), name_within(self._folder.path, path), rows)

    def totals(self) -> Totals:
        """Add up its rows so far."""
        return self._metrics.totals()

    def abort(self) -> None:
        """Drop it."""
        self._data.abort()
        self._metrics.abort()
        self._segments.abort()
        if self._rejects is not None:
            self._rejects.close()
        for path in self._paths.values():
            _delete_unfinished(path)


def _delete_unfinished(location: Location) -> None:
    path = temporary(location)
    for unfinished in path.parent.glob(f"{glob.escape(location.name)}*{TEMPORARY}"):
        unfinished.unlink(missing_ok=True)


def _declared(source: Source) -> Columns:
    """Return the types that a typed source declares, so that its columns keep them."""
    schema = arrow_schema(source)
    return {field.name: shape_of_arrow(field.type) for field in schema} if schema else {}


def _reject_line(source: Source, rejected: Rejected) -> bytes:
    line = {
        "source": source.name,
        "line": rejected.line,
        "reason": rejected.reason,
        "detail": rejected.detail,
        "raw": rejected.raw,
    }
    return (json.dumps(line) + "\n").encode()
