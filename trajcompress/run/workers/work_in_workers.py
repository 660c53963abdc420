"""Work on parts by workers, which an engine runs: processes of this machine, or of others."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.location import Location
from trajcompress.engine.pool import WORKER_BYTES, WorkerPool
from trajcompress.errors import WorkerDiedError
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.counter_facts import CounterFacts
from trajcompress.run.interrupt import STOPPING, InterruptedRunError
from trajcompress.run.progress.progress import Progress
from trajcompress.run.work import Work, open_stores
from trajcompress.run.workers.coordinator import GRACE_S, PartCoordinator
from trajcompress.run.workers.messages import Loaded
from trajcompress.settings import Settings

_WORTH_BYTES = 32 * 2**20
"""A process takes some seconds to start, which is about what it saves on so much input,"""
_WORTH_ROWS = 400
"""or on so many rows."""


def why_here(settings: Settings, parts: Sequence[Part]) -> str | None:
    """Say why only this process can do the work; None where others can as well."""
    if any(part.source.is_stream or part.source.kind == "hub" for part in parts):
        return "an input that is read once, from one place"
    if (given := settings.summarization.summarizer) is not None and not given.is_named:
        return "a summarizer that is an object of this process"
    if settings.summarization.batch:
        return "--batch, where all rows wait for the same replies"
    return None


def useful_workers(settings: Settings, parts: Sequence[Part], room: int | None = None) -> int:
    """Return how many workers it is worth to work on parts with, up to as many as are wanted; 1 for none but this.

    Where none is wanted in particular, there is ``room`` for so many; None: as many as this machine can have.
    """
    if why_here(settings, parts):
        return 1
    chosen, wanted = settings.input, settings.processing.num_workers
    most = wanted if isinstance(wanted, int) else room or min(_cores(), _memory() // WORKER_BYTES)
    taken = (chosen.sample_percent or 100) / 100 / (chosen.shard.count if chosen.shard else 1)
    most = min(most, len(parts), int(taken * sum(part.size or 0 for part in parts)) // _WORTH_BYTES)
    if chosen.limit is not None:
        most = min(most, chosen.limit // _WORTH_ROWS)
    return max(1, most)


def of_worker(settings: Settings) -> Settings:
    """Return the settings of one worker of several, which works on rows in one thread."""
    return replace(settings, processing=replace(settings.processing, num_workers=1))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    """Return the bytes of memory that are free, or how much there is where nobody knows."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**40


def first_facts(pool: WorkerPool) -> CounterFacts:
    """Return what the first worker that has loaded the tokenizer says of it.

    Raises:
        UsageError: it cannot be loaded, or settings do not go with it.
        WorkerDiedError: no worker has come so far.
    """
    try:
        loaded = pool.first_news()
    except OSError as error:
        raise WorkerDiedError(f"{error}; take fewer, or none: --num-workers 1") from error
    if not isinstance(loaded, Loaded):
        raise TypeError(f"the first news of a worker is {loaded!r}")
    return loaded.facts


class WorkInWorkers:
    """A :class:`~trajcompress.run.work.Workforce` of so many ``workers``.

    Those that are ``elsewhere`` find summaries where other machines find them, too.
    """

    def __init__(self, pool: WorkerPool, workers: int, *, elsewhere: bool = False) -> None:
        self._pool = pool
        self._workers = workers
        self._elsewhere = elsewhere
        self._coordinator: PartCoordinator | None = None

    def facts(self) -> CounterFacts:
        """Return what a worker says of the tokenizer, once one has loaded it.

        Raises:
            UsageError: it cannot be loaded, or settings do not go with it.
            WorkerDiedError: no worker has come so far.
        """
        return first_facts(self._pool)

    @property
    def progress(self) -> Progress:
        """All rows so far."""
        return self._coordinator.progress if self._coordinator else Progress()

    @property
    def committed_rows(self) -> int:
        """Rows that are committed."""
        return self._coordinator.committed_rows if self._coordinator else 0

    def run(self, work: Work) -> None:
        """Do the work."""
        self._coordinator = PartCoordinator(work, self._workers)
        if self._coordinator.is_all_done:
            return
        with open_stores(work.settings, work.store.folder, work.reporter.note):
            pass  # what is damaged is repaired before several use it
        if self._elsewhere:
            work.store.folder.summaries.share()
        asyncio.run(self._run(work, self._coordinator))

    async def _run(self, work: Work, coordinator: PartCoordinator) -> None:
        asked = asyncio.Event()
        if coordinator.committed_rows:
            coordinator.show()  # what was there
        with work.stop_on(asked.set) if work.stop_on else contextlib.nullcontext():
            working = asyncio.create_task(self._pool.run(coordinator))
            asking = asyncio.create_task(asked.wait())
            await asyncio.wait((working, asking), return_when=asyncio.FIRST_COMPLETED)
            asking.cancel()
            if not working.done():
                work.reporter.note(STOPPING)
                coordinator.stop()
                self._pool.stop()
                await asyncio.wait((working,), timeout=GRACE_S)
                self._pool.kill()
            await working
        if coordinator.is_stopping and not coordinator.is_all_done:
            raise InterruptedRunError
        coordinator.end()

    @property
    def joined(self) -> Sequence[Location]:
        """What the metrics of all parts are joined into already."""
        return self._coordinator.joined if self._coordinator else ()

    def open_totals(self) -> Totals:
        """Add up the rows that are finished and not committed."""
        return self._coordinator.open_totals() if self._coordinator else Totals()

    def reading(self) -> list[Source]:
        """Return the sources of which rows were read that are not committed."""
        return self._coordinator.reading() if self._coordinator else []

    def close(self) -> None:
        """End the workers."""
        self._pool.close()
