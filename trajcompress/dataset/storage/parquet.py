"""Parquet files at any place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajcompress.dataset.storage.place import Place
from trajcompress.dataset.storage.store_path import StorePath

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow.parquet as pq

_BUFFER_BYTES = 2**20


def open_parquet(place: Place) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises:
        OSError, pa.ArrowException: it is not there, or none.
    """
    import pyarrow.parquet as pq

    if isinstance(place, StorePath):
        # Pre-buffered, Arrow's threads read a file of Python's, and may bring the process down when they do so at its end.
        return pq.ParquetFile(place.open("rb", 0), buffer_size=_BUFFER_BYTES, pre_buffer=False)
    return pq.ParquetFile(place)
