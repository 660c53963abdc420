"""Rows of Parquet files, row group by row group."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trajcompress.dataset.arrow_rows import BATCH_ROWS, one_line, refuse_twins, rows_of_batches
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.storage.location import Opened, failure_of, open_binary
from trajcompress.dataset.storage.range_file import RangeFile
from trajcompress.dataset.streams import ByteStream, Progress, unreadable_input
from trajcompress.errors import InputError

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow as pa
    import pyarrow.parquet as pq

_BUFFER_BYTES = 2**20


class _DamagedFileError(Exception):
    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def read_parquet(
    source: Source, progress: Progress | None = None, first: int = 0, groups: tuple[int, int] | None = None
) -> Iterator[Row | Unreadable]:
    """Read the rows of a Parquet file, which may be compressed as a whole, or of ``groups`` from one up to another.

    Where pages are corrupt, the rows of their row group that come after them are :class:`Unreadable` each, and
    reading goes on with the next row group. Row groups before row ``first`` are not read. A file without a byte has
    no rows, as one of JSON.

    Raises:
        InputError: the file cannot be opened.
    """
    if source.size == 0:
        return
    try:
        with _opened(source) as (file, raw):
            yield from _rows(file, raw, source, progress, first, groups)
    except _DamagedFileError as error:
        if not first:
            yield Unreadable(source.name, 0, None, error.reason, str(error), "")


def parquet_schema(source: Source) -> pa.Schema | None:
    """The file's Arrow schema; None where it is no readable Parquet file.

    Raises:
        InputError: the file cannot be opened.
    """
    try:
        with _opened(source) as (file, _):
            return file.schema_arrow
    except _DamagedFileError:
        return None


def row_group_sizes(source: Source) -> list[int]:
    """Return the bytes of each row group, before compression; nothing where the file can be read as a whole only.

    Raises:
        InputError: the file cannot be opened.
    """
    if source.path is None or source.path.suffix.lower() != ".parquet":
        return []
    try:
        with _opened(source) as (file, _):
            metadata = file.metadata
            return [metadata.row_group(each).total_byte_size for each in range(metadata.num_row_groups)]
    except _DamagedFileError:
        return []


def row_group_rows(source: Source, begin: int, end: int) -> tuple[int, int]:
    """Return how many rows stand before some row groups, and how many in them.

    Raises:
        InputError: the file cannot be opened, or is damaged.
    """
    try:
        with _opened(source) as (file, _):
            rows = [file.metadata.row_group(group).num_rows for group in range(end)]
    except _DamagedFileError as error:
        raise InputError(f"{source.name}: {error}; it could be read before, so look what became of it") from error
    return sum(rows[:begin]), sum(rows[begin:])


def _rows(  # noqa: PLR0917 - all of one call
    file: pq.ParquetFile,
    raw: Opened,
    source: Source,
    progress: Progress | None,
    first: int,
    groups: tuple[int, int] | None,
) -> Iterator[Row | Unreadable]:
    import pyarrow as pa

    total = file.metadata.num_rows
    begin, stop = groups or (0, file.metadata.num_row_groups)
    end = 0
    for group in range(stop):
        start, end = end, end + file.metadata.row_group(group).num_rows
        if end <= first or group < begin:
            continue
        index = start
        detail = "the row group ends early"
        if isinstance(raw, RangeFile):
            raw.prefetch(_begin(file.metadata.row_group(group)))  # as much of it, and of those behind it, as has room
        try:
            # Each of Arrow's threads would keep freed memory to itself, more the longer the file.
            batches = file.iter_batches(batch_size=BATCH_ROWS, row_groups=[group], use_threads=False)
            for row in rows_of_batches(batches, source=source.name, start=start):
                index += 1
                if row.index >= first:
                    yield row
                if progress and source.size is not None and index % BATCH_ROWS == 0:
                    progress(source.size * index // total)
        except (OSError, ValueError, pa.ArrowException) as error:
            _require_read(raw, source)
            detail = one_line(error)
        for lost in range(max(index, first), end):
            yield Unreadable(source.name, lost, None, "unreadable_page", f"row group {group}: {detail}", "")
    if progress and source.size is not None:
        progress(source.size * end // max(1, total))


@contextmanager
def _opened(source: Source) -> Iterator[tuple[pq.ParquetFile, Opened]]:
    """The file and what it is read from, decompressed first where need be: Parquet is read from its end."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _plain_file(source) as raw:
        try:
            # Unbuffered, Arrow reads a whole row group, and many writers put the whole file in one. Pre-buffered, its
            # threads read a file of Python's, and may bring the process down when they do so at its end.
            file = pq.ParquetFile(raw, buffer_size=_BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            _require_read(raw, source)
            raise _DamagedFileError("unreadable_file", one_line(error)) from error
        with file:
            refuse_twins(file.schema_arrow, source)
            _require_true_counts(file.metadata)
            yield file, raw


def _require_read(raw: Opened, source: Source) -> None:
    """Raise InputError where it is not the file that is at fault, but the store that did not give it."""
    if failure := failure_of(raw):
        raise unreadable_input(source, failure) from failure


def _begin(group: pq.RowGroupMetaData) -> int:
    """Return where in the file a row group begins."""
    columns = map(group.column, range(group.num_columns))
    return min(int(each.dictionary_page_offset or each.data_page_offset) for each in columns)


def _require_true_counts(metadata: pq.FileMetaData) -> None:
    """Refuse a row group that says it has rows which its columns have no values for, or has none and values."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        values = max((group.column(each).num_values for each in range(group.num_columns)), default=0)
        if not 0 <= group.num_rows <= values or (values and not group.num_rows):
            detail = f"row group {number} says that it has {group.num_rows:,} rows, and columns of {values:,} values"
            raise _DamagedFileError("unreadable_file", detail)
    rows = sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    if rows != metadata.num_rows:
        detail = f"the file says that it has {metadata.num_rows:,} rows, its row groups have {rows:,}"
        raise _DamagedFileError("unreadable_file", detail)


@contextmanager
def _plain_file(source: Source) -> Iterator[Opened]:
    if source.path is None:
        raise _DamagedFileError("unreadable_file", "Parquet cannot be read from a stream")
    if source.path.suffix.lower() == ".parquet":
        try:
            file = open_binary(source.path)
        except OSError as error:
            raise unreadable_input(source, error) from error
        with file:
            yield file
        return
    with tempfile.TemporaryFile() as temporary:
        stream = ByteStream(source)
        for chunk in stream:
            temporary.write(chunk)
        if stream.damage:
            raise _DamagedFileError(*stream.damage)
        yield temporary
