"""How many rows of the dataset an input row became: what maps the metrics of a run to its data files.

Data files hold the rows written for an input row one after the other, in input order; so adding these numbers up
finds each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajcompress.metrics.row import RowMetrics

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow as pa

WRITTEN_COLUMNS = ("in_dataset",)
"""The columns of the metrics that say so."""


def rows_written(metrics: RowMetrics) -> int:
    """Return how many rows of the dataset were written for an input row."""
    return int(metrics.in_dataset)


def rows_written_each(table: pa.Table) -> pa.ChunkedArray:
    """Return the same for each row of a metrics table that has at least :data:`WRITTEN_COLUMNS`."""
    import pyarrow as pa

    return table["in_dataset"].cast(pa.int64())
