"""JSONL parts: unchanged rows as they came, others as compact JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec

from trajcompress.dataset.durable import sync, temporary
from trajcompress.dataset.shape import Columns
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import RowError
from trajcompress.json_values import SCALARS, is_plain

_PLAIN = SCALARS - {float}
"""What msgspec writes as the standard library does; it writes 1e16 without a sign, and NaN as null."""


class JsonlPart:
    """A :class:`~trajcompress.dataset.writers.PartFile` of JSON lines."""

    def __init__(self, path: Location) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def write(self, rows: Sequence[dict[str, Any]], raw: bytes | None, native: Columns) -> None:  # noqa: ARG002 - JSON has no native types
        """Add a line for each; an unchanged row keeps its bytes, but for line ends inside it."""
        lines = [_line(row) for row in rows] if raw is None else [b" ".join(raw.strip().splitlines())]
        if self._file is None:
            self._file = temporary(self._path).open("wb")
        self._file.writelines(line + b"\n" for line in lines)

    def close(self) -> bool:
        """Make the file complete and durable under its temporary name, if there is any row."""
        if self._file is None:
            return False
        self._file.close()
        sync(temporary(self._path))
        return True

    def abort(self) -> None:
        """Close the file."""
        if self._file is not None:
            with suppress(OSError):  # a full disk fails again on what is still buffered
                self._file.close()


def _line(row: dict[str, Any]) -> bytes:
    try:
        return dumped([row])[0]
    except TypeError as error:  # "Object of type bytes is not JSON serializable"
        raise RowError("unrepresentable", f"{error}; use --output-format parquet") from error
    except RecursionError as error:
        raise RowError("unrepresentable", "nested too deep for JSON") from error


def dumped(values: Sequence[Any]) -> list[bytes]:
    """Return each value as compact UTF-8 JSON, lone surrogates as escapes, NaN and infinities as Python writes them.

    Raises:
        TypeError: a value has no JSON form.
        RecursionError: it is nested too deep.
    """
    plain = is_plain(values, _PLAIN)
    return [_dumped(value, plain=plain) for value in values]


def _dumped(value: Any, *, plain: bool) -> bytes:
    if plain:
        with suppress(UnicodeEncodeError, TypeError):  # a lone surrogate, or a key that is no text
            return msgspec.json.encode(value)  # five times as fast
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")  # Python's escape of a lone surrogate is JSON's


def read_rows(path: Location) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSONL part."""
    with path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)
