"""One session of a run, with one engine: it begins or resumes the run, and writes down how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trajcompress.dataset.cutting import Part
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
    WorkerDiedError,
)
from trajcompress.events import Event
from trajcompress.metrics.totals import Totals
from trajcompress.run.build.components import types_of
from trajcompress.run.build.prices import listed_price, price_of
from trajcompress.run.finish import finish_parts, totals_of
from trajcompress.run.folder.counter_facts import CounterFacts
from trajcompress.run.folder.run_folder import RunFolder, State
from trajcompress.run.folder.run_json import (
    as_retried,
    describe_run,
    differences,
    is_of_earlier_version,
    write_results,
    write_run,
)
from trajcompress.run.interrupt import InterruptedRunError, StopOn
from trajcompress.run.parts.committed import CommittedPart, PartKey
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.repair import check_finished, whole_parts
from trajcompress.run.parts.selection import build_selection
from trajcompress.run.parts.store import PartStore
from trajcompress.run.parts.writer import DataFormat, reserved_columns
from trajcompress.run.progress.event_log import open_log
from trajcompress.run.progress.live import LiveProgress
from trajcompress.run.progress.reporter import Reporter, RunResult, showing_pauses
from trajcompress.run.spending import ceiling, spent_before
from trajcompress.run.work import Work, Workforce
from trajcompress.settings import Settings
from trajcompress.summarize.base import BUILT_IN
from trajcompress.summarize.cache.replaced import keep_replaced
from trajcompress.wording import counted

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

    The ``workforce`` works on its ``parts``, and counts as ``facts`` say; the ``watch`` sees whether inputs change
    while they are read. For ``stop_on`` see :func:`~trajcompress.run.job.run`.
    """

    settings: Settings
    found: Found
    parts: Sequence[Part]
    watch: Watch
    folder: RunFolder
    facts: CounterFacts
    workforce: Workforce
    reporter: Reporter
    stop_on: StopOn | None

    def __post_init__(self) -> None:
        self._store = PartStore(self.folder)
        self._run_json = describe_run(self.settings, self.found, self.parts, self.facts)
        self.watch.fingerprints = {each["name"]: each["fingerprint"] for each in self._run_json["inputs"]}
        self._was_complete = False
        self._is_first = True

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
            self._clear(previous)
            previous = None
        elif previous:
            self._check_same(previous)
        self._is_first = previous is None
        self._was_complete = previous is not None and previous.get("state") == "complete"
        for note in self.facts.notes:
            self.reporter.note(note)
        if previous and self._retries(previous):
            self._run_json = as_retried(previous, self._run_json)
        if previous and self._was_complete and not check_finished(self.folder, previous, self.reporter.note):
            if self._retries(previous):
                raise OutputError(
                    f"{self.folder.state}: is gone, and with it what --retry-failed goes by; start again with "
                    "--overwrite"
                )
            self.reporter.note(f"{self.folder.path}: this run is complete already")
            totals = write_results(self.folder, previous)
            return self._result("complete", totals, totals.rows)
        return self._run()

    def _clear(self, previous: dict[str, Any]) -> None:
        """Clear the folder of the run that it holds; summaries stay where this run finds them."""
        self.folder.own.check()
        previous.pop("state", None)
        write_run(self.folder, previous, "interrupted")  # in case that clearing is
        self.folder.summaries.fetch()
        keep_replaced(self.folder.summaries.file, self.folder.summaries.replaced)
        self.folder.clear()

    def _check_same(self, previous: dict[str, Any]) -> None:
        """Raise OutputError where the folder holds another run than this."""
        if is_of_earlier_version(previous, self._run_json):
            raise OutputError(
                f"{self.folder.path}: an earlier version began this run, and it cannot go on; finish it with that, "
                "or start again with --overwrite, which asks for no summary again that was paid for"
            )
        if changed := differences(previous, self._run_json, retries=self._retries(previous)):
            raise OutputError(
                f"{self.folder.path}: holds a run with other settings or inputs ({'; '.join(changed)}); "
                f"--overwrite starts again{self._reuse()}, another -o keeps both"
            )

    def _retries(self, previous: Mapping[str, Any]) -> bool:
        """Tell whether this session only tries failed rows of a finished run again."""
        return self.settings.processing.retry_failed and previous.get("state") == "complete"

    def _tried_again(self, committed: Mapping[PartKey, CommittedPart]) -> tuple[frozenset[PartKey], int]:
        """Return the parts whose failed rows are tried again, and how many rows failed."""
        failed = {key: part.progress.outcomes["failed"] for key, part in committed.items()}
        wanted = not self._was_complete or self.settings.processing.retry_failed
        return frozenset(key for key, rows in failed.items() if rows and wanted), sum(failed.values())

    def _reuse(self) -> str:
        kept = self.folder.summaries.count()
        return f" and reuses what it can of the {kept:,} summaries that are kept" if kept else ""

    def _run(self) -> RunResult:
        if not self.folder.run.exists():
            write_run(self.folder, self._run_json, "interrupted")  # from here on the folder is known for a run's
        self.folder.prepare()
        settings, note = self.settings, self.reporter.note
        model, price = settings.summarization.called, price_of(settings)
        with (
            open_log(settings.output.log_file, note) as emit,
            LiveProgress(
                self.folder.progress,
                total_size(self.found.sources),
                settings.summarization.rpm,
                lambda name: price if name == model else listed_price(name),
            ) as live,
        ):
            there = len(self._store.read()[0])
            calls_model = not settings.summarization.is_built_in
            before = spent_before(settings, self.folder.summaries, note)
            committed = whole_parts(self._store, self.parts, note, calls_model=calls_model)
            again, failed = self._tried_again(committed)
            if self._was_complete and len(committed) == there and not again:
                note(f"{self.folder.path}: this run is complete already")
            elif again:
                note(f"{counted(failed, 'row')} that failed before {'is' if failed == 1 else 'are'} tried again")
            selection = build_selection(settings, self.found.sources)
            work = Work(
                settings=settings,
                selection=selection,
                ledger=Ledger(self.parts, committed, selection, again),
                store=self._store,
                data_format=DataFormat(
                    settings.output.format, types_of(settings), reserved_columns(self.found.sources)
                ),
                reporter=self.reporter,
                emit=live.tee(showing_pauses(self.reporter, emit)),
                read_through=self._look_at,
                check_cost=ceiling(settings, before, live.spent),
                stop_on=self.stop_on,
            )
            return self._go_on(work)

    def _go_on(self, work: Work) -> RunResult:
        """Work on the parts that are not committed, and put the results together."""
        ledger, workforce = work.ledger, self.workforce
        progress = ledger.progress()
        if progress.rows and not self._was_complete:
            self.reporter.note(
                f"going on after {counted(progress.rows, 'finished row')}; the figures at the end are of all sessions"
            )
        work.emit(
            "resumed" if progress.rows else "started",
            summarizer=self.settings.summarization.called or BUILT_IN,
            target_max_tokens=self.settings.compression.target_max_tokens,
            rows_so_far=progress.rows,
            bytes_so_far=ledger.bytes_done(),
        )
        totals: Totals | None = None
        state: State = "interrupted"
        error: TrajcompressError | None = None
        try:
            write_run(self.folder, self._run_json, "running")
            self.reporter.started(total_size(self.found.sources))
            workforce.run(work)
            files = finish_parts(self._store, ledger.in_order(), self.watch.changed, workforce.joined)
            totals = write_results(self.folder, self._run_json)
            self._run_json["files"] = [asdict(file) for file in files]
            state = "input_changed" if self.watch.changed else "complete"
        except InterruptedRunError:
            totals = self._totals(ledger)
        except KeyboardInterrupt:
            if self.stop_on is None:
                raise
            # else it came while results were put together
        except BatchPendingError as pending:
            state, error = "waiting", pending
            totals = self._totals(ledger)
        except (SummarizerUnusableError, TooManyFailedError, AwaitsBatchError, WorkerDiedError) as stop:
            state, error = "stopped", stop
            totals = self._totals(ledger)
        finally:
            workforce.close()
            with contextlib.suppress(OSError):  # a full disk must not hide the error that says so
                for source in workforce.reading() if state in ("interrupted", "stopped") else ():
                    self._look_at(source)  # it may be the cause
                write_run(self.folder, self._run_json, state)
            work.emit(_ENDINGS[state], **(totals.as_figures() if totals else {"rows": workforce.progress.rows}))
        written = sum(part.progress.rows for part in ledger.in_order())  # with those that were to be tried again
        return self._result(state, totals or self._totals(ledger), written, error)

    def _totals(self, ledger: Ledger) -> Totals:
        """Add up all rows so far, those too that are not committed."""
        totals = totals_of(self._store, ledger.in_order())
        totals.join(self.workforce.open_totals())
        return totals

    def _result(
        self, state: State, totals: Totals, committed_rows: int, error: TrajcompressError | None = None
    ) -> RunResult:
        return RunResult(
            self.folder.path,
            state,
            totals,
            committed_rows,
            stopped=None if error is None else str(error),
            error=error,
            changed=self.watch.changed,
            left_out=self.found.left_out,
            count_caveat=self.facts.tokenizer["caveat"],
            is_first=self._is_first,
        )

    def _look_at(self, source: Source) -> None:
        """See whether an input that was read stands as it did; what has changed is put down at once."""
        self.watch.look(source)
        for key, inputs in (("changed_inputs", self.watch.changed), ("grown_inputs", self.watch.grown)):
            if inputs and self._run_json.get(key) != inputs:
                self._run_json[key] = dict(inputs)
                write_run(self.folder, self._run_json, "running")
