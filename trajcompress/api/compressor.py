"""Compression of rows in Python: one by one, many at once, and beside an event loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, Unpack, overload

from trajcompress.api.counting import kept_reader
from trajcompress.api.inputs import check_rows
from trajcompress.api.lifecycle import Closable
from trajcompress.api.opened_compressor import Done, OpenedCompressor
from trajcompress.api.options import documented, settings_of
from trajcompress.api.results import CompressedBatch, CompressedMessages, CompressedRow
from trajcompress.api.rows import MEMORY, Messages, columns_of, is_messages, rows_of
from trajcompress.compaction.row_metrics import unread
from trajcompress.errors import InputError, RowError, SettingsError
from trajcompress.run.interrupt import raising_interrupts
from trajcompress.settings.keywords import CompressOptions, TokenOptions
from trajcompress.transcript.trajectory import RowId

Row: TypeAlias = Mapping[str, Any]
Compressed: TypeAlias = CompressedRow | CompressedMessages
MOST_AHEAD = 256
"""Rows that are worked on or wait to be given back, unless more are to be worked on at once."""
_Begun: TypeAlias = tuple[Any, RowId, Future[Done]]


@documented(CompressOptions)
class Compressor(Closable[OpenedCompressor]):
    """Compresses and counts rows, with one tokenizer and one client for all of them.

    A row is any mapping with a column of messages, or a bare list of messages; what comes back is of the same kind,
    and what was given is not changed. Calls may come from several threads and event loops at once: they share the
    connections, the rate limits, the retries and the ``cache``. Use it in ``with`` or ``async with``, or call
    :meth:`close`. It can be pickled, as ``datasets.Dataset.map`` does for ``num_proc``: it opens anew in the process
    that it comes to, where limits such as ``rpm`` are its own.

    Args:
        config: A YAML file of settings, as the command line takes it.
        **options: What the file does not say, or says otherwise; the options of the command line, with underscores.

    Raises:
        SettingsError: An option or the config file is wrong.
        TokenizerError: The tokenizer cannot be loaded.
    """

    def __init__(self, config: str | Path | None = None, **options: Unpack[CompressOptions]) -> None:
        super().__init__(partial(OpenedCompressor, settings_of(config, options, CompressOptions, "Compressor")))

    @overload
    def compress(self, row: Row) -> CompressedRow: ...
    @overload
    def compress(self, row: Messages) -> CompressedMessages: ...
    def compress(self, row: Row | Messages) -> Compressed:
        """Compress one row to the target.

        Raises:
            RowError: The row holds no trajectory.
            SummarizerUnusableError: The endpoint refuses every call, or is down.
            RuntimeError: The compressor is closed.
        """
        begun = self._begin(row)
        try:
            with raising_interrupts():
                return _finished(row, begun[2].result())
        finally:
            begun[2].cancel()  # where it was interrupted

    @overload
    async def acompress(self, row: Row) -> CompressedRow: ...
    @overload
    async def acompress(self, row: Messages) -> CompressedMessages: ...
    async def acompress(self, row: Row | Messages) -> Compressed:
        """Compress one row while the event loop goes on; raises as :meth:`compress` does."""
        return _finished(row, await asyncio.wrap_future(self._begin(row)[2]))

    @overload
    def compress_many(self, rows: Iterable[Row], *, concurrency: int | None = None) -> Iterator[CompressedRow]: ...
    @overload
    def compress_many(
        self, rows: Iterable[Messages], *, concurrency: int | None = None
    ) -> Iterator[CompressedMessages]: ...
    def compress_many(self, rows: Iterable[Any], *, concurrency: int | None = None) -> Iterator[Any]:
        """Compress rows, many at once, and yield what becomes of them in their order.

        A row that holds no trajectory is given back as it is, with the outcome ``rejected`` and the reason. Rows are
        taken from ``rows`` as they are worked on, and no more than 256 before the first of them is given back.

        Args:
            rows: The rows; a generator is fine.
            concurrency: How many are worked on at once at most; by default ``max_concurrent_requests``.

        Raises:
            SummarizerUnusableError: The endpoint refuses every call, or is down; rows before that were given back.
            InputError: ``rows`` is one row.
        """
        return self._many(((row, None) for row in _rows_in(rows)), self._check_concurrency(concurrency))

    @overload
    def acompress_many(
        self, rows: Iterable[Row] | AsyncIterable[Row], *, concurrency: int | None = None
    ) -> AsyncIterator[CompressedRow]: ...
    @overload
    def acompress_many(
        self, rows: Iterable[Messages] | AsyncIterable[Messages], *, concurrency: int | None = None
    ) -> AsyncIterator[CompressedMessages]: ...
    def acompress_many(
        self, rows: Iterable[Any] | AsyncIterable[Any], *, concurrency: int | None = None
    ) -> AsyncIterator[Any]:
        """Compress rows as :meth:`compress_many` does, while the event loop goes on.

        Where taking a row waits for something, give an asynchronous iterable: the others would hold up the loop.
        """
        return self._many_async(_rows_in(rows), self._check_concurrency(concurrency))

    def compress_batch(self, columns: Mapping[str, Any]) -> CompressedBatch:
        """Compress a batch of rows, as ``datasets.Dataset.map(…, batched=True)`` passes it.

        A row that holds no trajectory is given back as :meth:`compress_many` does.

        Args:
            columns: The values of each column, as many in each.

        Raises:
            SummarizerUnusableError: The endpoint refuses every call, or is down.
            InputError: The columns are not of one length.
        """
        done = list(self.compress_many(rows_of(columns)))
        return CompressedBatch(columns_of([each.row for each in done]), [each.metrics for each in done])

    @property
    def concurrency(self) -> int:
        """How many rows are worked on at once by default."""
        return self._open().concurrency

    def count_tokens(self, row: Row | Messages) -> int:
        """Return the tokens of one row as a trainer sees it.

        Raises:
            RowError: The row holds no trajectory.
            UncountableTextError: The row holds lone surrogates.
        """
        return self._open().count_tokens(row)

    def _begin(self, row: Any, called: RowId | None = None) -> _Begun:
        opened = self._open()
        number = next(opened.numbers)
        row_id = called or RowId(MEMORY, number)
        return row, row_id, opened.begin(row, number, row_id)

    def _check_concurrency(self, concurrency: int | None) -> int:
        if concurrency is None:
            return self.concurrency
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
            raise SettingsError(f"argument concurrency: should be a whole number from 1 up, not {concurrency!r}")
        return concurrency

    def _many(self, rows: Iterable[tuple[Any, RowId | None]], concurrency: int) -> Iterator[Compressed]:
        begun: deque[_Begun] = deque()
        one_is_done = threading.Event()
        try:
            for row, called in rows:
                begun.append(self._begin(row, called))
                begun[-1][2].add_done_callback(lambda _: one_is_done.set())
                while _is_full(begun, concurrency):
                    with raising_interrupts():
                        if not begun[0][2].done():
                            one_is_done.wait()
                    one_is_done.clear()
                    while begun and begun[0][2].done():
                        yield _ended(*begun[0])
                        begun.popleft()
            while begun:
                with raising_interrupts():
                    ended = _ended(*begun[0])
                yield ended
                begun.popleft()
        finally:
            _cancel(begun)

    async def _many_async(
        self, rows: Iterable[Any] | AsyncIterable[Any], concurrency: int
    ) -> AsyncIterator[Compressed]:
        begun: deque[_Begun] = deque()
        one_is_done, loop = asyncio.Event(), asyncio.get_running_loop()

        def note(_: Future[Done]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(one_is_done.set)

        async def one() -> None:
            if not begun[0][2].done():
                await one_is_done.wait()
            one_is_done.clear()

        try:
            async for row in rows if isinstance(rows, AsyncIterable) else _asynchronous(rows):
                begun.append(self._begin(row))
                begun[-1][2].add_done_callback(note)
                while _is_full(begun, concurrency):
                    await one()
                    while begun and begun[0][2].done():
                        yield _ended(*begun.popleft())
            while begun:
                await one()
                while begun and begun[0][2].done():
                    yield _ended(*begun.popleft())
        finally:
            _cancel(begun)


@documented(TokenOptions)
def count_tokens(row: Row | Messages, **options: Unpack[TokenOptions]) -> int:
    """Return the tokens of one row, with a tokenizer that stays loaded for the next call with the same options.

    :meth:`Compressor.count_tokens` counts with the tokenizer that rows are compressed with.

    Args:
        row: A mapping with a column of messages, or a list of messages.
        **options: How tokens are counted.

    Raises:
        SettingsError: An option is wrong.
        TokenizerError: The tokenizer cannot be loaded.
        RowError: The row holds no trajectory.
        UncountableTextError: The row holds lone surrogates.
    """
    return kept_reader(settings_of(None, options, TokenOptions, "count_tokens")).count(row)


def _is_full(begun: Collection[_Begun], concurrency: int) -> bool:
    """Tell whether no row is to begin: those that are done, and wait for one before them, take up memory alone."""
    return len(begun) >= max(concurrency, MOST_AHEAD) or sum(not done.done() for *_, done in begun) >= concurrency


def _ended(row: Any, row_id: RowId, done: Future[Done]) -> Compressed:
    """Return what became of a row; one that holds no trajectory as it is."""
    try:
        return _finished(row, done.result())
    except RowError as error:
        metrics = unread(row_id, error.reason, error.detail)
        if is_messages(row):
            return CompressedMessages(list(row), metrics)
        return CompressedRow(dict(row) if isinstance(row, Mapping) else row, metrics)


def _finished(given: Any, done: Done) -> Compressed:
    if is_messages(given):
        return CompressedMessages(done.row[done.messages_field], done.metrics)
    return CompressedRow(done.row, done.metrics)


def _cancel(begun: Iterable[_Begun]) -> None:
    for _row, _row_id, done in begun:
        done.cancel()


def _rows_in(rows: Any) -> Any:
    check_rows("rows", rows)
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable | AsyncIterable):
        raise InputError(f"argument rows: should be rows, one after the other, not {type(rows).__name__}")
    return rows


async def _asynchronous(rows: Iterable[Any]) -> AsyncIterator[Any]:
    for row in rows:
        yield row
