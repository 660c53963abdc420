"""What the tests of the readers share."""

from __future__ import annotations

import json
import random
from pathlib import Path

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.sources import find_sources


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
