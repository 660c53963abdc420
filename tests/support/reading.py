"""Reading what tests give to the readers, and what a run wrote."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.sources import find_sources

if TYPE_CHECKING:
    import pyarrow as pa


def source_of(path: Path) -> Source:
    (source,) = find_sources([str(path)])
    return source


def read(path: Path, content: bytes | None = None) -> list[Row | Unreadable]:
    if content is not None:
        path.write_bytes(content)
    results = list(read_rows(source_of(path)))
    assert [result.index for result in results] == list(range(len(results)))
    return results


def values(results: list[Row | Unreadable]) -> list[object]:
    """The value of each row, and the reason in place of each that could not be read."""
    return [result.value if isinstance(result, Row) else result.reason for result in results]


def lines(rows: list[dict]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def noise(count: int) -> list[dict]:
    """Rows that do not compress away."""
    source = random.Random(7)  # noqa: S311 - reproducible, not secret
    return [{"id": number, "text": source.randbytes(2000).hex()} for number in range(count)]


def read_parts(out: Path, stem: str) -> list[dict[str, Any]]:
    """Read with every digit, which ``datasets`` does not: it rounds the last of some floats in JSON columns."""
    import pyarrow.parquet as pq

    rows = []
    for part in sorted((out / "data").glob(f"{stem}-?????.parquet")):
        table = pq.read_table(part)
        rows += [
            {field.name: decoded(row[field.name], field.type) for field in table.schema} for row in table.to_pylist()
        ]
    return rows


def decoded(value: Any, kind: pa.DataType) -> Any:
    import pyarrow as pa

    if value is None:
        return None
    if isinstance(kind, pa.JsonType):
        return json.loads(value)
    if pa.types.is_list(kind):
        return [decoded(item, kind.value_type) for item in value]
    return value
