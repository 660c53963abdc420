"""``metrics.parquet``: written with a row group for each part, joined at the end, and read as rows or as totals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from trajcompress.dataset.arrow_arrays import array_of
from trajcompress.dataset.durable import publish, temporary
from trajcompress.errors import InputError
from trajcompress.metrics.row import COLUMNS, RowMetrics, metrics_schema
from trajcompress.metrics.totals import USED, Totals

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa


def read_metrics(path: Path) -> Iterator[RowMetrics]:
    """Read the metrics that a run has left, row by row.

    Raises:
        InputError: they cannot be read.
    """
    import pyarrow.parquet as pq

    with _reading(path), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=list(COLUMNS)):
            for values in batch.to_pylist():
                yield RowMetrics(**values)


def read_totals(*paths: Path) -> Totals:
    """Add up the metrics in files, in their order.

    Raises:
        InputError: they cannot be read.
    """
    import pyarrow.parquet as pq

    totals = Totals()
    for path in paths:
        with _reading(path), pq.ParquetFile(path) as file:  # read_table loads datasets, and they pandas
            for batch in file.iter_batches(columns=list(USED)):
                totals.add_batch(batch)
    return totals


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, TypeError) as error:  # Arrow's are such
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: cannot be read as metrics: {reason}; put it back, or make the run again"
        ) from error


def write_metrics(path: Path, parts: Iterable[Sequence[RowMetrics]]) -> None:
    """Write the metrics of the rows of parts, a row group for each part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = metrics_schema()
    with pq.ParquetWriter(temporary(path), schema, compression="zstd") as writer:
        for rows in parts:
            columns = [array_of([getattr(row, field.name) for row in rows], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    publish(path)


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
