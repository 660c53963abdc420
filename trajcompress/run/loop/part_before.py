"""A part that is tried again: its rows as they were finished before, but for those that failed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from trajcompress.dataset.writers import read_part_rows
from trajcompress.errors import InputError
from trajcompress.metrics.files import read_metrics, read_segments
from trajcompress.metrics.row import RowMetrics, rows_written
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.loop.reading import FinishedBefore, TriedAgain
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.rows.restored import Before, restore
from trajcompress.run.rows.row import Finished, Parsed
from trajcompress.settings import Settings


def finished_before(folder: RunFolder, settings: Settings) -> FinishedBefore:
    """Return what gives the rows of parts in a run folder."""

    def of_part(part: CommittedPart) -> _PartBefore:
        return _PartBefore(part, folder, settings)

    return of_part


class _PartBefore:
    """Takes the rows of a part, in order, as they are read again."""

    def __init__(self, part: CommittedPart, folder: RunFolder, settings: Settings) -> None:
        metrics = part.file_of("metrics")
        self._data = folder.path / part.data.name if part.data else folder.data
        self._metrics: Iterator[RowMetrics] = read_metrics(folder.path / metrics.name) if metrics else iter(())
        rows: Iterator[dict[str, Any]] = read_part_rows(folder.path / part.data.name) if part.data else iter(())
        segments = part.file_of("segments")
        of_segments = read_segments(folder.path / segments.name) if segments else None
        self._before = Before(
            rows, self._data, settings.output.columns, of_segments, settings.output.per_turn_columns or ()
        )

    def __call__(self, parsed: Parsed) -> Finished | TriedAgain:
        metrics = next(self._metrics, None)
        if metrics is None or (metrics.source_file, metrics.source_row) != (parsed.source.name, parsed.index):
            raise InputError(f"{self._data}: row {parsed.index} of {parsed.source.name} is not in its metrics")
        if metrics.outcome != "failed":
            return restore(parsed, metrics, self._before)
        for rows in (self._before.rows, self._before.segments or ()):
            for _ in islice(rows, rows_written(metrics)):
                pass  # the original, which is kept if it fails again
        return TriedAgain(parsed)
