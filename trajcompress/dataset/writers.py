"""The data files of a run: each holds the rows of one part, written while rows of unknown shape stream by.

Memory holds one row group, whatever the length of a file. What it holds, and its bytes, depend on its rows alone:
never on time, on other parts, or on who writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from trajcompress.dataset.durable import TEMPORARY
from trajcompress.dataset.jsonl_parts import JsonlPart
from trajcompress.dataset.jsonl_parts import read_rows as read_jsonl_rows
from trajcompress.dataset.shape import Columns
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError
from trajcompress.processes.late_patterns import late_re
from trajcompress.settings.choices import OutputFormat

_PART_NAME = late_re(r"(?P<stem>.*)-(?P<number>\d{5,})\.(parquet|jsonl)", re.DOTALL)
_TEMPORARY_NAME = late_re(rf"(?P<part>{_PART_NAME.pattern})(\.\d+)?{re.escape(TEMPORARY)}", re.DOTALL)


class PartFile(Protocol):
    """A data file that is being written under a temporary name; there is none until there is a row.

    Every method raises OSError where the disk is full or the folder cannot be written; call :meth:`abort` then.
    """

    def write(self, rows: Sequence[dict[str, Any]], raw: bytes | None, native: Columns) -> None:
        """Add rows: all or none. They must not be changed afterwards.

        Args:
            rows: What a row of the input became.
            raw: The JSON text of a single row that is unchanged, which JSONL takes as it is.
            native: The columns of a typed source (see :func:`~trajcompress.dataset.shape.shape_of_arrow`), so that
                its types are kept.

        Raises:
            RowError: the format cannot carry one of these rows; nothing was written.
        """

    def close(self) -> bool:
        """Make the file complete and durable under its temporary name; False where there was no row."""

    def abort(self) -> None:
        """Close what is open, complete or not."""


def part_name(stem: str, number: int, output_format: OutputFormat) -> str:
    """Return the name of a data file."""
    return f"{stem}-{number:05}.{output_format}"


def stem_of(name: str) -> str | None:
    """Return the stem of a data file's name, None for other names."""
    match = _PART_NAME.fullmatch(name)
    return match["stem"] if match else None


def part_of_temporary(name: str) -> str | None:
    """Return the name of the data file that is written under a temporary name, None for other names."""
    match = _TEMPORARY_NAME.fullmatch(name)
    return match["part"] if match else None


def open_part(path: Location, reserved: Columns | None = None) -> PartFile:
    """Begin a data file that will become ``path``, which says its format.

    ``reserved`` are the types of columns that no row of any part may have values of another type in.
    """
    if path.suffix == ".jsonl":
        return JsonlPart(path)
    from trajcompress.dataset.parquet_parts import ParquetPart

    return ParquetPart(path, reserved or {})


def narrower_files(paths: Sequence[Location]) -> tuple[Columns, list[Location]]:
    """Return the columns that hold the rows of all data files, and the files that lack some: they are to be widened.

    Raises:
        OutputError: no schema holds them all.
    """
    if not paths or paths[0].suffix == ".jsonl":
        return {}, []
    from trajcompress.dataset.parquet_parts import narrower

    return narrower(paths)


def widen_file(path: Location, columns: Columns) -> None:
    """Write a data file again with such columns, complete and durable under its temporary name."""
    from trajcompress.dataset.parquet_parts import widen

    widen(path, columns)


def read_part_rows(path: Location) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part exactly as they were written; in Parquet, missing columns are None.

    Raises:
        InputError: it is damaged.
    """
    read = read_jsonl_rows
    if path.suffix != ".jsonl":
        from trajcompress.dataset.arrow import read_rows as read
    try:
        yield from read(path)
    except (ValueError, OSError) as error:  # Arrow's are such
        raise InputError(
            f"{path}: cannot be read: {str(error).partition(chr(10))[0]}; put it back, or make it again"
        ) from error
