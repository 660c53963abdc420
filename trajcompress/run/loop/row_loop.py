"""The loop of a run: rows are read, compressed many at once, and committed in input order, until it is to stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from msgspec import Struct, field

from trajcompress.compaction.driver import RowDriver
from trajcompress.errors import TooManyFailedError
from trajcompress.events import Emit, Figure
from trajcompress.run.build.components import build_admission, build_policy, build_writing, row_threads
from trajcompress.run.interrupt import GRACE_S, LAST_STEPS_S, STOPPING, InterruptedRunError, StopOn
from trajcompress.run.loop.commit import Done, PartCommitter
from trajcompress.run.loop.pipeline import MAX_BYTES_IN_FLIGHT, process_in_order
from trajcompress.run.loop.reading import Item, PieceEnd, Reading, TriedAgain
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.row import Finished, PaidFor, Parsed, finish_row
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer, Usage
from trajcompress.summarize.endpoint.limits import Limiter
from trajcompress.tokens.counter import TokenCounter
from trajcompress.wording import counted


class RowLoop(Struct):
    """Takes rows from reading to commit.

    The ``limiter``, which admits calls of the models, is closed to new ones once ``stop_on`` asks to stop; see
    :func:`~trajcompress.run.job.run`; calls under way then get ``grace_s`` seconds. ``advanced`` is called after rows
    were written. ``max_bytes`` bounds what is held of rows at once. ``paid_for`` says what all tries of a row cost.
    """

    settings: Settings
    reading: Reading
    counter: TokenCounter
    limiter: Limiter
    stop_on: StopOn | None
    note: Callable[[str], None]
    advanced: Callable[[], None]
    grace_s: float = field(default_factory=lambda: GRACE_S)
    max_bytes: int = MAX_BYTES_IN_FLIGHT
    paid_for: PaidFor = lambda _: Usage()

    async def run(self, items: Iterator[Item], committer: PartCommitter, summarizer: Summarizer, emit: Emit) -> None:
        """Work on all rows among ``items``; the summarizer is closed at the end.

        Raises:
            InterruptedRunError: some rows were not read or not finished, as a stop was asked for.
            TooManyFailedError: more rows failed than are allowed.
            SummarizerUnusableError: no row can be summarised.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        settings = self.settings
        loop = asyncio.get_running_loop()
        with (
            ThreadPoolExecutor(row_threads(settings, self.counter), "count") as counting,
            ThreadPoolExecutor(1, "writer") as writer,
        ):
            finish = partial(
                finish_row,
                driver=RowDriver(self.counter, summarizer, build_policy(settings), counting, emit=emit),
                admission=build_admission(settings),
                writing=build_writing(settings),
            )

            async def process(item: Item) -> Done:
                if isinstance(item, TriedAgain):
                    return await self._finish(item.parsed, partial(finish, paid_for=self.paid_for), emit)
                if not isinstance(item, Parsed):
                    return item
                finished = await self._finish(item, finish, emit)
                committer.finished(finished)
                return finished

            async def consume(done: Sequence[Done]) -> None:
                await loop.run_in_executor(writer, self._write, done, committer)
                if any(isinstance(item, Finished) for item in done):
                    self.advanced()

            try:
                await self._until_asked_to_stop(
                    process_in_order(
                        items,
                        process,
                        consume,
                        size_of=lambda item: item.size if isinstance(item, Parsed | TriedAgain) else 0,
                        max_in_flight=settings.processing.max_in_flight,
                        max_bytes=self.max_bytes,
                        ends_batch=lambda item: isinstance(item, PieceEnd),
                    )
                )
            finally:
                await summarizer.aclose()

    async def _finish(
        self, item: Parsed, finish: Callable[[Parsed], Coroutine[None, None, Finished]], emit: Emit
    ) -> Finished:
        """Take a row to its end, between the events that say so."""
        row: dict[str, Figure] = {
            "source_file": item.source.name,
            "source_row": item.index,
            "source_line": item.made.line,
        }
        emit("taken", **row, size=item.size, bytes_read=self.reading.bytes_read)
        finished = await finish(item)
        metrics = finished.metrics
        emit(
            "done",
            **row,
            passes=metrics.passes,
            bytes_read=self.reading.bytes_read,
            outcome=metrics.outcome,
            reason=metrics.reason,
        )
        return finished

    def _write(self, done: Sequence[Done], committer: PartCommitter) -> None:
        """Write rows; raise TooManyFailedError where more of them failed than are allowed."""
        for item in done:
            committer.add(item)
            if (why := too_many_failed(self.settings, committer.progress)) is not None:
                raise TooManyFailedError(why)

    async def _until_asked_to_stop(self, work: Coroutine[None, None, None]) -> None:
        """Do the work; once asked to stop read no more rows, and give those that were read a little time.

        Raises InterruptedRunError where some rows were not read or not finished.
        """
        asked = asyncio.Event()
        with self.stop_on(asked.set) if self.stop_on else contextlib.nullcontext():
            await asyncio.sleep(0)  # so that a stop which was asked for before is heard before the first row
            if asked.is_set():
                self.reading.stop()
            working = asyncio.create_task(work)
            asking = asyncio.create_task(asked.wait())
            await asyncio.wait((working, asking), return_when=asyncio.FIRST_COMPLETED)
            asking.cancel()
            if not working.done():
                self.note(STOPPING)
                self.reading.stop()
                await self._end(working)
            if not working.done():
                working.cancel()
                await asyncio.wait((working,))
        if working.cancelled():
            raise InterruptedRunError
        await working
        if self.reading.cut_short:
            raise InterruptedRunError

    async def _end(self, working: asyncio.Task[None]) -> None:
        """Let rows that were read end, for a little time: of those that take calls, only those that are under way."""
        if self.settings.summarization.is_built_in:
            await asyncio.wait((working,), timeout=self.grace_s)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.grace_s):
                await self.limiter.close()
        await asyncio.wait((working,), timeout=LAST_STEPS_S)


def too_many_failed(settings: Settings, progress: Progress) -> str | None:
    """Say that more rows failed than are allowed, None where that is not so; a share is seen at the end only."""
    allowed = settings.processing.max_failed
    if not allowed or allowed.percent or not allowed.exceeded(progress.not_handled, 1):
        return None
    return (
        f"{counted(progress.not_handled, 'row')} failed or were rejected, which is more than "
        f"--max-failed {allowed} allows (a repaired input has to start again, with --overwrite)"
    )
