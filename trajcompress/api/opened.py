"""What an open compressor holds: tokenizer, summariser with its limits and stores, and the threads they work in."""

from __future__ import annotations

import asyncio
import contextlib
import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from trajcompress.api.background import Background
from trajcompress.api.options import naming_arguments
from trajcompress.api.rows import MESSAGES, as_row
from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.provenance import with_record
from trajcompress.errors import SummarizerUnusableError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.build import build_counter, build_form_with, build_format_options, build_policy, count_workers
from trajcompress.run.build_summarizer import build_summarizer, require_context
from trajcompress.settings import Settings
from trajcompress.summarize.cache.claims import Claims
from trajcompress.summarize.cache.recovery import SummaryCache
from trajcompress.summarize.cache.summarizer import Stores
from trajcompress.summarize.off_loop import OffLoop
from trajcompress.transcript.trajectory import RowId, Trajectory

_SOURCE = "<memory>"


class Done(NamedTuple):
    """A row that was worked on: it, which of its columns holds the messages, and its metrics."""

    row: dict[str, Any]
    messages_field: str
    metrics: RowMetrics


def row_metrics(number: int) -> RowMetrics:
    """Return the metrics of a row that nothing is known of."""
    return RowMetrics(_SOURCE, number)


class Opened:
    """Works on rows, many at once; safe to use from several threads. Close it when done.

    Raises:
        SettingsError: settings contradict each other, or a key is needed and there is none.
        TokenizerError: the tokenizer cannot be loaded.
    """

    def __init__(self, settings: Settings) -> None:
        self._process = os.getpid()
        self._under_way: set[Any] = set()  # tasks
        self._ended: dict[Any, SummarizerUnusableError] = {}  # by task, why it was cancelled
        self._formats = build_format_options(settings)
        self._messages_field = settings.input.messages_field or MESSAGES
        self._provenance = bool(settings.output.record)
        with contextlib.ExitStack() as undo, naming_arguments():
            where = settings.summarization.cache
            stores = None
            if where:
                cache = SummaryCache(Path(where) / "summaries.sqlite", lambda _: None)
                undo.callback(cache.close)
                claims = Claims(Path(where) / "claims.sqlite")
                undo.callback(claims.close)
                stores = Stores(None, cache, claims=claims)
            self._summarizer = build_summarizer(settings, stores)
            self._counter = build_counter(settings)
            undo.callback(self._counter.tokenizer.close)
            if not settings.summarization.is_built_in:
                require_context(settings, self._counter)
            self._form = build_form_with(settings, self._counter)
            executor = ThreadPoolExecutor(count_workers(settings), "trajcompress-row")
            undo.callback(executor.shutdown, wait=False)
            self._compactor = RowDriver(self._counter, self._summarizer, build_policy(settings), executor)
            self._off_loop = OffLoop(executor)
            self._background = Background()
            self._closing = undo.pop_all()

    @property
    def is_ours(self) -> bool:
        """Whether it was opened in this process: of a fork of it, threads and connections are not there."""
        return self._process == os.getpid()

    def count_tokens(self, row: object) -> int:
        """Return the tokens of a row; raise RowError where it holds no trajectory."""
        return self._counter.count(self._read(as_row(row, self._messages_field), "row")).tokens

    def begin(self, row: object, number: int) -> Future[Done]:
        """Begin to compress a row.

        The result raises RowError where the row holds no trajectory, and SummarizerUnusableError where no row can be
        summarised. The row in it is a dictionary; see :func:`~trajcompress.api.rows.as_row`.

        Raises:
            RuntimeError: it is closed.
        """
        return self._background.submit(self._compress(row, number))

    def close(self) -> None:
        """Close connections and files; what is under way is cancelled."""
        if self.is_ours:
            self._background.stop(self._summarizer.aclose())
            self._closing.close()

    async def _compress(self, given: object, number: int) -> Done:
        """Work on a row; where it turns out that none can be summarised, those under way end as well."""
        task = asyncio.current_task()
        self._under_way.add(task)
        try:
            return await self._work_on(given, number)
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

    async def _work_on(self, given: object, number: int) -> Done:
        trajectory = await self._off_loop(self._parse, given, number)
        done = await self._compactor.compact(trajectory, RowId(_SOURCE, number))
        made = trajectory.row if done.turns is None else replace_turns(trajectory, done.turns)
        row = with_record(made, trajectory, done.turns, done.metrics, wanted=self._provenance)
        return Done(row, trajectory.messages_field, done.metrics)

    def _parse(self, given: object, number: int) -> Trajectory:
        return self._read(as_row(given, self._messages_field), f"row:{number}")

    def _read(self, row: dict[str, Any], fallback_id: str) -> Trajectory:
        trajectory = read_trajectory(row, fallback_id, self._formats)
        return self._form.of(trajectory) if self._form else trajectory
