"""Work on rows, many at once, with what stays open between calls."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from itertools import count
from typing import Any, NamedTuple

from trajcompress.api.counting import RowReader
from trajcompress.api.opened import Opened
from trajcompress.api.options import naming_arguments
from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.happened import Happened
from trajcompress.compaction.provenance import with_provenance
from trajcompress.errors import OF_THE_RUN, SummarizerUnusableError
from trajcompress.formats.adapter import replace_turns
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.build.components import build_policy
from trajcompress.settings import Settings
from trajcompress.transcript.trajectory import RowId, Trajectory


class Done(NamedTuple):
    """A row that was worked on: it, which of its columns holds the messages, and its metrics."""

    row: dict[str, Any]
    messages_field: str
    metrics: RowMetrics


class OpenedCompressor(Opened):
    """Compresses rows; where it turns out that none can be summarised, all that are under way end."""

    def __init__(self, settings: Settings) -> None:
        self._under_way: set[Any] = set()  # tasks
        self._ended: dict[Any, SummarizerUnusableError] = {}  # by task, why it was cancelled
        super().__init__(settings)

    def _prepare(self, settings: Settings) -> None:
        self.numbers = count()
        self.concurrency = settings.processing.max_concurrent_requests
        self._provenance = bool(settings.output.record)
        self._reader = RowReader(settings, self._counter)
        self._driver = RowDriver(self._counter, self._summarizer, build_policy(settings), self._executor)

    def count_tokens(self, row: object) -> int:
        """Return the tokens of a row; raise RowError where it holds no trajectory."""
        return self._reader.count(row)

    def begin(self, row: object, number: int, row_id: RowId) -> Future[Done]:
        """Begin to compress a row: the one of this ``number`` here, which is called ``row_id`` in its metrics.

        The result raises RowError where the row holds no trajectory, and SummarizerUnusableError where no row can be
        summarised. The row in it is a dictionary; see :func:`~trajcompress.api.rows.as_row`.

        Raises:
            RuntimeError: it is closed.
        """
        return self._background.submit(self._compress(row, number, row_id))

    async def _compress(self, given: object, number: int, row_id: RowId) -> Done:
        """Work on a row; where it turns out that none can be summarised, those under way end as well."""
        task = asyncio.current_task()
        self._under_way.add(task)
        try:
            with naming_arguments():
                return await self._work_on(given, number, row_id)
        except SummarizerUnusableError as error:
            for other in self._under_way - self._ended.keys() - {task}:
                self._ended[other] = SummarizerUnusableError(
                    error.reason, error.detail, has_answered=error.has_answered
                )
                other.cancel()
            raise
        except asyncio.CancelledError:
            if (unusable := self._ended.get(task)) is not None:
                raise unusable from None
            raise
        finally:
            self._under_way.discard(task)
            self._ended.pop(task, None)

    async def _work_on(self, given: object, number: int, row_id: RowId) -> Done:
        trajectory = await self._off_loop(self._parse, given, number)
        happened = await self._driver.compact(trajectory, row_id)
        try:
            return self._done(trajectory, happened, row_id)
        except OF_THE_RUN:
            raise
        except Exception as error:  # noqa: BLE001 - a mistake of ours: the row stays as it is
            return self._done(trajectory, happened.given_up(error), row_id)

    def _done(self, trajectory: Trajectory, happened: Happened, row_id: RowId) -> Done:
        last = happened.last
        made = replace_turns(trajectory, last.written, last.places) if last else trajectory.row
        row = with_provenance(made, trajectory, last, wanted=self._provenance)
        return Done(row, trajectory.messages_field, self._driver.metrics(row_id, trajectory, happened))

    def _parse(self, given: object, number: int) -> Trajectory:
        return self._reader.read(given, f"row:{number}")
