"""Committing parts: rows come in input order and are written; a part is committed once its last row is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from trajcompress.dataset.writers import part_name
from trajcompress.events import Emit, nobody
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.totals import Totals
from trajcompress.run.loop.reading import PieceBegin, PieceEnd
from trajcompress.run.parts.committed import CommittedPart, PartKey
from trajcompress.run.parts.store import PartStore
from trajcompress.run.parts.writer import DataFormat, PartWriter
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.row import Finished

Done: TypeAlias = PieceBegin | Finished | PieceEnd


class PartCommitter:
    """Takes finished rows in input order, between where each piece of a part begins and ends.

    ``progress`` counts them, on top of those that were there; ``committed`` is called with each piece that is.
    """

    def __init__(
        self,
        store: PartStore,
        data_format: DataFormat,
        progress: Progress,
        committed: Callable[[CommittedPart], None],
        emit: Emit = nobody,
    ) -> None:
        self.progress = progress
        self.committed_rows = progress.rows
        self._store = store
        self._format = data_format
        self._committed = committed
        self._emit = emit
        self._ahead: dict[int, RowMetrics] = {}  # by position
        self._begun: PieceBegin | None = None
        self._open: PartWriter | None = None

    def finished(self, row: Finished) -> None:
        """Note a row that is finished, though rows before it are not."""
        self._ahead[row.parsed.position] = row.metrics

    def add(self, item: Done) -> None:
        """Take what comes next."""
        if isinstance(item, PieceBegin):
            self._begun, self._open = item, self._writer(item)
        elif self._open is None or self._begun is None:
            raise ValueError("a row outside of any part")
        elif isinstance(item, Finished):
            self.progress.add(self._open.add(item))
            self._ahead.pop(item.parsed.position, None)
        else:
            self._commit(self._begun, self._open.end(item.read, is_last=item.is_last))

    def _writer(self, begun: PieceBegin) -> PartWriter:
        data = part_name(begun.part.stem, begun.part.first_file + begun.piece, self._format.name)
        key = PartKey(begun.part.number, begun.piece)
        return PartWriter(self._store.folder, key, begun.start, data, self._format)

    def _commit(self, begun: PieceBegin, part: CommittedPart) -> None:
        self._store.commit(part, begun.again)
        self._begun = self._open = None
        self.committed_rows += part.progress.rows
        self._committed(part)
        self._emit(
            "committed",
            source_file=begun.part.source.name,
            part=part.key.number,
            data_file=part.data.name.rpartition("/")[2] if part.data else None,
            rows=part.progress.rows,
            rows_so_far=self.committed_rows,
        )

    def open_progress(self) -> Progress:
        """Count the rows of the part that is open."""
        return self._open.progress if self._open else Progress()

    def totals(self) -> Totals:
        """Add up the rows that are finished and not committed.

        Those of a part that stands there from before are left out, as they are counted as such.
        """
        is_new = self._begun is not None and self._begun.again is None
        totals = self._open.totals() if self._open and is_new else Totals()
        totals.add(*self._ahead.values())
        return totals

    def abort(self) -> None:
        """Drop what is not committed."""
        if self._open is not None:
            self._open.abort()
            self._open = None
