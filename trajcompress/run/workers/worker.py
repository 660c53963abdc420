"""What a worker does: it takes parts, reads, compresses and commits them by itself, and says how far it is."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from trajcompress.engine.messages import Channel
from trajcompress.events import Event, Figure
from trajcompress.metrics.files import join_metrics
from trajcompress.processes.interpreter import release_memory
from trajcompress.run.build.calls import Calls, build_leased_limiter
from trajcompress.run.build.components import build_counter, build_form_with
from trajcompress.run.build.summarizer import build_summarizer, require_context
from trajcompress.run.finish import Join, widen_part
from trajcompress.run.folder.counter_facts import facts_of
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.interrupt import InterruptedRunError
from trajcompress.run.loop.commit import PartCommitter
from trajcompress.run.loop.part_before import finished_before
from trajcompress.run.loop.pipeline import WORKER_BYTES_IN_FLIGHT
from trajcompress.run.loop.reading import Reading
from trajcompress.run.loop.row_loop import RowLoop
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.store import PartStore
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.explainer import Collected
from trajcompress.run.work import open_stores
from trajcompress.run.workers.assigned import assigned, report_read
from trajcompress.run.workers.folded_events import FoldedEvents
from trajcompress.run.workers.messages import (
    Advanced,
    Begin,
    Happened,
    Instructions,
    Joined,
    LeftOpen,
    Loaded,
    Narrow,
    Noted,
    PartCommitted,
    TakeLast,
    Widened,
)
from trajcompress.settings import Settings
from trajcompress.summarize.endpoint.leases.worker import LeasedFailures
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import EngineChoice

GRACE_S = 3.0
"""How long calls that are under way may still take once a stop is asked for: all has to end within five seconds."""


class PartSetup(Struct, frozen=True):
    """How a worker works on parts."""

    settings: Settings
    engine: EngineChoice
    elsewhere: bool = False
    """Whether the worker is on another machine than the run, so that it has no folder but the run's with it."""

    def work(self, channel: Channel) -> None:
        """Load the tokenizer, and work on parts until there are no more.

        Raises:
            TrajcompressError: the work cannot go on here or in any other worker.
        """
        settings = self.settings
        counter = build_counter(settings, self.engine, processes=1)
        with contextlib.closing(counter.tokenizer):
            if not settings.summarization.is_built_in:
                require_context(settings, counter)
            release_memory()
            channel.emit(Loaded(facts_of(counter, settings)))
            if (instructions := channel.ask(Begin())) is not None:
                with tempfile.TemporaryDirectory() if self.elsewhere else contextlib.nullcontext() as near:
                    folder = RunFolder(instructions.folder, near=Path(near) if near else None)
                    _PartWork(channel, settings, counter, instructions, folder).run()


class _PartWork:
    """The work of one worker."""

    def __init__(
        self,
        channel: Channel,
        settings: Settings,
        counter: TokenCounter,
        instructions: Instructions,
        folder: RunFolder,
    ) -> None:
        self._channel = channel
        self._settings = settings
        self._counter = counter
        self._selection = instructions.selection
        self._store = PartStore(folder)
        self._collected = Collected(
            settings.input.role_map, settings.compression.target, hides_calls=counter.hides_calls
        )
        form = build_form_with(settings, counter)
        before = finished_before(self._store.folder, settings)
        self._reading = Reading(settings, self._selection, self._collected, form, finished_before=before)
        self._committer = PartCommitter(self._store, instructions.data_format, Progress(), self._committed)
        self._show_each_s = instructions.show_each_s
        self._shown_at = 0.0
        keeps_planned = settings.output.log_file is not None
        self._emit = FoldedEvents(self._send_event, self._show_each_s, keeps_planned=keeps_planned)

    def run(self) -> None:
        """Work on parts until there are no more, or a stop is asked for."""
        settings = self._settings
        with open_stores(settings, self._store.folder, self._note) as stores:
            limiter = build_leased_limiter(settings, self._channel)
            calls = Calls(limiter, LeasedFailures(limiter, is_known=settings.processing.retry_failed))
            summarizer = build_summarizer(settings, stores, calls)
            loop = RowLoop(
                settings,
                self._reading,
                self._counter,
                limiter,
                stop_on=self._heard,
                note=lambda _: None,
                advanced=self._advance,
                grace_s=GRACE_S,
                max_bytes=WORKER_BYTES_IN_FLIGHT,
            )
            if stores.of_run:
                loop.paid_for = stores.of_run.paid_for
            assignments = assigned(self._channel, self._selection)
            items = self._reading.items(assignments, report_read(self._channel, self._collected))
            try:
                asyncio.run(loop.run(items, self._committer, summarizer, self._emit))
                self._finish()
            except InterruptedRunError:
                self._emit.flush()
                self._channel.emit(LeftOpen(self._committer.totals()))
            finally:
                limiter.flush()
                self._committer.abort()

    def _finish(self) -> None:
        """Do a share of what is to be done at the end of the run."""
        while (last := self._channel.ask(TakeLast())) is not None:
            match last:
                case Narrow(part, columns):
                    self._channel.emit(Widened(widen_part(self._store, part, columns)))
                case Join(metrics, joined):
                    join_metrics(joined, metrics)
                    self._channel.emit(Joined(joined))

    def _committed(self, part: CommittedPart) -> None:
        self._emit.flush()
        self._channel.emit(PartCommitted(part, Advanced(Progress(), self._reading.bytes_read)))

    def _advance(self) -> None:
        now = time.monotonic()
        if now - self._shown_at >= self._show_each_s:
            self._shown_at = now
            self._channel.emit(Advanced(self._committer.open_progress(), self._reading.bytes_read))

    def _note(self, text: str) -> None:
        self._channel.emit(Noted(text))

    def _send_event(self, event: Event, figures: dict[str, Figure]) -> None:
        self._channel.emit(Happened(event, figures))

    @contextlib.contextmanager
    def _heard(self, ask_to_stop: Callable[[], None]) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def stop() -> None:
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(ask_to_stop)

        self._channel.on_stop(stop)
        yield
