"""Planning by workers: each takes parts, reads and plans them by itself, and sends what they add up to."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.engine.messages import Channel
from trajcompress.engine.pool import WorkerPool
from trajcompress.planning.figures import PlanFigures
from trajcompress.planning.parts import plan_parts
from trajcompress.planning.rows import RowPlanner
from trajcompress.processes.interpreter import release_memory
from trajcompress.run.build.components import build_counter, build_form_with
from trajcompress.run.build.summarizer import require_context
from trajcompress.run.folder.counter_facts import facts_of
from trajcompress.run.loop.pipeline import WORKER_BYTES_IN_FLIGHT
from trajcompress.run.loop.reading import Reading
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import Selection
from trajcompress.run.rows.explainer import Collected, build_explainer
from trajcompress.run.workers.assigned import assigned, report_read
from trajcompress.run.workers.messages import SHOW_EACH_S, Begin, Loaded, PartEnds, PartRead
from trajcompress.run.workers.parts_read import PartsRead
from trajcompress.run.workers.queue import PartQueue
from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice


@dataclass(frozen=True, slots=True)
class Moved:
    """How far a worker is: ``rows`` of the parts that are under way, and bytes that it has read since it began."""

    rows: int
    bytes_read: int


@dataclass(frozen=True, slots=True)
class PartPlanned:
    """A part is planned."""

    number: int
    figures: PlanFigures
    bytes_read: int


@dataclass(frozen=True, slots=True)
class PlanSetup:
    """How a worker plans parts."""

    settings: Sequence[Settings]
    engine: EngineChoice

    def work(self, channel: Channel) -> None:
        """Load the tokenizer, and plan parts until there are no more.

        Raises:
            TrajcompressError: the work cannot go on here or in any other worker.
        """
        settings = self.settings[0]
        counter = build_counter(settings, self.engine, processes=1)
        with contextlib.closing(counter.tokenizer):
            require_context(settings, counter)
            release_memory()
            channel.emit(Loaded(facts_of(counter, settings)))
            self._plan(channel, counter, channel.ask(Begin()))

    def _plan(self, channel: Channel, counter: TokenCounter, selection: Selection) -> None:
        settings = self.settings[0]
        collected = Collected(settings.input.role_map, settings.compression.target, hides_calls=counter.hides_calls)
        reading = Reading(settings, selection, collected, build_form_with(settings, counter))
        shown_at = 0.0

        def part_done(number: int, figures: PlanFigures) -> None:
            channel.emit(PartPlanned(number, figures, reading.bytes_read))

        def moved(rows: int) -> None:
            nonlocal shown_at
            if (now := time.monotonic()) - shown_at >= SHOW_EACH_S:
                shown_at = now
                channel.emit(Moved(rows, reading.bytes_read))

        items = reading.items(assigned(channel, selection), report_read(channel, collected))
        plan_parts(items, RowPlanner(self.settings, counter), part_done, moved, max_bytes=WORKER_BYTES_IN_FLIGHT)


@dataclass(frozen=True, slots=True)
class PlanWork:
    """What is to be planned, and who follows it: all ``parts``, whose rows add up to ``figures``.

    ``moved`` gets how many bytes have been read and how many rows planned, ``read_through`` each source once its last
    row was read.
    """

    settings: Settings
    selection: Selection
    parts: Sequence[Part]
    figures: PlanFigures
    note: Callable[[str], None]
    moved: Callable[[int, int], None]
    read_through: Callable[[Source], None]


def plan_in_workers(engine: WorkerPool, work: PlanWork, workers: int) -> None:
    """Have so many workers plan all parts.

    Raises:
        EngineMismatchError: counts of the whole plan are in doubt.
        WorkerDiedError: a part ends the process that works on it.
    """
    coordinator = PlanCoordinator(work, workers)
    asyncio.run(engine.run(coordinator))
    coordinator.end()


class PlanCoordinator:
    """The driver's side: hands out parts, and adds up what comes back."""

    def __init__(self, work: PlanWork, workers: int) -> None:
        self._work = work
        self._ledger = Ledger(work.parts, {}, work.selection)
        self._queue = PartQueue(self._ledger, work.selection, workers, work.settings.processing.part_size)
        self._parts_read = PartsRead(self._queue.todo, build_explainer(work.settings, work.note), work.read_through)
        self._workers: dict[int, Moved] = {}
        self._bytes_of_others = 0  # workers that have ended

    def end(self) -> None:
        """See that all is done; raise WorkerDiedError where it is not."""
        self._parts_read.end()
        self._queue.check_all_done()

    async def answer(self, worker: int, question: Any) -> Any:
        """Answer a worker's question."""
        if isinstance(question, Begin):
            return self._work.selection
        return await self._queue.answer(worker, question)

    def emitted(self, worker: int, news: Any) -> None:
        """Take note of what a worker wants known."""
        match news:
            case PartEnds(number, end):
                self._ledger.counted(self._ledger.parts[number], end)
            case PartRead(assignment, how):
                self._parts_read.add(assignment, how)
            case PartPlanned(number, figures, bytes_read):
                self._work.figures.join(figures)
                self._queue.done(worker, lambda each: each.part.number == number)
                self._workers[worker] = Moved(0, bytes_read)
            case Moved():
                self._workers[worker] = news
        self._work.moved(
            self._bytes_of_others + sum(each.bytes_read for each in self._workers.values()),
            self._work.figures.rows + sum(each.rows for each in self._workers.values()),
        )
        self._queue.changed()

    def grace(self, error: Exception) -> float:  # noqa: ARG002 - none is worth waiting for
        """Return how long others may go on, in seconds, where the work in one worker came to an error."""
        return 0

    def has_work(self) -> bool:
        """Tell whether a worker that begins now would find something to do."""
        return self._queue.has_work()

    def died(self, worker: int, how: str) -> bool:
        """Take note that a worker is gone; return whether another is to take its place."""
        if gone := self._workers.pop(worker, None):
            self._bytes_of_others += gone.bytes_read
        return self._queue.died(worker, how, lambda _: False, self._work.note)
