"""One session of a run, with one engine: it begins or resumes the run, and writes down how it ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.rows import Source, total_size
from trajcompress.dataset.sources import Found
from trajcompress.dataset.standing import Watch
from trajcompress.errors import (
    AwaitsBatchError,
    BatchPendingError,
    OutputError,
    SummarizerUnusableError,
    TooManyFailedError,
    TrajcompressError,
)
from trajcompress.events import Event, Tell
from trajcompress.metrics.totals import Totals
from trajcompress.run.batch_rounds import BatchRounds
from trajcompress.run.build import build_form_with, build_limiter, build_summarizer, types_of
from trajcompress.run.commit import PartCommitter
from trajcompress.run.committed import CommittedPart, PartKey
from trajcompress.run.event_log import open_log
from trajcompress.run.finish import finish_parts, totals_of
from trajcompress.run.folder import RunFolder, State
from trajcompress.run.interrupt import InterruptedRunError, StopOn
from trajcompress.run.ledger import Ledger
from trajcompress.run.live import LiveProgress
from trajcompress.run.part_store import PartStore
from trajcompress.run.part_writer import DataFormat, reserved_columns
from trajcompress.run.prices import listed_price, price_of
from trajcompress.run.reading import Reading
from trajcompress.run.repair import check_finished, whole_parts
from trajcompress.run.reporter import Reporter, RunResult, showing_pauses
from trajcompress.run.row import Parsed
from trajcompress.run.row_loop import RowLoop
from trajcompress.run.run_json import describe_run, differences, is_of_earlier_version, write_results, write_run
from trajcompress.run.selection import build_selection
from trajcompress.settings import Settings, require_api_key
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.cache.recovery import SummaryCache
from trajcompress.summarize.cache.replaced import keep_replaced
from trajcompress.summarize.cache.store import SummaryStore
from trajcompress.summarize.cache.summarizer import Stores
from trajcompress.summarize.endpoint.batch.api import BatchApi
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.tokens.counter import TokenCounter

_ENDINGS: dict[State, Event] = {
    "complete": "finished",
    "input_changed": "stopped",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "waiting": "interrupted",
}


@dataclass
class RunSession:
    """Begins or resumes a run in its folder, which is locked, and brings it as far as it goes.

    The ``counter`` counts with the engine of this session; the ``watch`` sees whether inputs change while they are
    read. For ``stop_on`` see :func:`~trajcompress.run.job.run`.
    """

    settings: Settings
    found: Found
    watch: Watch
    folder: RunFolder
    counter: TokenCounter
    reporter: Reporter
    stop_on: StopOn | None

    def __post_init__(self) -> None:
        self._parts = cut_into_parts(self.found.sources, self.settings.processing.part_size)
        self._store = PartStore(self.folder)
        self._run_json = describe_run(self.settings, self.found, self._parts, self.counter)
        self.watch.fingerprints = {each["name"]: each["fingerprint"] for each in self._run_json["inputs"]}
        self._was_complete = False
        self._reading: Reading | None = None
        self._limiter = build_limiter(self.settings)

    def run(self) -> RunResult:
        """Bring the run as far as it goes.

        Raises:
            OutputError: the folder holds another run, is damaged beyond repair, or cannot be written.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        try:
            return self._begin()
        except OSError as error:
            raise OutputError(
                f"{error.filename or self.folder.path}: {error.strerror or error}; what is done is kept: "
                "make room or fix it, and run the same command again to go on"
            ) from error

    def _begin(self) -> RunResult:
        previous = self.folder.previous_run()
        if previous and self.settings.output.overwrite:
            self.folder.check_data()
            previous.pop("state", None)
            write_run(self.folder, previous, "interrupted")  # in case that clearing is
            self.folder.fetch_summaries()
            keep_replaced(self.folder.summaries, self.folder.replaced_summaries)
            self.folder.clear()
            previous = None
        elif previous and is_of_earlier_version(previous, self._run_json):
            raise OutputError(
                f"{self.folder.path}: an earlier version began this run, and it cannot go on; finish it with that, "
                "or start again with --overwrite, which asks for no summary again that was paid for"
            )
        elif previous and (changed := differences(previous, self._run_json)):
            raise OutputError(
                f"{self.folder.path}: holds a run with other settings or inputs ({'; '.join(changed)}); "
                f"--overwrite starts again{self._reuse()}, another -o keeps both"
            )
        self._was_complete = previous is not None and previous.get("state") == "complete"
        for note in self.counter.tokenizer.notes:
            self.reporter.note(note)
        if previous and self._was_complete and not check_finished(self.folder, previous, self.reporter.note):
            self.reporter.note(f"{self.folder.path}: this run is complete already")
            totals = write_results(self.folder, previous)
            return self._result("complete", totals, totals.rows)
        return self._run()

    def _reuse(self) -> str:
        kept = self.folder.count_summaries()
        return f" and reuses what it can of the {kept:,} summaries that are kept" if kept else ""

    def _run(self) -> RunResult:
        if not self.folder.run.exists():
            write_run(self.folder, self._run_json, "interrupted")  # from here on the folder is known for a run's
        self.folder.prepare()
        chosen, note = self.settings.summarization, self.reporter.note
        model, price = chosen.called, price_of(self.settings)
        with (
            open_log(self.settings.output.log_file, note) as tell,
            LiveProgress(
                self.folder.progress,
                total_size(self.found.sources),
                lambda name: price if name == model else listed_price(name),
            ) as live,
        ):
            there = len(self._store.read()[0])
            committed = whole_parts(self._store, self._parts, note, calls_model=not chosen.is_built_in)
            if self._was_complete and len(committed) == there:
                note(f"{self.folder.path}: this run is complete already")
            with (
                contextlib.closing(self.folder.open_record(note)) as of_run,
                contextlib.closing(SummaryCache(Path(chosen.cache) / "summaries.sqlite", note))
                if chosen.cache
                else contextlib.nullcontext() as shared,
                contextlib.closing(SummaryStore(self.folder.replaced_summaries, note))
                if self.folder.replaced_summaries.exists()
                else contextlib.nullcontext() as replaced,
                contextlib.closing(BatchStore(self.folder.batches))
                if chosen.batch
                else contextlib.nullcontext() as batches,
            ):
                stores = Stores(of_run, shared, replaced)
                summarizer = partial(build_summarizer, self.settings, stores, self._limiter, batches)
                return self._go_on(committed, summarizer, batches, live.telling(showing_pauses(self.reporter, tell)))

    def _go_on(
        self,
        committed: Mapping[PartKey, CommittedPart],
        make_summarizer: Callable[[], Summarizer],
        batches: BatchStore | None,
        tell: Tell,
    ) -> RunResult:
        """Work on the parts that are not committed."""
        ledger = Ledger(self._parts, committed, self.settings.input.limit)
        progress = ledger.progress()
        summarizer = make_summarizer()
        if progress.rows and not self._was_complete:
            self.reporter.note(f"going on after {progress.rows:,} finished rows")
        tell(
            "resumed" if progress.rows else "started",
            summarizer=summarizer.name,
            target_max_tokens=self.settings.compression.target_max_tokens,
            rows_so_far=progress.rows,
            bytes_so_far=ledger.bytes_done(),
        )
        data_format = DataFormat(
            self.settings.output.format, types_of(self.settings), reserved_columns(self.found.sources)
        )
        committer = PartCommitter(self._store, data_format, progress, ledger.commit, tell)
        totals: Totals | None = None
        state: State = "interrupted"
        error: TrajcompressError | None = None
        try:
            write_run(self.folder, self._run_json, "running")
            if batches is not None:
                self._ask_by_batches(committed, make_summarizer, batches)
            self._work(ledger, committer, summarizer, tell)
            files = finish_parts(self._store, ledger.in_order(), self.watch.changed)
            totals = write_results(self.folder, self._run_json)
            self._run_json["files"] = [asdict(file) for file in files]
            state = "input_changed" if self.watch.changed else "complete"
        except InterruptedRunError:
            totals = self._totals(ledger, committer)
        except KeyboardInterrupt:
            if self.stop_on is None:
                raise
            # else it came while results were put together
        except BatchPendingError as pending:
            state, error = "waiting", pending
            totals = self._totals(ledger, committer)
        except (SummarizerUnusableError, TooManyFailedError, AwaitsBatchError) as stop:
            state, error = "stopped", stop
            totals = self._totals(ledger, committer)
        finally:
            committer.abort()
            with contextlib.suppress(OSError):  # a full disk must not hide the error that says so
                if state in ("interrupted", "stopped") and self._reading and self._reading.part:
                    self._look_at(self._reading.part.source)  # it may be the cause
                write_run(self.folder, self._run_json, state)
            tell(_ENDINGS[state], **(totals.as_figures() if totals else {"rows": committer.progress.rows}))
        return self._result(state, totals or self._totals(ledger, committer), committer.committed_rows, error)

    def _work(self, ledger: Ledger, committer: PartCommitter, summarizer: Summarizer, tell: Tell) -> None:
        settings, reporter = self.settings, self.reporter
        selection = build_selection(settings, self.found.sources)
        form = build_form_with(settings, self.counter)
        self._reading = reading = Reading(settings, selection, reporter.note, form, ledger.bytes_done())
        reporter.started(total_size(self.found.sources))

        def advanced() -> None:
            reporter.advanced(reading.bytes_read, committer.progress)

        if committer.progress.rows:
            advanced()  # by what was there
        loop = RowLoop(settings, reading, self.counter, self._limiter, self.stop_on, reporter.note, advanced)
        asyncio.run(loop.run(reading.all_of(ledger, self._look_at), committer, summarizer, tell))

    def _ask_by_batches(
        self,
        committed: Mapping[PartKey, CommittedPart],
        make_summarizer: Callable[[], Summarizer],
        store: BatchStore,
    ) -> None:
        """Have the summaries of all rows that are not committed made by batches."""
        settings = self.settings
        selection = build_selection(settings, self.found.sources)
        form = build_form_with(settings, self.counter)

        def rows() -> Iterator[Parsed]:
            ledger = Ledger(self._parts, committed, settings.input.limit)
            items = Reading(settings, selection, form=form).all_of(ledger, lambda _: None)
            return (item for item in items if isinstance(item, Parsed))

        api = BatchApi(settings.summarization.base_url, require_api_key(settings), store)
        with contextlib.closing(api):
            rounds = BatchRounds(
                settings=settings,
                rows=rows,
                counter=self.counter,
                summarizer=make_summarizer,
                store=store,
                api=api,
                folder=self.folder.batches.parent,
                note=self.reporter.note,
                stop_on=self.stop_on,
            )
            asyncio.run(rounds.run())

    def _totals(self, ledger: Ledger, committer: PartCommitter) -> Totals:
        """Add up all rows so far, those too that are not committed."""
        totals = totals_of(self._store, ledger.in_order())
        totals.join(committer.totals())
        return totals

    def _result(
        self, state: State, totals: Totals, committed_rows: int, error: TrajcompressError | None = None
    ) -> RunResult:
        stopped = None if error is None else str(error)
        changed, caveat = self.watch.changed, self.counter.tokenizer.caveat
        return RunResult(
            self.folder.path, state, totals, committed_rows, stopped, error, changed, self.found.left_out, caveat
        )

    def _look_at(self, source: Source) -> None:
        """See whether an input that was read stands as it did; what has changed is put down at once."""
        self.watch.look(source)
        for key, inputs in (("changed_inputs", self.watch.changed), ("grown_inputs", self.watch.grown)):
            if inputs and self._run_json.get(key) != inputs:
                self._run_json[key] = dict(inputs)
                write_run(self.folder, self._run_json, "running")
