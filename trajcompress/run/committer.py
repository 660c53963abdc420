"""Writing what became of rows, in parts that become visible as wholes.

A part is the fate of consecutive rows of one source: a file of dataset rows, a row group of metrics, and what was
rejected. Parts of small sources are committed together: their files are made durable first, one of metrics and one of
rejects for all of them, then their lines in the journal commit them, and data files get their names. Where parts end
depends on the rows alone, so an interrupted and resumed run ends with the same files as one that was not; which go
together shows in none of them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trajcompress.compaction.provenance import RECORD_COLUMN, RECORD_TYPES, with_record_beside
from trajcompress.dataset.durable import publish, temporary, write_durably
from trajcompress.dataset.readers import arrow_schema
from trajcompress.dataset.rows import Source
from trajcompress.dataset.shape import Columns, Opaque, shape_of_arrow
from trajcompress.dataset.writers import DatasetWriter
from trajcompress.errors import OutputError, RowError
from trajcompress.events import Tell, nobody
from trajcompress.metrics.files import read_totals
from trajcompress.metrics.row import RowMetrics, metrics_schema
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder import RunFolder
from trajcompress.run.journal import CommittedFile, Journal, Part
from trajcompress.run.manifest import WrittenFile, describe_file, first_damage
from trajcompress.run.progress import Progress
from trajcompress.run.row import Finished, Rejected, reject

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa

MAX_PART_ROWS = 2000
MAX_PART_BYTES = 64 * 2**20
_COMMIT_AFTER_S = 1.0
"""How long small parts wait for others; what waits is lost by a kill."""


@dataclass(slots=True)
class _Size:
    """How much was added, in rows and in bytes of input."""

    rows: int = 0
    bytes: int = 0

    def add(self, size: int) -> None:
        self.rows += 1
        self.bytes += size

    def is_full_for(self, size: int) -> bool:
        """Tell whether so many bytes more are too many; what is empty takes any."""
        return self.rows >= MAX_PART_ROWS or (self.rows > 0 and self.bytes + size > MAX_PART_BYTES)


class _Ended(NamedTuple):
    """A part that waits to be committed, and what became of its rows."""

    part: Part
    data: WrittenFile | None
    metrics: list[RowMetrics]
    rejected: list[str]


class PartCommitter:
    """Takes rows in input order, and commits parts whenever there is enough of them."""

    def __init__(
        self,
        folder: RunFolder,
        output_format: Literal["parquet", "jsonl"],
        journal: Journal,
        progress: Progress,
        tell: Tell = nobody,
    ) -> None:
        self._files = {file.file.name: file for file in journal.files()}
        self._folder = folder
        self._journal = journal
        self._tell = tell
        self.progress = progress
        self.committed_rows = progress.rows
        parts = journal.parts()
        self._number = len(parts)
        committed = [part.data_file for part in parts if part.data_file]
        self._dataset = DatasetWriter(folder.data, output_format, committed=committed)
        self._source: Source | None = None
        self._native: Columns | None = None
        self._part = _Size()
        self._written_rows = 0
        self._next_index = self._next_position = 0
        self._metrics: list[RowMetrics] = []
        self._rejected: list[str] = []
        self._ended: list[_Ended] = []
        self._uncommitted = _Size()
        self._committed_at = time.monotonic()

    def add(self, finished: Finished) -> None:
        """Add one row; end the part before it where that is full or of another source."""
        parsed = finished.parsed
        if self._part.is_full_for(parsed.size) or parsed.source != self._source:
            self._end_part()
        if not self._part.rows and (self._uncommitted.is_full_for(parsed.size) or self._commits_are_due()):
            self.commit_parts()
        if parsed.source != self._source:
            self._source = parsed.source
            self._native = _native_columns(parsed.source)
        written = self._write(finished)
        if written.rejected:
            self._rejected.append(_reject_line(parsed.source, written.rejected))
        self._part.add(parsed.size)
        self._uncommitted.add(parsed.size)
        self._metrics.append(written.metrics)
        self._next_index, self._next_position = written.metrics.source_row + 1, parsed.position + 1
        self.progress.add(written.metrics)

    def _commits_are_due(self) -> bool:
        return time.monotonic() - self._committed_at >= _COMMIT_AFTER_S

    def _end_part(self) -> None:
        if self._source is None or not self._part.rows:
            return
        name = self._dataset.end_part()
        part = Part(
            self._number,
            self._source.name,
            self._next_index,
            self._next_position,
            data_file=name,
            rows=self._part.rows,
            totals=self.progress.as_state(),
        )
        data = self._describe(self._folder.data / name, self._written_rows) if name else None
        self._ended.append(_Ended(part, data, self._metrics, self._rejected))
        self._number += 1
        self._part, self._written_rows, self._metrics, self._rejected = _Size(), 0, [], []

    def _describe(self, path: Path, rows: int) -> WrittenFile:
        """Describe a data file that has its temporary name."""
        return describe_file(temporary(path), self._name(path), rows)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._folder.path).as_posix()

    def commit_parts(self) -> None:
        """Commit the parts that have ended since the last time, if any have."""
        if not self._ended:
            return
        parts = [ended.part for ended in self._ended]
        first = parts[0].number
        metrics = self._folder.metrics_parts / f"{first:06d}.parquet"  # a run that was killed writes it anew
        write_metrics(metrics, [ended.metrics for ended in self._ended])
        rejects = self._folder.rejected_parts / f"{first:06d}.jsonl"
        rejected = [line for ended in self._ended for line in ended.rejected]
        write_durably(rejects, "".join(rejected).encode())
        self._dataset.sync_ended()
        files = [CommittedFile(ended.part.number, ended.data) for ended in self._ended if ended.data]
        rows = sum(part.rows for part in parts)
        files.append(CommittedFile(first, describe_file(metrics, self._name(metrics), rows)))
        files.append(CommittedFile(first, describe_file(rejects, self._name(rejects), len(rejected))))
        self._journal.add_parts(parts, files)
        self._dataset.publish()
        self._files |= {file.file.name: file for file in files}
        for part in parts:
            self.committed_rows += part.rows
            self._tell(
                "committed",
                source_file=part.source,
                part=part.number,
                data_file=part.data_file,
                rows=part.rows,
                rows_so_far=self.committed_rows,
            )
        self._ended, self._uncommitted = [], _Size()
        self._committed_at = time.monotonic()

    def finish(self, changed: Collection[str] = ()) -> None:
        """Commit the last part, bring all data parts to one schema, and put metrics and rejects together.

        Args:
            changed: the sources that changed while they were read: their rows are marked.

        Raises:
            OutputError: what was committed has been changed meanwhile.
        """
        self._end_part()
        self.commit_parts()
        if why := first_damage(self._folder.path, [file.file for file in self._files.values()]):
            raise OutputError(f"{why}; run the same command again, which does its rows again")
        self._dataset.finish(self._note_rewritten)
        join_metrics(self._folder.metrics, self._committed_in(self._folder.metrics_parts), changed)
        _join_files(self._folder.rejected, self._committed_in(self._folder.rejected_parts))

    def totals(self) -> Totals:
        """Add up all rows so far, those too that are not committed.

        Raises:
            InputError: the metrics of a part cannot be read.
        """
        totals = read_totals(*self._committed_in(self._folder.metrics_parts))
        totals.add(*(row for ended in self._ended for row in ended.metrics), *self._metrics)
        return totals

    def manifest(self) -> list[WrittenFile]:
        """Describe what the finished run leaves: its data files in order, its metrics and rejects."""
        folder = self._folder
        data, rejects = (
            [self._files[self._name(path)].file for path in self._committed_in(parts)]
            for parts in (folder.data, folder.rejected_parts)
        )
        rejected = sum(file.rows for file in rejects)
        return [
            *data,
            describe_file(folder.metrics, self._name(folder.metrics), self.progress.rows),
            describe_file(folder.rejected, self._name(folder.rejected), rejected),
        ]

    def _committed_in(self, folder: Path) -> list[Path]:
        """Return the files of committed parts in a folder, in order."""
        return [path for name in self._files if (path := self._folder.path / name).parent == folder]

    def _note_rewritten(self, path: Path) -> None:
        """Put down that a part is about to be replaced: a kill from now on leaves the old one or the new one."""
        old = self._files[self._name(path)]
        new = CommittedFile(old.part, self._describe(path, old.file.rows), rewritten=True)
        self._journal.replace_file(new)
        self._files[self._name(path)] = new

    def abort(self) -> None:
        """Drop what is not committed."""
        self._dataset.abort()

    def _write(self, finished: Finished) -> Finished:
        """Write a row to the dataset; a row that its format cannot hold is rejected instead."""
        made = finished.parsed.made
        if finished.row is None or isinstance(made, Rejected):
            return finished
        row, native = finished.row, self._native or {}
        if isinstance(native.get(RECORD_COLUMN), Opaque):  # no column can hold that and our records
            row = with_record_beside(row)
        try:
            self._dataset.write(finished.parsed.source.stem, row, finished.raw, native=native)
        except RowError as error:
            return reject(finished.parsed, finished.metrics, made.reject(error.reason, error.detail))
        self._written_rows += 1
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


def write_metrics(path: Path, parts: Iterable[Sequence[RowMetrics]]) -> None:
    """Write the metrics of the rows of parts, a row group for each part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = metrics_schema()
    with pq.ParquetWriter(temporary(path), schema, compression="zstd") as writer:
        for rows in parts:
            columns = [_column([getattr(row, field.name) for row in rows], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
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


def join_metrics(path: Path, parts: list[Path], changed: Collection[str] = ()) -> None:
    """Write the row groups of such files to one, in order; those of ``changed`` sources as such."""
    import pyarrow.parquet as pq

    with pq.ParquetWriter(temporary(path), metrics_schema(), compression="zstd") as writer:
        for part in parts:
            with pq.ParquetFile(part) as file:  # read_table loads datasets, and they pandas
                for group in range(file.num_row_groups):
                    table = file.read_row_group(group)
                    if changed and table["source_file"][0].as_py() in changed:
                        table = _marked(table)
                    writer.write_table(table)
    publish(path)


def _marked(table: pa.Table) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    at = table.schema.get_field_index("input_changed")
    return table.set_column(at, table.schema.field(at), pa.array(np.ones(len(table), bool)))


def _join_files(path: Path, parts: list[Path]) -> None:
    with temporary(path).open("wb") as file:
        for part in parts:
            file.write(part.read_bytes())
    publish(path)
