"""The metrics of a run as Parquet: a row group for each part, joined into one file at the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajcompress.dataset.durable import publish, temporary
from trajcompress.metrics.row import RowMetrics, metrics_schema

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa


def write_metrics(path: Path, parts: Iterable[Sequence[RowMetrics]]) -> None:
    """Write the metrics of the rows of parts, a row group for each part."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = metrics_schema()
    with pq.ParquetWriter(temporary(path), schema, compression="zstd") as writer:
        for rows in parts:
            columns = [_column([getattr(row, field.name) for row in rows], field.type) for field in schema]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))
    publish(path)


def _column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return the array that ``pyarrow.array`` makes: that imports pandas, to ask whether values are of its types.

    Lone surrogates, which an id or an error may quote from a row and Arrow cannot hold, are escaped.
    """
    import numpy as np
    import pyarrow as pa

    if pa.types.is_string(kind):
        texts = [b"" if value is None else value.encode("utf-8", "backslashreplace") for value in values]
        contents: list[Any] = [np.cumsum([0, *map(len, texts)], dtype=np.int32), b"".join(texts)]
    elif pa.types.is_boolean(kind):
        contents = [np.packbits(np.array(values, bool), bitorder="little")]
    else:
        contents = [np.array([0 if value is None else value for value in values], kind.to_pandas_dtype())]
    known = np.packbits([value is not None for value in values], bitorder="little")
    return pa.Array.from_buffers(kind, len(values), [pa.py_buffer(part) for part in (known, *contents)])


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
