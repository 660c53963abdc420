"""Reads the rows of any source, lazily."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile
from typing import TYPE_CHECKING

from trajcompress.dataset.hub import read_hub
from trajcompress.dataset.json_rows import read_json, read_jsonl
from trajcompress.dataset.parquet_rows import parquet_schema, read_parquet
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.saved_rows import read_saved, saved_schema
from trajcompress.dataset.streams import Progress

if TYPE_CHECKING:  # pyarrow takes a third of a second to import
    import pyarrow as pa


def read_rows(source: Source, *, progress: Progress | None = None, first: int = 0) -> Iterator[Row | Unreadable]:
    """Read a source row by row, in memory that does not grow with their number.

    What cannot be read comes out as :class:`Unreadable` in its place, and reading goes on behind it.

    Args:
        source: What to read.
        first: The index of the first row wanted; those before it are passed over as cheaply as the kind allows.
        progress: Called now and then with the bytes read so far, as they are on disk; never for kind ``hub``.

    Raises:
        InputError: the source cannot be opened, or vanishes while it is read.
    """
    match source.kind:
        case "jsonl":
            return read_jsonl(source, progress, first)
        case "json":
            return _from(first, read_json(source, progress))
        case "parquet":
            return read_parquet(source, progress, first)
        case "saved":
            return _from(first, read_saved(source, progress))
        case "hub":
            return _from(first, read_hub(source))


def _from(first: int, rows: Iterator[Row | Unreadable]) -> Iterator[Row | Unreadable]:
    return dropwhile(lambda row: row.index < first, rows)


def first_columns(source: Source) -> frozenset[str]:
    """Return the names of the columns that a file begins with; none of what cannot be read.

    Raises:
        InputError: the file cannot be opened.
    """
    if (schema := arrow_schema(source)) is not None:
        return frozenset(schema.names)
    first = next(read_rows(source), None)
    return frozenset(first.value) if isinstance(first, Row) else frozenset()


def require_one_of_each(source: Source) -> None:
    """Make sure that no two columns of a Parquet file or a saved data set have one name: a row has room for one.

    A file that is compressed as a whole is looked into only when it is read.

    Raises:
        InputError: two columns do, or the source cannot be opened.
    """
    if source.kind == "saved" or (
        source.kind == "parquet" and source.path and source.path.suffix.lower() == ".parquet"
    ):
        arrow_schema(source)


def arrow_schema(source: Source) -> pa.Schema | None:
    """The Arrow schema that a Parquet file or a saved data set declares; None for others and for unreadable ones.

    Raises:
        InputError: the source cannot be opened, or two columns have one name.
    """
    match source.kind:
        case "parquet":
            return parquet_schema(source)
        case "saved":
            return saved_schema(source)
        case _:
            return None
