"""Parquet files at any place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.range_file import BLOCK_BYTES
from trajcompress.dataset.storage.store_path import StorePath

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow as pa
    import pyarrow.parquet as pq

_BUFFER_BYTES = 2**20
_FOOTER_BYTES = 2**16


def open_parquet(location: Location, *, footer_only: bool = False) -> pq.ParquetFile:
    """Open a Parquet file; what is larger than its footer is fetched in small pieces if that is all that is wanted.

    Raises:
        OSError, pa.ArrowException: it is not there, or none.
    """
    import pyarrow.parquet as pq

    if isinstance(location, StorePath):
        # Pre-buffered, Arrow's threads read a file of Python's, which may bring the process down at its end.
        file = location.open("rb", 0, block_bytes=_FOOTER_BYTES if footer_only else BLOCK_BYTES)
        return pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    return pq.ParquetFile(location)


def read_schema(location: Location) -> pa.Schema:
    """Read the schema of a Parquet file, from a store no more than its end.

    Raises:
        OSError, pa.ArrowException: it is not there, or none.
    """
    with open_parquet(location, footer_only=True) as file:
        return file.schema_arrow
