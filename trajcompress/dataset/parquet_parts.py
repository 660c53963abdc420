"""Parquet files of parts: row groups of rows whose columns may grow while the file is written.

A part whose columns grow goes on in a further temporary file, a segment; closing it rewrites the segments as one
file, row group by row group. So memory holds one row group and nothing is read back unless shapes changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trajcompress.dataset import arrow
from trajcompress.dataset.durable import TEMPORARY, sync, sync_folder, temporary
from trajcompress.dataset.fits import Acceptor, acceptor, unrepresentable
from trajcompress.dataset.shape import Columns, Scalar, merge, shape_of
from trajcompress.dataset.storage.location import Location, of_each
from trajcompress.dataset.storage.parquet import read_schema
from trajcompress.errors import OutputError, RowError

ROW_GROUP_CHARS = 8 << 20  # text in a row group, in characters


class ParquetPart:
    """A :class:`~trajcompress.dataset.writers.PartFile` for Parquet.

    Columns in ``reserved`` are of these types wherever they have a value: rows with others are refused.
    """

    def __init__(self, path: Location, reserved: Columns) -> None:
        self._path = path
        self._reserved = reserved
        self._columns: Columns = {}
        self._acceptors: dict[str, Acceptor] = {}
        self._rows: list[dict[str, Any]] = []
        self._chars = 0
        self._segments: list[Path] = []
        self._writer: pq.ParquetWriter | None = None

    def write(self, rows: Sequence[dict[str, Any]], raw: bytes | None, native: Columns) -> None:  # noqa: ARG002 - only JSONL can reuse text
        """Add rows, with columns that grow for them."""
        wider: Columns = {}
        for row in rows:
            wider |= self._wider_for(row, native, wider)
        self._widen(wider)
        for row in rows:
            self._rows.append(row)
            self._chars += _text_size(row)
            if self._chars >= ROW_GROUP_CHARS:
                self._flush()

    def _wider_for(self, row: dict[str, Any], native: Columns, grown: Columns) -> Columns:
        """Return the columns that must grow for a row, those in ``grown`` from there on."""
        tests = self._acceptors
        misfits = [name for name, value in row.items() if not ((test := tests.get(name)) and test(value))]
        if not row:
            raise RowError("unrepresentable", "a row without columns; use --output-format jsonl")
        if misfits and (reason := unrepresentable(row)):
            raise RowError("unrepresentable", f"{reason}; use --output-format jsonl")
        wider: Columns = {}
        for name in misfits:
            typed = native.get(name)
            new = typed if typed is not None and acceptor(typed)(row[name]) else shape_of(row[name])
            known = grown.get(name) or self._columns.get(name) or self._reserved.get(name, Scalar.NULL)
            wider[name] = merge(known, new)
            if wider[name] is Scalar.MIXED:
                reason = f"column `{name}` has values of another native type in other rows"
                raise RowError("unrepresentable", f"{reason}; write inputs with different types to different folders")
        return wider

    def _widen(self, columns: Columns) -> None:
        self._columns |= columns
        self._acceptors |= {name: acceptor(shape) for name, shape in columns.items()}

    def _flush(self) -> None:
        if self._writer is None or self._writer.schema != arrow.schema_of(self._columns):
            self._end_segment()
            name = f"{self._path.name}.{len(self._segments)}{TEMPORARY}"
            self._segments.append(temporary(self._path).with_name(name))
            self._writer = arrow.open_writer(self._segments[-1], self._columns)
        table = arrow.table_of(self._rows, self._columns)
        self._writer.write_table(table, len(table))
        self._rows, self._chars = [], 0

    def _end_segment(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def close(self) -> bool:
        """Make the file complete and durable under its temporary name, if there is any row."""
        if self._rows:
            self._flush()
        if not self._segments:
            return False
        self._end_segment()
        if len(self._segments) == 1:
            self._segments[0].replace(temporary(self._path))
        else:
            arrow.rewrite(self._segments, self._columns, temporary(self._path))
        sync(temporary(self._path))
        for segment in self._segments[:] if len(self._segments) > 1 else ():
            segment.unlink()
        self._segments = []
        return True

    def abort(self) -> None:
        """Close the open part's file and forget its rows."""
        if self._writer is not None:
            with suppress(OSError, pa.ArrowException):  # a full disk fails again on what is still buffered
                self._writer.close()
            self._writer.is_open = False  # else it would try once more when collected
            self._writer = None
        self._rows, self._chars, self._segments = [], 0, []


def narrower(paths: Sequence[Location]) -> tuple[Columns, list[Location]]:
    """Return the columns that hold the rows of all files, and the files that have other ones.

    See :func:`~trajcompress.dataset.writers.narrower_files`.
    """
    columns = arrow.union_of(paths)
    if clash := [name for name, shape in columns.items() if shape is Scalar.MIXED]:
        raise OutputError(f"parts disagree on the native type of {clash}; start anew with --overwrite")
    schema = arrow.schema_of(columns)
    return columns, [path for path, own in zip(paths, of_each(read_schema, paths), strict=True) if own != schema]


def widen(path: Location, columns: Columns) -> None:
    """Write a file again with wider columns, durably under its temporary name."""
    arrow.rewrite([path], columns, temporary(path))
    sync(temporary(path))
    sync_folder(path.parent)


def _text_size(value: Any) -> int:
    kind = type(value)
    if kind is str:
        return len(value)
    if kind is not dict and kind is not list:
        return 8
    total = 8
    for item in value.values() if kind is dict else value:
        total += len(item) if type(item) is str else _text_size(item)
    return total
