"""Parquet files at any place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.store_path import StorePath

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow.parquet as pq

_BUFFER_BYTES = 2**20


def open_parquet(location: Location) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises:
        OSError, pa.ArrowException: it is not there, or none.
    """
    import pyarrow.parquet as pq

    if isinstance(location, StorePath):
        # Pre-buffered, Arrow's threads read a file of Python's, which may bring the process down at its end.
        return pq.ParquetFile(location.open("rb", 0), buffer_size=_BUFFER_BYTES, pre_buffer=False)
    return pq.ParquetFile(location)
