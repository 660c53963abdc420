"""Rounds of a run by batches: all rows are worked on until each waits for a reply; what they ask goes out together.

A round reads the input and writes nothing. Rows that wait are worked on again once the replies are in, and find what
they asked before; the last round has nothing to ask, and then the run itself finds all its summaries in place.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from trajcompress.compaction.driver import RowDriver
from trajcompress.errors import AwaitsBatchError, BatchPendingError
from trajcompress.run.build.components import build_policy, row_threads
from trajcompress.run.interrupt import InterruptedRunError, StopOn
from trajcompress.run.loop.pipeline import process_in_order
from trajcompress.run.rows.row import Accepted, Parsed
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.endpoint.batch.api import BatchApi, Ending
from trajcompress.summarize.endpoint.batch.store import Batch, BatchStore
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import RowId
from trajcompress.wording import counted

_FIRST_LOOK_S, _LONGEST_PAUSE_S = 1.0, 60.0


class BatchRounds(Struct, frozen=True):
    """Has all summaries of a run made by batches.

    Args:
        settings: of the run.
        rows: reads the rows of the run from the first on.
        counter: counts tokens.
        summarizer: makes who is asked, anew for each round; it notes in ``store`` what is to go out.
        store: where requests and replies are kept.
        api: sends batches.
        folder: where files of batches are put together.
        note: gets lines on what goes out and comes back.
        stop_on: see :func:`~trajcompress.run.job.run`.
    """

    settings: Settings
    rows: Callable[[], Iterator[Parsed]]
    counter: TokenCounter
    summarizer: Callable[[], Summarizer]
    store: BatchStore
    api: BatchApi
    folder: Path
    note: Callable[[str], None]
    stop_on: StopOn | None

    async def run(self) -> None:
        """Return once no row waits for a reply any more.

        Raises:
            BatchPendingError: batches are under way, and are not to be waited for.
            InterruptedRunError: a stop was asked for.
            SummarizerUnusableError: the endpoint refuses what it is asked.
        """
        stopping = asyncio.Event()
        with self.stop_on(stopping.set) if self.stop_on else contextlib.nullcontext():
            await self._bring_in(stopping)
            while await self._round(stopping):
                await self._bring_in(stopping)

    async def _round(self, stopping: asyncio.Event) -> bool:
        """Work on the rows that waited, at first on all; tell whether any of them waits now."""
        before, awaiting = self.store.awaiting(), set[str]()
        with ThreadPoolExecutor(row_threads(self.settings, self.counter), "count") as counting:
            summarizer = self.summarizer()
            compactor = RowDriver(self.counter, summarizer, build_policy(self.settings), counting)

            async def process(parsed: Parsed) -> str | None:
                row = RowId(parsed.source.name, parsed.index)
                if stopping.is_set():
                    raise InterruptedRunError
                if not isinstance(parsed.made, Accepted) or (before is not None and str(row) not in before):
                    return None
                with contextlib.suppress(AwaitsBatchError):
                    await compactor.compact(parsed.made.trajectory, row)
                    return None
                return str(row)

            async def consume(rows: Sequence[str | None]) -> None:
                awaiting.update(row for row in rows if row is not None)

            try:
                await process_in_order(
                    self.rows(),
                    process,
                    consume,
                    size_of=lambda parsed: parsed.size,
                    max_in_flight=self.settings.processing.max_in_flight,
                )
            finally:
                await summarizer.aclose()
        self.store.end_round(awaiting)
        return bool(awaiting)

    async def _bring_in(self, stopping: asyncio.Event) -> None:
        """Send what is wanted, and return once all batches have ended and what they brought is kept."""
        pause = _FIRST_LOOK_S
        for batch in await asyncio.to_thread(self.api.form_batches):
            if batch.id is None:
                name = await asyncio.to_thread(self.api.submit, batch, self.folder)
                self.note(f"batch {name}: {counted(batch.requests, 'request')} sent")
        while under_way := await self._fetch():
            if not self.settings.summarization.batch_wait:
                raise BatchPendingError(_waiting_for(under_way))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await stopping.wait()
            if stopping.is_set():
                raise InterruptedRunError
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    async def _fetch(self) -> list[tuple[Batch, str]]:
        """Fetch what has ended; return what has not, and how far it is."""
        under_way = []
        for batch in self.store.open_batches():
            found = await asyncio.to_thread(self.api.fetch, batch)
            if isinstance(found, Ending):
                self.note(_ended(batch, found))
            else:
                under_way.append((batch, found))
        return under_way


def _waiting_for(under_way: Sequence[tuple[Batch, str]]) -> str:
    """Say what was sent, how far it is, and what to do next."""
    first, how_far = under_way[0]
    sent = counted(sum(batch.requests for batch, _ in under_way), "request")
    more = f", and {counted(len(under_way) - 1, 'other')}" if len(under_way) > 1 else ""
    return (
        f"{sent} sent, in batch {first.id} ({how_far}){more}; rows are written once all are answered: run the same "
        "command again later to go on, or with --batch-wait to wait for it"
    )


def _ended(batch: Batch, ending: Ending) -> str:
    answered = f"{batch.requests - ending.missing:,} of {counted(batch.requests, 'request')} answered"
    words = f" ({ending.words})" if ending.words and ending.missing else ""
    return f"batch {batch.id}: {ending.status}, {answered}{words}"
