"""Writing what became of rows, in parts that become visible as wholes.

A part is the fate of consecutive rows of one source: their dataset rows, their metrics, and what was rejected. Its
files are made durable first, then its line in the journal commits it. Where parts end depends on the rows alone, so
an interrupted and resumed run ends with the same files as one that was not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trajcompress.dataset.durable import publish, temporary, write_durably
from trajcompress.dataset.readers import arrow_schema
from trajcompress.dataset.rows import Source
from trajcompress.dataset.shape import Columns, shape_of_arrow
from trajcompress.dataset.writers import DatasetWriter
from trajcompress.errors import OutputError, RowError
from trajcompress.events import Tell, nobody
from trajcompress.marks import RECORD_TYPES
from trajcompress.metrics import RowMetrics, metrics_schema
from trajcompress.run.folder import RunFolder
from trajcompress.run.journal import Journal, Part
from trajcompress.run.row import Finished, Rejected, reject
from trajcompress.run.totals import Totals

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa

MAX_PART_ROWS = 2000
MAX_PART_BYTES = 64 * 2**20


class PartCommitter:
    """Takes rows in input order, and commits a part whenever one is full."""

    def __init__(
        self,
        folder: RunFolder,
        output_format: Literal["parquet", "jsonl"],
        journal: Journal,
        totals: Totals,
        tell: Tell = nobody,
    ) -> None:
        parts = journal.parts()
        self._folder = folder
        self._journal = journal
        self._tell = tell
        self.totals = totals
        self.committed_rows = totals.rows
        self._number = len(parts)
        committed = [part.data_file for part in parts if part.data_file]
        for name in committed:
            if not (folder.data / name).exists():
                raise OutputError(
                    f"{folder.data / name}: is gone, though this run has written it; put it back, or start again "
                    "with --overwrite"
                )
        self._dataset = DatasetWriter(folder.data, output_format, committed=committed)
        self._source: Source | None = None
        self._native: Columns | None = None
        self._metrics: list[RowMetrics] = []
        self._rejected: list[str] = []
        self._bytes = 0
        self._last_position = -1

    def add(self, finished: Finished) -> None:
        """Add one row; commit the part before it where that is full or of another source."""
        parsed = finished.parsed
        full = len(self._metrics) >= MAX_PART_ROWS or self._bytes + parsed.size > MAX_PART_BYTES
        if self._metrics and (full or parsed.source != self._source):
            self.commit()
        if parsed.source != self._source:
            self._source = parsed.source
            self._native = _native_columns(parsed.source)
        written = self._write(finished)
        if written.rejected:
            self._rejected.append(_reject_line(parsed.source, written.rejected))
        self._bytes += parsed.size
        self._metrics.append(written.metrics)
        self._last_position = parsed.position
        self.totals.add(written.metrics)

    def commit(self) -> None:
        """Commit what was added since the last part, if anything was."""
        if self._source is None or not self._metrics:
            return
        name = f"{self._number:06d}"
        write_metrics(self._folder.metrics_parts / f"{name}.parquet", self._metrics)
        write_durably(self._folder.rejected_parts / f"{name}.jsonl", "".join(self._rejected).encode())
        part = Part(
            self._number,
            self._source.name,
            next_index=self._metrics[-1].source_row + 1,
            next_position=self._last_position + 1,
            data_file=self._dataset.commit(),
            totals=self.totals.as_state(),
        )
        self._journal.add_part(part)
        self._tell(
            "committed",
            source_file=part.source,
            part=part.number,
            data_file=part.data_file,
            rows=len(self._metrics),
            rows_so_far=self.totals.rows,
        )
        self.committed_rows = self.totals.rows
        self._number += 1
        self._metrics, self._rejected, self._bytes = [], [], 0

    def finish(self) -> None:
        """Commit the last part, bring all data parts to one schema, and put metrics and rejects together."""
        self.commit()
        self._dataset.finish()
        numbers = [f"{number:06d}" for number in range(self._number)]
        join_metrics(self._folder.metrics, [self._folder.metrics_parts / f"{name}.parquet" for name in numbers])
        _join_files(self._folder.rejected, [self._folder.rejected_parts / f"{name}.jsonl" for name in numbers])

    def abort(self) -> None:
        """Drop what is not committed."""
        self._dataset.abort()

    def _write(self, finished: Finished) -> Finished:
        """Write a row to the dataset; a row that its format cannot hold is rejected instead."""
        made = finished.parsed.made
        if finished.row is None or isinstance(made, Rejected):
            return finished
        try:
            self._dataset.write(finished.parsed.source.stem, finished.row, finished.raw, native=self._native)
        except RowError as error:
            return reject(finished.parsed, finished.metrics, made.reject(error.reason, error.detail))
        return finished


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


def write_metrics(path: Path, rows: list[RowMetrics]) -> None:
    """Write rows of metrics to a file of their own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = metrics_schema()
    columns = [_column([getattr(row, field.name) for row in rows], field.type) for field in schema]
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), temporary(path), compression="zstd")
    publish(path)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the array that ``pyarrow.array`` makes: that imports pandas, to ask whether values are of its types.

    Lone surrogates, which an id or an error may quote from a row and Arrow cannot hold, are escaped.
    """
    import numpy as np
    import pyarrow as pa

    if pa.types.is_string(kind):
        texts = [b"" if value is None else value.encode("utf-8", "backslashreplace") for value in values]
        contents: list[Any] = [np.cumsum([0, *map(len, texts)], dtype=np.int32), b"".join(texts)]
    elif pa.types.is_boolean(kind):
        contents = [np.packbits(np.array(values, bool), bitorder="little")]
    else:
        contents = [np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())]
    known = np.packbits([value is not None for value in values], bitorder="little")
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(part) for part in (known, *contents)])


def join_metrics(path: Path, parts: list[Path]) -> None:
    """Write the rows of such files to one, in order."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(temporary(path), metrics_schema(), compression="zstd") as writer:
        for part in parts:
            with pq.ParquetFile(part) as file:  # read_table loads datasets, and they pandas
                writer.write_table(file.read())
    publish(path)


def _join_files(path: Path, parts: list[Path]) -> None:
    with temporary(path).open("wb") as file:
        for part in parts:
            file.write(part.read_bytes())
    publish(path)
