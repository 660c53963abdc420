"""Work on parts in processes of this machine, which the local engine runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.location import Location
from trajcompress.engine.local import LocalEngine
from trajcompress.errors import WorkerDiedError
from trajcompress.metrics.totals import Totals
from trajcompress.run.coordinator import GRACE_S, PartCoordinator
from trajcompress.run.counter_facts import CounterFacts
from trajcompress.run.interrupt import InterruptedRunError
from trajcompress.run.part_messages import Loaded
from trajcompress.run.part_work import PartSetup
from trajcompress.run.progress import Progress
from trajcompress.run.work import Work, open_stores
from trajcompress.settings import Settings
from trajcompress.tokens.tokenizer import EngineChoice

_WORTH_BYTES = 32 * 2**20
"""A process takes some seconds to start, which is about what it saves on so much input,"""
_WORTH_ROWS = 400
"""or on so many rows."""
_MEMORY_BYTES = 512 * 2**20
"""What a process may take."""


def useful_workers(settings: Settings, parts: Sequence[Part]) -> int:
    """Return how many processes it is worth to work on parts in, up to as many as are wanted; 1 for none but this."""
    chosen, wanted = settings.input, settings.processing.num_workers
    if any(part.source.is_stream or part.source.kind == "hub" for part in parts):
        return 1  # to be read once, from one place
    if (given := settings.summarization.summarizer) is not None and not given.is_named:
        return 1  # an object of this process
    if settings.summarization.batch:
        return 1  # all rows wait for the same replies
    most = wanted if isinstance(wanted, int) else min(_cores(), _memory() // _MEMORY_BYTES)
    taken = (chosen.sample_percent or 100) / 100 / (chosen.shard.count if chosen.shard else 1)
    most = min(most, len(parts), int(taken * sum(part.size or 0 for part in parts)) // _WORTH_BYTES)
    if chosen.limit is not None:
        most = min(most, chosen.limit // _WORTH_ROWS)
    return max(1, most)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    """Return the bytes of memory that are free, or how much there is where nobody knows."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**40


def first_facts(engine: LocalEngine) -> CounterFacts:
    """Return what the first worker that has loaded the tokenizer says of it.

    Raises:
        UsageError: it cannot be loaded, or settings do not go with it.
        WorkerDiedError: no worker has come so far.
    """
    try:
        loaded = engine.first_news()
    except OSError as error:
        raise WorkerDiedError(f"{error}; take fewer, or none: --num-workers 1") from error
    if not isinstance(loaded, Loaded):
        raise TypeError(f"the first news of a worker is {loaded!r}")
    return loaded.facts


class WorkInWorkers:
    """A :class:`~trajcompress.run.work.Workforce` of processes; close it when done.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self, settings: Settings, engine: EngineChoice, workers: int) -> None:
        self._workers = workers
        self._coordinator: PartCoordinator | None = None
        setup = PartSetup(replace(settings, processing=replace(settings.processing, num_workers=1)), engine)
        self._engine = LocalEngine(lambda _: setup, workers)

    def facts(self) -> CounterFacts:
        """Return what a worker says of the tokenizer, once one has loaded it.

        Raises:
            UsageError: it cannot be loaded, or settings do not go with it.
            WorkerDiedError: no worker has come so far.
        """
        return first_facts(self._engine)

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
        asyncio.run(self._run(work, self._coordinator))

    async def _run(self, work: Work, coordinator: PartCoordinator) -> None:
        asked = asyncio.Event()
        if coordinator.committed_rows:
            coordinator.show()  # what was there
        with work.stop_on(asked.set) if work.stop_on else contextlib.nullcontext():
            working = asyncio.create_task(self._engine.run(coordinator))
            asking = asyncio.create_task(asked.wait())
            await asyncio.wait((working, asking), return_when=asyncio.FIRST_COMPLETED)
            asking.cancel()
            if not working.done():
                work.reporter.note("stopping: finishing what is under way; again to stop at once")
                coordinator.stop()
                self._engine.stop()
                await asyncio.wait((working,), timeout=GRACE_S)
                self._engine.kill()
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
        """End the processes."""
        self._engine.close()
