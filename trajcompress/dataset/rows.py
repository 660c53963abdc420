"""What reading gives: rows, and what stands where a row should be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from trajcompress.dataset.storage.location import Location

SourceKind: TypeAlias = Literal["jsonl", "json", "parquet", "saved", "hub"]

MAX_ROW_BYTES = 512 * 2**20
"""A longer row is not read: it would take several times as much memory, and a few bytes may expand to any length."""

MAX_RAW_BYTES = 64 * 2**20
"""An unreadable row keeps its text whole up to here, so that a reject can be repaired by hand."""


class Source(Struct, frozen=True):
    """Something that rows can be read from: a file, a saved split, a streamed data set, or standard input.

    ``name`` is what messages and metrics call it, unique within a run. ``stem`` is safe as the start of a file
    name and unique within a run. ``size`` is in bytes on disk, None where it cannot be known. ``dataset`` and
    ``split`` are set for kind ``hub`` only.
    """

    name: str
    stem: str
    kind: SourceKind
    path: Location | None
    size: int | None
    dataset: str | None = None
    split: str | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it is standard input or a pipe: of unknown size, and to be read once only."""
        return self.size is None and self.kind != "hub"


def total_size(sources: Sequence[Source]) -> int | None:
    """Return the bytes of all sources, None where those of one are unknown."""
    sizes = [source.size for source in sources]
    return None if None in sizes else sum(size or 0 for size in sizes)


class Row(Struct, frozen=True):
    """One object read.

    ``index`` is the 0-based position among the rows of the source, unreadable ones included. ``line`` is 1-based
    and, like ``raw``, for JSON lines only: ``raw`` has the bytes of the line without its line ending. ``is_plain``:
    it is known that the value is of JSON's own types alone, and not deep.
    """

    source: str
    index: int
    line: int | None
    value: dict[str, Any]
    raw: bytes | None
    is_plain: bool = False


class Unreadable(Struct, frozen=True):
    """Something that stands where a row should be.

    ``reason`` is a short stable word: ``invalid_json``, ``invalid_utf8``, ``not_an_object``, ``nested_too_deep``,
    ``number_too_long``, ``row_too_large``, ``truncated_input``, ``corrupt_input``, ``not_compressed``,
    ``unreadable_file``, ``unreadable_page`` or ``unreadable_row``. ``raw`` is the text where there is any, up to
    :data:`MAX_RAW_BYTES`; bytes that are not UTF-8 stand in it as lone surrogates (``surrogateescape``), so the
    original bytes can be had back.
    """

    source: str
    index: int
    line: int | None
    reason: str
    detail: str
    raw: str


class CutText(bytes):
    """The first bytes of a text that is longer than :data:`MAX_ROW_BYTES`."""

    __slots__ = ()


class RowText:
    """The text of a row as it comes, piece by piece; of one that is too long, the first :data:`MAX_RAW_BYTES`."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Put one piece behind the others."""
        if self._size <= MAX_ROW_BYTES:
            self._parts.append(part)
            self._size += len(part)
            if self._size > MAX_ROW_BYTES:
                self._parts = [b"".join(self._parts)[:MAX_RAW_BYTES]]

    def take(self) -> bytes:
        """Return the text so far, and begin anew."""
        text = b"".join(self._parts)
        is_cut = self._size > MAX_ROW_BYTES
        self._parts.clear()
        self._size = 0
        return CutText(text) if is_cut else text


def raw_text(raw: bytes) -> str:
    """The bytes as text that can be turned back into them, cut at :data:`MAX_RAW_BYTES`."""
    return raw[:MAX_RAW_BYTES].decode("utf-8", "surrogateescape")
