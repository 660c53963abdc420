"""The dataset of a run, written in parts while rows of unknown shape stream by.

Memory holds one row group, whatever the length of a part. What a part holds, and its bytes, depend on the rows
alone: never on time, or on whether the run was interrupted between parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from trajcompress.dataset.durable import TEMPORARY, sync_folder, temporary
from trajcompress.dataset.jsonl_parts import JsonlParts
from trajcompress.dataset.jsonl_parts import read_rows as read_jsonl_rows
from trajcompress.dataset.shape import Columns
from trajcompress.errors import InputError
from trajcompress.settings.choices import OutputFormat

_PART_NAME = re.compile(r"(?P<stem>.*)-(?P<number>\d{5,})\.(parquet|jsonl)", re.DOTALL)
_TEMPORARY_NAME = re.compile(rf"(?P<part>{_PART_NAME.pattern})(\.\d+)?{re.escape(TEMPORARY)}", re.DOTALL)


class PartWriter(Protocol):
    """One format: writes part after part, never more than one at a time."""

    def prepare(self, rows: Sequence[dict[str, Any]], raw: bytes | None, native: Columns) -> Callable[[], None]:
        """Make rows ready, changing nothing yet; what is returned puts them into the open part.

        Raises:
            RowError: the format cannot carry one of them.
        """

    def begin(self, path: Path) -> None:
        """Open a part that will become ``path``."""

    def close(self) -> None:
        """Make the open part complete and durable under its temporary name."""

    def abort(self) -> None:
        """Close the open part's files, complete or not."""

    def unify(self, paths: Sequence[Path], rewritten: Callable[[Path], None]) -> None:
        """Bring published parts to one schema; see :meth:`DatasetWriter.finish`."""


def stem_of(name: str) -> str | None:
    """Return the stem of a part's name, None for other names."""
    match = _PART_NAME.fullmatch(name)
    return match["stem"] if match else None


def part_of_temporary(name: str) -> str | None:
    """Return the name of the part that is written under a temporary name, None for other names."""
    match = _TEMPORARY_NAME.fullmatch(name)
    return match["part"] if match else None


class DatasetWriter:
    """Writes the rows of a run into parts ``<stem>-00000.parquet`` (or ``.jsonl``) in ``folder``.

    A part holds the rows of one stem, up to where :meth:`commit` is called. ``committed`` names, in order, the parts
    that an interrupted run has committed: numbering and columns go on from there. What that run left unfinished is
    deleted, so a folder has one writer at a time.

    Every method raises OSError where the disk is full or the folder cannot be written; call :meth:`abort` then.
    """

    def __init__(self, folder: Path, output_format: OutputFormat, *, committed: Sequence[str] = ()) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._suffix = output_format
        self._committed = list(committed)
        self._next = {
            match["stem"]: int(match["number"]) + 1 for match in map(_PART_NAME.fullmatch, committed) if match
        }
        self._parts = self._part_writer()
        self._open: Path | None = None
        self._ended: list[str] = []
        self._publishing = False
        self._delete_temporaries()

    def _part_writer(self) -> PartWriter:
        if self._suffix == "jsonl":
            return JsonlParts()
        from trajcompress.dataset.parquet_parts import ParquetParts

        return ParquetParts([self._folder / name for name in self._committed])

    def write(
        self, stem: str, rows: Sequence[dict[str, Any]], raw: bytes | None = None, *, native: Columns | None = None
    ) -> None:
        """Add rows to the open part, which is of this stem, or to a new one where none is open: all or none.

        ``raw`` is the JSON text of a single row that is unchanged, which JSONL takes as it is. ``native`` are
        the columns of a Parquet source (see :func:`~trajcompress.dataset.shape.shape_of_arrow`), so that its
        types are kept. The rows must not be changed afterwards.

        Raises:
            RowError: the format cannot carry one of these rows; nothing was written.
        """
        add = self._parts.prepare(rows, raw, native or {})
        if self._open is None:
            number = self._next.get(stem, 0)
            self._next[stem] = number + 1
            self._open = self._folder / f"{stem}-{number:05}.{self._suffix}"
            self._parts.begin(self._open)
        add()

    def end_part(self) -> str | None:
        """Make the open part complete under its temporary name; return its own, or None where no rows wait.

        :meth:`publish` gives it that. An interrupted run calls :meth:`abort` instead, and writes the rows of the part
        again when it resumes: otherwise its parts would differ from those of an uninterrupted run.
        """
        if self._open is None:
            return None
        self._parts.close()
        name = self._open.name
        self._ended.append(name)
        self._open = None
        return name

    def sync_ended(self) -> None:
        """Make sure that parts which have ended are found under their temporary names after a crash."""
        if self._ended:
            sync_folder(self._folder)

    def publish(self) -> None:
        """Make the parts that have ended visible; what the disk refuses stays complete under its temporary name."""
        if not self._ended:
            return
        self._publishing = True
        for name in self._ended:
            temporary(self._folder / name).replace(self._folder / name)
        sync_folder(self._folder)
        self._publishing = False
        self._committed += self._ended
        self._ended = []

    def commit(self) -> str | None:
        """End the open part and publish it; return its name, or None where no rows wait."""
        name = self.end_part()
        self.publish()
        return name

    def finish(self, rewritten: Callable[[Path], None] = lambda _: None) -> list[str]:
        """Commit, bring all parts to one schema, one at a time, and return their names in order.

        May be repeated, also after a kill, with the same outcome.

        Args:
            rewritten: told of each part that is written again, while the new one is complete under its temporary
                name and the old one still has its own.
        """
        self.commit()
        self._parts.unify([self._folder / name for name in self._committed], rewritten)
        return list(self._committed)

    def abort(self) -> None:
        """Drop the open part; committed parts stay. The writer is of no use afterwards."""
        self._parts.abort()
        self._open = None
        self._delete_temporaries()

    def _delete_temporaries(self) -> None:
        kept = self._ended if self._publishing else ()
        for path in self._folder.glob(f"*.{self._suffix}*{TEMPORARY}"):
            part = part_of_temporary(path.name)
            if part is not None and part not in kept:
                path.unlink()


def read_part_rows(path: Path) -> Iterator[dict[str, Any]]:
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
