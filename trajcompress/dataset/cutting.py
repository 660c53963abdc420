"""Parts: how an input is cut into units of work, by the input alone and never by who works on them.

A part is a range of bytes of a file of JSON lines, some row groups of a Parquet file, a whole source where a format
cannot be cut, or a pack of small files that follow each other.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from msgspec import Struct

from trajcompress.dataset.packed import unnamed_compression
from trajcompress.dataset.parquet_rows import row_group_sizes
from trajcompress.dataset.readers import first_columns
from trajcompress.dataset.rows import Source
from trajcompress.dataset.source_files import COMPRESSIONS, safe_stem
from trajcompress.errors import SettingsError
from trajcompress.processes.late_patterns import late_re
from trajcompress.wording import counted

_MOST_PARTS = 100_000
"""Of one file, which are 6 TB in parts of the default size."""
_FEWEST_PACKED = 32
"""Fewer files that follow each other stay apart: people know them by name."""
_PACKED_SHARE = 8
"""A file is small where so many like it make no more than a part."""
_EXPANSION = 8
"""How many times its size a compressed file may hold, about."""
_SPLIT = late_re(r"(?<![a-z])(train|test|valid|val|dev|eval)(?:ing|idation|uation)?(?![a-z])")

Columns: TypeAlias = Callable[[Source], frozenset[str]]
Groups: TypeAlias = Callable[[Source], Sequence[int]]


class Span(Struct, frozen=True):
    """Part of a source: bytes of JSON lines or row groups of Parquet, from ``begin`` up to ``end``; None: all."""

    source: Source
    begin: int = 0
    end: int | None = None


class Part(Struct, frozen=True):
    """A unit of work: ``number`` is its place in the input.

    Of several ``spans`` each is a whole small file. Its rows become the data file ``<stem>-<first_file>``; those of
    an ``open_ended`` one, a source that cannot be cut before it is read, that and the ones after it. ``size`` is in
    bytes on disk, None where nobody knows, and ``offset`` that of what comes before it in its source.
    """

    number: int
    stem: str
    first_file: int
    spans: tuple[Span, ...]
    size: int | None
    offset: int = 0
    open_ended: bool = False

    @property
    def source(self) -> Source:
        """That of its first rows."""
        return self.spans[0].source

    def goes_on_from(self, other: Part) -> bool:
        """Tell whether it begins in the source in which another part ends."""
        return self.source == other.spans[-1].source


def cut_into_parts(
    sources: Sequence[Source],
    part_size: int,
    *,
    groups: Groups = row_group_sizes,
    columns: Columns = first_columns,
) -> list[Part]:
    """Cut an input into parts of about ``part_size`` bytes, in its order.

    Small files that follow each other are packed, where they are many, of one kind and one split, and of the same
    columns but for some that not all have.

    Args:
        sources: The input.
        part_size: What a part should have, in bytes.
        groups: Gives the bytes of each row group of a Parquet file, nothing where it has to be read as a whole.
        columns: Gives the columns of a file, as its first row has them.

    Raises:
        SettingsError: that makes more parts of one file than anybody wants.
    """
    parts: list[Part] = []
    files: dict[str, int] = {}
    stems = _PackStems(sources)

    def add(stem: str, spans: Sequence[Span], size: int | None, *, open_ended: bool = False) -> None:
        number = files.get(stem, 0)
        files[stem] = number + 1
        before = parts[-1] if parts and parts[-1].source == spans[0].source else None
        offset = before.offset + (before.size or 0) if before else 0
        parts.append(Part(len(parts), stem, number, tuple(spans), size, offset, open_ended))

    for together in _together(sources, part_size):
        if len(together) < _FEWEST_PACKED:
            for source in together:
                for span, size in _spans(source, part_size, groups):
                    add(source.stem, [span], size, open_ended=span.end is None)
        else:
            for pack in _packs(together, part_size, columns):
                add(stems.of(pack), list(map(Span, pack)), sum(source.size or 0 for source in pack))
    return parts


def _spans(source: Source, part_size: int, groups: Groups) -> Iterator[tuple[Span, int | None]]:
    """Cut one source, each span with its size."""
    size = source.size
    if source.kind == "jsonl" and size and not _is_compressed(source) and not unnamed_compression(source):
        count = max(1, round(size / part_size))
        if count > _MOST_PARTS:
            raise SettingsError(
                f"processing.part_size: {counted(part_size, 'byte')} a part make {count:,} parts of {source.name}, "
                "each with files of its own; take a larger size, such as 1MB"
            )
        cuts = [size * number // count for number in range(count + 1)]
        yield from ((Span(source, begin, end), end - begin) for begin, end in pairwise(cuts))
    elif source.kind == "parquet" and size and (rows := groups(source)):
        cuts = list(_cuts(rows, part_size))
        for begin, end in pairwise(cuts):
            yield Span(source, begin, end), size * sum(rows[begin:end]) // max(1, sum(rows))
    else:
        yield Span(source), size


def _cuts(sizes: Sequence[int], most: int) -> Iterator[int]:
    """Yield where to cut what follows each other into stretches of no more than ``most``, or of one."""
    total = 0
    for at, size in enumerate(sizes):
        if at == 0 or total + size > most:
            yield at
            total = 0
        total += size
    yield len(sizes)


def _together(sources: Sequence[Source], part_size: int) -> Iterator[list[Source]]:
    """Yield what follows each other and may be packed together, and each source alone that may not."""
    for key, group in groupby(sources, partial(_key, part_size=part_size)):
        if key is None:
            yield from ([source] for source in group)
        else:
            yield list(group)


def _key(source: Source, part_size: int) -> tuple[str, str] | None:
    """Return what files have in common that are packed; None for what is no small file."""
    if (
        source.path is None
        or source.kind == "saved"
        or not source.size
        or _weight(source) * _PACKED_SHARE > part_size
    ):
        return None
    split = _SPLIT.search("/".join(PurePosixPath(source.name).parts[-2:]).lower())
    return source.kind, split[1] if split else ""


def _packs(sources: Sequence[Source], part_size: int, columns: Columns) -> Iterator[list[Source]]:
    """Pack files whose columns are the same, or all among those of the others."""
    groups: list[list[Source]] = []
    known: frozenset[str] = frozenset()
    for source in sources:
        names = columns(source)
        if not groups or not (names <= known or known <= names):
            groups.append([])
            known = frozenset()
        groups[-1].append(source)
        known |= names
    for files in groups:
        for begin, end in pairwise(_cuts([_weight(source) for source in files], part_size)):
            yield files[begin:end]


def _weight(source: Source) -> int:
    """Return about how many bytes a file holds."""
    return (source.size or 0) * (_EXPANSION if _is_compressed(source) else 1)


def _is_compressed(source: Source) -> bool:
    """Tell whether a file is compressed as a whole, by its name."""
    return source.path is not None and source.path.suffix.lower() in COMPRESSIONS


class _PackStems:
    """Names for packs: that of the folder that holds the files, different from those of all sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._taken = {source.stem.casefold() for source in sources}
        self._known: dict[str, str] = {}

    def of(self, pack: Sequence[Source]) -> str:
        folder = posixpath.commonpath([posixpath.dirname(source.name) or "." for source in pack])
        if folder not in self._known:
            name = safe_stem(posixpath.basename(folder).strip(".") or Path(folder).resolve().name)
            stem, number = name, 1
            while stem.casefold() in self._taken:
                number += 1
                stem = f"{name}-{number}"
            self._taken.add(stem.casefold())
            self._known[folder] = stem
        return self._known[folder]
