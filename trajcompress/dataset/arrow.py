"""Rows of known shapes as Arrow tables and Parquet files, and back.

A file's bytes depend on its rows, its row groups and its columns only, not on how its shapes came to be, so a file
widened later equals one that was written wide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trajcompress.dataset.arrow_arrays import array_of
from trajcompress.dataset.shape import EXACT, Columns, List, Opaque, Scalar, Shape, Struct, merge_rows, shape_of_arrow
from trajcompress.dataset.storage.location import Location, of_each
from trajcompress.dataset.storage.parquet import open_parquet

_TYPES = {
    Scalar.NULL: pa.null(),
    Scalar.BOOL: pa.bool_(),
    Scalar.INT: pa.int64(),
    Scalar.BIG_INT: pa.int64(),
    Scalar.FLOAT: pa.float64(),
    Scalar.STR: pa.string(),
    Scalar.JSON: pa.json_(),
    Scalar.OBJECTS: pa.json_(),
}


def type_of(shape: Shape) -> pa.DataType:
    """Return the Arrow type of a shape other than ``MIXED``."""
    match shape:
        case List(item):
            return pa.list_(type_of(item))
        case Struct(fields):
            return pa.struct([(name, type_of(field)) for name, field in fields])
        case Opaque(arrow):
            return arrow
    return _TYPES[shape]


_IMAGES = pa.list_(pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
"""As what ``datasets`` stores its feature ``Image``."""


def schema_of(columns: Columns) -> pa.Schema:
    """Return the schema of a table with ``columns``, and what ``datasets`` has to know to open images."""
    fields = [pa.field(name, type_of(shape), shape is not Scalar.OBJECTS) for name, shape in columns.items()]
    images = [field.name for field in fields if field.name == "images" and field.type == _IMAGES]
    features = {name: [{"_type": "Image"}] for name in images}
    return pa.schema(fields, {"huggingface": json.dumps({"info": {"features": features}})} if images else None)


def table_of(rows: list[dict[str, Any]], columns: Columns) -> pa.Table:
    """Return ``rows``, all of which fit ``columns``, as a table; missing columns are null."""
    schema = schema_of(columns)
    arrays = [_array_of([row.get(field.name) for row in rows], field) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array_of(values: Sequence[Any], field: pa.Field) -> pa.Array:
    if not field.nullable:
        values = [{} if value is None else value for value in values]
    return array_of(values, field.type)


def _values_of(array: pa.ChunkedArray, shape: Shape) -> list[Any]:
    values: list[Any] = array.to_pylist()
    if shape is Scalar.JSON:
        return [None if text is None else json.loads(text) for text in values]
    if shape == List(Scalar.JSON):
        return [texts and [None if text is None else json.loads(text) for text in texts] for texts in values]
    return values


def open_writer(path: Path, columns: Columns) -> pq.ParquetWriter:
    """Start a Parquet file; write tables with ``write_table(table, len(table))`` to get one row group each."""
    return pq.ParquetWriter(path, schema_of(columns), compression="zstd", compression_level=3)


def columns_of(path: Location) -> Columns:
    """Return the columns of a Parquet file of ours; how large integers are comes from its statistics."""
    with open_parquet(path, footer_only=True) as file:
        leaves = iter([_is_exact(file.metadata, index) for index in range(file.metadata.num_columns)])
        return {field.name: _refined(_shape_of(field), leaves) for field in file.schema_arrow}


def _shape_of(field: pa.Field) -> Shape:
    return shape_of_arrow(field.type) if field.nullable else Scalar.OBJECTS


def _is_exact(metadata: pq.FileMetaData, leaf: int) -> bool:
    for index in range(metadata.num_row_groups):
        chunk = metadata.row_group(index).column(leaf)
        if chunk.physical_type != "INT64":
            return False
        known = chunk.statistics
        if known and known.has_min_max and not -EXACT <= known.min_raw <= known.max_raw <= EXACT:
            return False
    return True


def _refined(shape: Shape, leaves: Iterator[bool]) -> Shape:
    match shape:
        case List(item):
            return List(_refined(item, leaves))
        case Struct(fields):
            return Struct(tuple((name, _refined(field, leaves)) for name, field in fields))
        case Opaque(arrow):
            for _ in range(_leaf_count(arrow)):
                next(leaves)
            return shape
    return Scalar.INT if next(leaves) and shape is Scalar.BIG_INT else shape


def _leaf_count(arrow: pa.DataType) -> int:
    if isinstance(arrow, pa.BaseExtensionType):
        return _leaf_count(arrow.storage_type)
    return sum(_leaf_count(arrow.field(index).type) for index in range(arrow.num_fields)) or 1


def union_of(paths: Iterable[Location]) -> Columns:
    """Return the columns that hold the rows of all these Parquet files of ours."""
    columns: Columns = {}
    for more in of_each(columns_of, paths):
        columns = merge_rows(columns, more)
    return columns


def rewrite(sources: Sequence[Location], columns: Columns, target: Path) -> None:
    """Write the row groups of ``sources``, one after the other, as one file with the wider ``columns``."""
    with open_writer(target, columns) as writer:
        for source in sources:
            for table in _row_groups(source):
                wide = _widened(table, columns)
                writer.write_table(wide, len(wide))


def _widened(table: pa.Table, columns: Columns) -> pa.Table:
    schema = schema_of(columns)
    arrays = []
    for field in schema:
        if field.name not in table.column_names:
            arrays.append(_array_of([None] * len(table), field))
        elif (old := table.schema.field(field.name)).equals(field):
            arrays.append(table.column(field.name).combine_chunks())
        else:
            arrays.append(_array_of(_values_of(table.column(field.name), shape_of_arrow(old.type)), field))
    return pa.Table.from_arrays(arrays, schema=schema)


def _row_groups(path: Location) -> Iterator[pa.Table]:
    with open_parquet(path) as file:
        for index in range(file.num_row_groups):
            yield file.read_row_group(index, use_threads=False)


def read_rows(path: Location) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file of ours as they were written, missing columns as None."""
    for table in _row_groups(path):
        columns = [
            _values_of(table.column(name), shape_of_arrow(table.schema.field(name).type))
            for name in table.column_names
        ]
        for values in zip(*columns, strict=True):
            yield dict(zip(table.column_names, values, strict=True))
