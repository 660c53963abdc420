"""The loop of a run: rows are read, compressed many at once, and committed in input order, until it is to stop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from trajcompress.compaction.driver import Compactor
from trajcompress.dataset.rows import Source
from trajcompress.errors import TooManyFailedError
from trajcompress.events import Tell
from trajcompress.run.build import build_format_options, build_policy, build_records, count_workers
from trajcompress.run.commit import PartCommitter
from trajcompress.run.explain import Explainer
from trajcompress.run.interrupt import GRACE_S, LAST_STEPS_S, InterruptedRunError, StopOn
from trajcompress.run.pipeline import process_in_order
from trajcompress.run.reporter import Reporter
from trajcompress.run.row import Admission, Finished, Parsed, finish_row, parse_rows
from trajcompress.run.row_workers import begin_in
from trajcompress.run.selection import Start, build_selection, select_rows
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.tokens.counter import TokenCounter
from trajcompress.wording import counted
from trajcompress.workers.pool import WorkerPool


class RowLoop:
    """Takes the selected rows of all inputs from reading to commit.

    Args:
        settings: what to do, and how.
        sources: the inputs.
        counter: counts tokens.
        pool: workers that compress rows; without them this process does.
        limiter: admits calls of the models; closed to new ones once a stop is asked for.
        reporter: gets notes and progress.
        stop_on: as for :func:`~trajcompress.run.job.run`.
        read_through: called with each source once its last row that is wanted was read.

    Attributes:
        reading: the source of the row that was read last.
    """

    def __init__(
        self,
        settings: Settings,
        sources: Sequence[Source],
        counter: TokenCounter,
        pool: WorkerPool | None,
        limiter: RateLimiter,
        *,
        reporter: Reporter,
        stop_on: StopOn | None,
        read_through: Callable[[Source], None],
    ) -> None:
        self._settings = settings
        self._sources = sources
        self._counter = counter
        self._pool = pool
        self._limiter = limiter
        self._reporter = reporter
        self._stop_on = stop_on
        self._read_through = read_through
        self.reading: Source | None = None
        self._bytes_read = 0
        self._asked_to_stop = False
        self._cut_short = False

    async def run(self, committer: PartCommitter, summarizer: Summarizer, start: Start, tell: Tell) -> None:
        """Work on all rows from ``start`` on; the summarizer is closed at the end.

        Args:
            committer: takes the finished rows.
            summarizer: writes the summaries.
            start: the first row to read.
            tell: gets the events of the log.

        Raises:
            InterruptedRunError: some rows were not read or not finished, as a stop was asked for.
            TooManyFailedError: more rows failed than are allowed.
            SummarizerUnusableError: no row can be summarised.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        settings = self._settings
        loop = asyncio.get_running_loop()
        with (
            ThreadPoolExecutor(count_workers(settings), "count") as counting,
            ThreadPoolExecutor(1, "writer") as writer,
        ):
            compactor = Compactor(
                self._counter,
                summarizer,
                build_policy(settings),
                counting,
                tell=tell,
                begin=begin_in(self._pool, self._counter, tell) if self._pool else None,
            )
            admission = Admission(settings.processing.save_over_limit, settings.input.min_tokens)
            records = build_records(settings)

            async def process(parsed: Parsed) -> Finished:
                return await finish_row(parsed, compactor, admission, records)

            async def consume(rows: Sequence[Finished]) -> None:
                await loop.run_in_executor(writer, self._write, rows, committer)
                self._reporter.advanced(self._bytes_read, committer.progress)

            sizes = [source.size for source in self._sources]
            self._reporter.started(None if None in sizes else sum(size or 0 for size in sizes))
            try:
                await self._until_asked_to_stop(
                    process_in_order(
                        self._rows(start),
                        process,
                        consume,
                        size_of=lambda parsed: parsed.size,
                        max_in_flight=settings.processing.max_in_flight,
                    )
                )
            finally:
                await summarizer.aclose()

    def _write(self, rows: Sequence[Finished], committer: PartCommitter) -> None:
        """Write rows.

        Raises:
            TooManyFailedError: more of them failed than are allowed.
        """
        allowed = self._settings.processing.max_failed
        for row in rows:
            committer.add(row)
            if allowed and not allowed.percent and allowed.exceeded(committer.progress.not_handled, 1):
                raise TooManyFailedError(
                    f"{counted(committer.progress.not_handled, 'row')} failed or were rejected, which is more than "
                    f"--max-failed {allowed} allows (raise it; a mended input has to start again, with --overwrite)"
                )

    async def _until_asked_to_stop(self, work: Coroutine[None, None, None]) -> None:
        """Do the work; once asked to stop read no more rows, and give those that were read a little time.

        Raises:
            InterruptedRunError: some rows were not read or not finished.
        """
        working = asyncio.create_task(work)
        asked = asyncio.Event()
        with self._stop_on(asked.set) if self._stop_on else contextlib.nullcontext():
            asking = asyncio.create_task(asked.wait())
            await asyncio.wait((working, asking), return_when=asyncio.FIRST_COMPLETED)
            asking.cancel()
            if not working.done():
                self._reporter.note("stopping: finishing what is under way; again to stop at once")
                self._asked_to_stop = True
                await self._end(working)
            if not working.done():
                working.cancel()
                await asyncio.wait((working,))
        if working.cancelled():
            raise InterruptedRunError
        await working
        if self._cut_short:
            raise InterruptedRunError

    async def _end(self, working: asyncio.Task[None]) -> None:
        """Let rows that were read end, for a little time: of those that take calls, only those that are under way."""
        if self._settings.summarization.model is None:
            await asyncio.wait((working,), timeout=GRACE_S)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                await self._limiter.close()
        await asyncio.wait((working,), timeout=LAST_STEPS_S)

    def _rows(self, start: Start) -> Iterator[Parsed]:
        selection = build_selection(self._settings, self._sources)
        items = select_rows(self._sources, selection, start, self._set_bytes_read, read_through=self._read_through)
        explainer = Explainer(self._reporter.note, self._settings.input.role_map)
        for parsed in parse_rows(items, build_format_options(self._settings)):
            if self._asked_to_stop:
                self._cut_short = True
                return
            explainer.explain(parsed)
            self.reading = parsed.source
            yield parsed

    def _set_bytes_read(self, count: int) -> None:
        self._bytes_read = count
