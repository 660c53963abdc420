"""``metrics.parquet``, and ``segments.parquet``: written part by part, joined at the end, read as rows or totals."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from trajcompress.dataset.arrow_arrays import array_of
from trajcompress.dataset.durable import publish, sync, temporary
from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.parquet import open_parquet
from trajcompress.errors import InputError
from trajcompress.metrics.row import COLUMNS, RowMetrics, schema_of
from trajcompress.metrics.segment import SegmentMetrics
from trajcompress.metrics.totals import USED, Totals, not_handled

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa
    import pyarrow.parquet as pq


R = TypeVar("R", RowMetrics, SegmentMetrics)


def read_metrics(path: Location) -> Iterator[RowMetrics]:
    """Read the metrics that a run has left, row by row.

    Raises:
        InputError: they cannot be read.
    """
    return _read(path, RowMetrics)


def read_segments(path: Location) -> Iterator[SegmentMetrics]:
    """Read what a run has left on its segments, as :func:`read_metrics` does."""
    return _read(path, SegmentMetrics)


def _read(path: Location, made: type[R]) -> Iterator[R]:
    with _reading(path), open_parquet(path) as file:
        for batch in file.iter_batches(columns=[field.name for field in fields(made)]):
            for values in batch.to_pylist():
                yield made(**values)


def row_metrics(table: pa.Table, at: int) -> RowMetrics:
    """Return a row of a table of metrics, whichever version wrote it."""
    (values,) = table.slice(at, 1).to_pylist()
    return RowMetrics(**{name: value for name, value in values.items() if name in COLUMNS})


def read_totals(*paths: Location) -> Totals:
    """Add up the metrics in files, in their order.

    Raises:
        InputError: they cannot be read.
    """
    totals = Totals()
    for path in paths:
        with _reading(path), open_parquet(path) as file:  # read_table loads datasets, and they pandas
            for batch in file.iter_batches(BATCH_ROWS, columns=list(USED)):
                totals.add_batch(batch)
    return totals


def first_not_handled(path: Location) -> tuple[str, int, int | None] | None:
    """Return file, row and line of the first row that failed or was rejected; None where there is none.

    Raises:
        InputError: the metrics cannot be read.
    """
    with _reading(path), open_parquet(path) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=["outcome", "source_file", "source_row", "source_line"]):
            for row in batch.to_pylist():
                if not_handled(Counter([row["outcome"]])):
                    return row["source_file"], row["source_row"], row.get("source_line")  # new in later versions
    return None


@contextmanager
def _reading(path: Location) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TypeError) as error:  # Arrow's are such
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: cannot be read as metrics: {reason}; put it back, or make the run again"
        ) from error


BATCH_ROWS = 8192  # as Python values some thirty columns of them take 10 MB
_GROUP_ROWS = 2000
_JOINED_GROUP_ROWS = 20_000
"""Small groups cost more to write, to keep and to read than what is in them; large ones take memory."""


class TableWriter(Generic[R]):
    """Writes metrics as they come, a row group for each 2,000 rows, to a temporary name; no file without rows.

    Every method raises OSError where the disk is full or the folder cannot be written; call :meth:`abort` then.
    """

    def __init__(self, path: Location, of: type[R]) -> None:
        """Take what the file will be called, and what its rows are."""
        self._path = path
        self._of: type[R] = of
        self._writer: pq.ParquetWriter | None = None
        self._rows: list[R] = []

    def add(self, row: R) -> None:
        """Add a row."""
        self._rows.append(row)
        if len(self._rows) == _GROUP_ROWS:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = schema_of(self._of)
        if self._writer is None:
            self._writer = pq.ParquetWriter(temporary(self._path), schema, compression="zstd")
        columns = [array_of([getattr(row, field.name) for row in self._rows], field.type) for field in schema]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=schema))
        self._rows = []

    def close(self) -> bool:
        """Make the file complete and durable under its temporary name; False where there was no row."""
        if self._rows:
            self._flush()
        if self._writer is None:
            return False
        self._writer.close()
        sync(temporary(self._path))
        return True

    def abort(self) -> None:
        """Close the file, complete or not."""
        if self._writer is not None:
            with suppress(OSError):  # a full disk fails again on what is still buffered
                self._writer.close()
            self._writer.is_open = False  # else it would try once more when collected


class MetricsWriter(TableWriter[RowMetrics]):
    """Writes the metrics of rows, and adds them up."""

    def __init__(self, path: Location) -> None:
        """Take what the file will be called."""
        super().__init__(path, RowMetrics)
        self._totals = Totals()

    def _flush(self) -> None:
        self._totals.add(*self._rows)
        super()._flush()

    def totals(self) -> Totals:
        """Add up the rows so far."""
        totals = copy.deepcopy(self._totals)
        totals.add(*self._rows)
        return totals


def join_metrics(path: Location, parts: Iterable[Location], changed: Collection[str] = ()) -> None:
    """Join the metrics of parts as :func:`join_tables` does; rows of ``changed`` sources are marked."""
    join_tables(path, RowMetrics, parts, changed)


def join_tables(path: Location, of: type[Any], parts: Iterable[Location], changed: Collection[str] = ()) -> None:
    """Write the rows of such files to one, in order, in groups of 20,000; those of ``changed`` sources are marked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    waiting: list[pa.Table] = []
    with pq.ParquetWriter(temporary(path), schema_of(of), compression="zstd") as writer:

        def write(least: int) -> None:
            """Write groups of what waits, until less than that is left; whatever the pieces in which it came."""
            table = pa.concat_tables(waiting)
            while len(table) >= least:
                group = table[:_JOINED_GROUP_ROWS].combine_chunks()
                writer.write_table(_with_changed(group, changed) if changed else group)
                table = table[_JOINED_GROUP_ROWS:]
            waiting[:] = [table]

        for part in parts:
            with open_parquet(part) as file:  # read_table loads datasets, and they pandas
                for group in range(file.num_row_groups):
                    waiting.append(file.read_row_group(group, use_threads=False))
                    if sum(map(len, waiting)) >= _JOINED_GROUP_ROWS:
                        write(_JOINED_GROUP_ROWS)
        if waiting:
            write(1)
    publish(path)


def _with_changed(table: pa.Table, changed: Collection[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    at = table.schema.get_field_index("input_changed")
    marks = pc.is_in(table["source_file"], pa.array(sorted(changed), pa.string()))
    return table.set_column(at, table.schema.field(at), marks)
