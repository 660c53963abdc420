"""Reading ``metrics.parquet``: rows, or what they add up to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trajcompress.errors import InputError
from trajcompress.metrics.row import COLUMNS, RowMetrics
from trajcompress.metrics.totals import USED, Totals


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
