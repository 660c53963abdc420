"""The rows of a run's inputs that its dataset was made of, read again for a row of the dataset that has faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.dataset.storage.location import Location, identity_of, location_of
from trajcompress.dataset.storage.parquet import open_parquet
from trajcompress.errors import InputError
from trajcompress.metrics.row import WRITTEN_COLUMNS, rows_written_each
from trajcompress.run.build.components import build_format_options
from trajcompress.run.past.past_run import CHANGED, PastRun, open_run

if TYPE_CHECKING:
    from trajcompress.formats.messages import FormatOptions


def rows_of_inputs(paths: Sequence[str]) -> list[RunInputs]:
    """Return the inputs of the runs whose folders ``paths`` are.

    Raises:
        InputError: one is no folder of a run, or cannot be read.
    """
    return [RunInputs(open_run(location_of(path))) for path in paths]


class RunInputs:
    """Finds for rows of a run's data files the rows of its inputs; takes some 20 bytes a row of the run."""

    def __init__(self, run: PastRun) -> None:
        self._run = run
        self.options: FormatOptions = replace(build_format_options(run.settings), redact=False)
        begins = np.cumsum([0, *(rows for _, rows in run.data_files())])
        self._begins = {
            identity_of(path): int(begin) for (path, _), begin in zip(run.data_files(), begins, strict=False)
        }
        self._places: tuple[list[str], np.ndarray, np.ndarray, np.ndarray] | None = None
        self._input: str | None = None
        self._source: Source | None = None
        self._rows: Iterator[Row | Unreadable] = iter(())
        self._next = 0

    def has(self, data: Location) -> bool:
        """Tell whether a file is one of the run's data files."""
        return identity_of(data) in self._begins

    def find(self, data: Location, index: int) -> tuple[Source, Row | Unreadable]:
        """Return the row of the input that row ``index`` of a data file was made of; they are asked for in order.

        Raises:
            InputError: the input cannot be read again, or is not as it was.
        """
        name, row = self._place(self._begins[identity_of(data)] + index)
        if name != self._input or row < self._next:
            located = self._run.locate(name)
            if located.source is None:
                raise InputError(located.why or f"{name} cannot be read again")
            self._input, self._source = name, located.source
            self._rows, self._next = read_rows(located.source, first=row), row
        found = next((each for each in self._rows if each.index >= row), None)
        if found is None or self._source is None:
            raise InputError(f"{name} {CHANGED}")
        self._next = found.index + 1
        return self._source, found

    def _place(self, at: int) -> tuple[str, int]:
        """Return name and row of the input of a row, counted over all data files."""
        if self._places is None:
            self._places = self._read_places()
        names, sources, rows, ends = self._places
        of = int(np.searchsorted(ends, at, side="right"))
        if of >= len(ends):
            raise InputError(f"{self._run.folder.metrics}: names fewer rows than the dataset has")
        return names[sources[of]], int(rows[of])

    def _read_places(self) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
        columns = ["source_file", "source_row", *WRITTEN_COLUMNS]
        codes: dict[str, int] = {}
        sources, rows, written = [], [], []
        with open_parquet(self._run.folder.metrics) as file:
            for batch in file.iter_batches(columns=columns):
                named = [codes.setdefault(name, len(codes)) for name in batch["source_file"].to_pylist()]
                sources.append(np.array(named, dtype=np.int32))
                rows.append(batch["source_row"].to_numpy())
                written.append(rows_written_each(batch).to_numpy(zero_copy_only=False))
        if not rows:
            return [], np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64)
        return list(codes), np.concatenate(sources), np.concatenate(rows), np.cumsum(np.concatenate(written))
