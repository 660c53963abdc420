"""Rows of a run before and after compression: read again from the input, and from the dataset.

What is read is little: each input once, and only those parts of the dataset that hold a row that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError, RowError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.metrics.row import RowMetrics, rows_written
from trajcompress.run.build.components import build_form, build_format_options
from trajcompress.run.folder.run_json import arguments_in
from trajcompress.run.past.lookup import LocatedRow, Place, find_row, locate_rows
from trajcompress.run.past.past_run import CHANGED, PastRun, open_run
from trajcompress.transcript.trajectory import Trajectory

__all__ = ["Pair", "Place", "find_pairs", "find_row"]


class Pair(Struct, frozen=True):
    """A row before and after.

    ``before`` is None where the row holds no trajectory or cannot be read again; ``after`` are the rows that the
    dataset holds of it. ``why`` says what is missing that should be there. ``raw`` is what ``rejected.jsonl`` has of
    the row.
    """

    metrics: RowMetrics
    before: Trajectory | None
    after: tuple[Trajectory, ...]
    raw: str | None = None
    why: str | None = None


def find_pairs(folder: Location, rows: Iterable[Place]) -> Iterator[Pair]:
    """Read rows before and after, in the order of the run; memory holds one pair at a time.

    Raises:
        InputError: the folder holds no finished run, or the run has no such row.
    """
    run = open_run(folder)
    wanted: dict[str, set[int]] = {}
    for source, row in rows:
        wanted.setdefault(source, set()).add(row)
    located = locate_rows(run, wanted)
    for source, places in wanted.items():
        if missing := places - {row.metrics.source_row for row in located.get(source, ())}:
            raise InputError(f"{folder}: this run has no row {min(missing)} of {source}")
    return _read_pairs(run, located)


def _read_pairs(run: PastRun, located: dict[str, list[LocatedRow]]) -> Iterator[Pair]:
    rejects = _Rejects(run.folder.rejected)
    for name, of_source in located.items():
        reader = _SourceReader(run, name, first=of_source[0].metrics.source_row)
        for row in of_source:
            yield reader.read(row, rejects.read(row.rejected) if row.is_in_rejects else None)


class _SourceReader:
    """Reads rows of one source, and what the dataset holds of them; asked in the order of the run."""

    def __init__(self, run: PastRun, name: str, first: int) -> None:
        self._run = run
        self._name = name
        self._options = build_format_options(run.settings)
        self._form = build_form(run.settings, arguments_in(run.run_json))
        located = run.locate(name)
        self._why = located.why
        self._originals = read_rows(located.source, first=first) if located.source else iter(())
        self._data: Location | None = None
        self._written: Iterator[Row | Unreadable] = iter(())

    def read(self, located: LocatedRow, raw: str | None) -> Pair:
        """Read a row before and after."""
        metrics = located.metrics
        before, why = self._before(metrics)
        after: tuple[Trajectory, ...] = ()
        try:
            after = self._after(located, before)
        except InputError as error:
            why = str(error)
        if before is None and len(after) == 1 and not metrics.was_compressed:
            before, why = after[0], None  # it went through as it was
        return Pair(metrics, before, after, raw, why)

    def _before(self, metrics: RowMetrics) -> tuple[Trajectory | None, str | None]:
        if self._why:
            return None, self._why
        try:
            row = _seek(self._originals, metrics.source_row)
        except InputError as error:
            self._why = str(error)
            return None, self._why
        if not isinstance(row, Row):
            return None, None
        try:
            trajectory = read_trajectory(row.value, self._fallback_id(metrics), self._options)
            trajectory = self._form.of(trajectory) if self._form else trajectory
        except RowError:
            return None, None  # the metrics say why
        if metrics.original_turns not in {None, len(trajectory.turns)}:
            return None, f"{self._name} {CHANGED}"
        return trajectory, None

    def _after(self, located: LocatedRow, before: Trajectory | None) -> tuple[Trajectory, ...]:
        metrics = located.metrics
        if not (count := rows_written(metrics)):
            return ()
        path = located.data
        if path is None:
            raise InputError(
                f"{self._run.folder.data}: holds less rows than the metrics say; it was changed after the run"
            )
        if path != self._data:
            kind = self._run.settings.output.format
            source = Source(str(path), path.stem, kind, path, None)
            self._data, self._written = path, read_rows(source, first=located.place)
        rows = [_seek(self._written, located.place + nth) for nth in range(count)]
        options = replace(self._options, redact=False, role_key=None, content_key=None)  # as it was written
        if before is not None and before.split is None:
            options = replace(options, format=before.format, messages_field=before.messages_field)
        with suppress(RowError):
            name = self._fallback_id(metrics)
            after = tuple(read_trajectory(row.value, name, options) for row in rows if isinstance(row, Row))
            if len(after) == count and sum(len(each.turns) for each in after) == metrics.compressed_turns:
                return after
        raise InputError(f"{path}: does not hold the row; it was changed after the run")

    def _fallback_id(self, metrics: RowMetrics) -> str:
        return f"{self._run.inputs[self._name]['stem']}:{metrics.source_row}"


class _Rejects:
    """What ``rejected.jsonl`` has of rows, asked in its order."""

    def __init__(self, path: Location) -> None:
        self._lines = self._read(path)

    def read(self, number: int) -> str | None:
        """Return the text of a rejected row; None where it is gone."""
        line = next((line for at, line in self._lines if at >= number), None)
        return None if line is None else json.loads(line)["raw"]

    @staticmethod
    def _read(path: Location) -> Iterator[tuple[int, bytes]]:
        with suppress(FileNotFoundError), path.open("rb") as lines:
            yield from enumerate(lines)


def _seek(rows: Iterator[Row | Unreadable], index: int) -> Row | Unreadable | None:
    return next((row for row in rows if row.index >= index), None)
