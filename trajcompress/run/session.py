"""One session of a run, with one engine: it begins or resumes the run, and writes down how it ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from trajcompress.dataset.rows import Source
from trajcompress.dataset.sources import Found
from trajcompress.dataset.standing import Watch
from trajcompress.errors import (
    OutputError,
    SummarizerUnusableError,
    TooManyFailedError,
    TrajcompressError,
    WorkerDiedError,
)
from trajcompress.events import Event, Tell
from trajcompress.metrics.totals import Totals
from trajcompress.run.build import build_form_with, build_limiter, build_summarizer, types_of
from trajcompress.run.commit import PartCommitter
from trajcompress.run.event_log import open_log
from trajcompress.run.folder import RunFolder, State
from trajcompress.run.interrupt import InterruptedRunError, StopOn
from trajcompress.run.journal import Journal, Part
from trajcompress.run.reading import Reading
from trajcompress.run.repair import check_finished, drop_damaged
from trajcompress.run.reporter import Progress, Reporter, RunResult, showing_pauses
from trajcompress.run.row_loop import RowLoop
from trajcompress.run.run_json import describe_run, differences, write_results, write_run
from trajcompress.run.selection import Start
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.cache.recovery import SummaryCache, open_record
from trajcompress.summarize.cache.summarizer import Stores
from trajcompress.tokens.counter import TokenCounter
from trajcompress.workers.pool import WorkerPool

_ENDINGS: dict[State, Event] = {
    "complete": "finished",
    "input_changed": "stopped",
    "stopped": "stopped",
    "interrupted": "interrupted",
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
    pool: WorkerPool | None
    counter: TokenCounter
    reporter: Reporter
    stop_on: StopOn | None

    def __post_init__(self) -> None:
        self._run_json = describe_run(self.settings, self.found, self.counter)
        self.watch.fingerprints = {each["name"]: each["fingerprint"] for each in self._run_json["inputs"]}
        self._was_complete = False
        self._limiter = build_limiter(self.settings)
        self._form = build_form_with(self.settings, self.counter)
        self._reading = Reading(self.settings, self.found.sources, self._note_changes, self.reporter.note, self._form)

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
            self.folder.clear(keep_summaries="changed_inputs" in previous)  # as nobody wanted that
            previous = None
        elif previous and (changed := differences(previous, self._run_json)):
            raise OutputError(
                f"{self.folder.path}: holds a run with other settings or inputs ({'; '.join(changed)}); "
                "--overwrite starts again, another -o keeps both"
            )
        self._was_complete = previous is not None and previous.get("state") == "complete"
        for note in self.counter.tokenizer.notes:
            self.reporter.note(note)
        if previous and self._was_complete and not check_finished(self.folder, previous, self.reporter.note):
            self.reporter.note(f"{self.folder.path}: this run is complete already")
            totals = write_results(self.folder, previous)
            return self._result("complete", totals, totals.rows)
        return self._run()

    def _run(self) -> RunResult:
        if not self.folder.run.exists():
            write_run(self.folder, self._run_json, "interrupted")  # from here on the folder is known for a run's
        self.folder.prepare()
        cache, note = self.settings.summarization.cache, self.reporter.note
        with (
            open_log(self.settings.output.log_file, self.reporter.note) as tell,
            contextlib.closing(Journal(self.folder.journal)) as journal,
        ):
            committed = len(journal.parts())
            parts = drop_damaged(self.folder, journal, note)
            if self._was_complete and len(parts) == committed:
                note(f"{self.folder.path}: this run is complete already")
            with (
                contextlib.closing(open_record(self.folder.summaries, note)) as of_run,
                contextlib.closing(SummaryCache(Path(cache) / "summaries.sqlite", note))
                if cache
                else contextlib.nullcontext() as shared,
            ):
                summarizer = build_summarizer(self.settings, Stores(of_run, shared), self._limiter)
                return self._go_on(journal, parts, summarizer, showing_pauses(self.reporter, tell))

    def _go_on(self, journal: Journal, parts: Sequence[Part], summarizer: Summarizer, tell: Tell) -> RunResult:
        """Go on behind the last committed part."""
        progress, start = Progress(), Start()
        if parts:
            last = parts[-1]
            progress = Progress.from_state(last.totals)
            start = Start(last.source, last.next_index, last.next_position, progress.rows)
        if progress.rows and not self._was_complete:
            self.reporter.note(f"going on after {progress.rows:,} finished rows")
        tell(
            "resumed" if progress.rows else "started",
            summarizer=summarizer.name,
            target_max_tokens=self.settings.compression.target_max_tokens,
            rows_so_far=progress.rows,
        )
        committer = PartCommitter(
            self.folder, self.settings.output.format, journal, progress, tell, types=types_of(self.settings)
        )
        loop = RowLoop(
            self.settings, self._reading, self.counter, self.pool, self._limiter, self.reporter, self.stop_on
        )
        totals: Totals | None = None
        state: State = "interrupted"
        error: TrajcompressError | None = None
        try:
            write_run(self.folder, self._run_json, "running")
            asyncio.run(loop.run(committer, summarizer, start, tell))
            committer.finish(self.watch.changed)
            totals = write_results(self.folder, self._run_json)
            self._run_json["files"] = [asdict(file) for file in committer.manifest()]
            state = "input_changed" if self.watch.changed else "complete"
        except InterruptedRunError:
            committer.commit_parts()
            totals = committer.totals()
        except KeyboardInterrupt:
            if self.stop_on is None:
                raise
            # else it came while results were put together
        except (SummarizerUnusableError, TooManyFailedError, WorkerDiedError) as stop:
            state, error = "stopped", stop
            committer.commit_parts()
            totals = committer.totals()
        finally:
            committer.abort()
            with contextlib.suppress(OSError):  # a full disk must not hide the error that says so
                if state in ("interrupted", "stopped") and self._reading.source:
                    self._note_changes(self._reading.source)  # it may be the cause
                write_run(self.folder, self._run_json, state)
            tell(_ENDINGS[state], **(totals.as_figures() if totals else {"rows": committer.progress.rows}))
        return self._result(state, totals or committer.totals(), committer.committed_rows, error)

    def _result(
        self, state: State, totals: Totals, committed_rows: int, error: TrajcompressError | None = None
    ) -> RunResult:
        stopped = None if error is None else str(error)
        changed, caveat = self.watch.changed, self.counter.tokenizer.caveat
        return RunResult(
            self.folder.path, state, totals, committed_rows, stopped, error, changed, self.found.left_out, caveat
        )

    def _note_changes(self, source: Source) -> None:
        """See whether an input that was read stands as it did; what has changed is put down at once."""
        self.watch.look(source)
        for key, inputs in (("changed_inputs", self.watch.changed), ("grown_inputs", self.watch.grown)):
            if inputs and self._run_json.get(key) != inputs:
                self._run_json[key] = dict(inputs)
                write_run(self.folder, self._run_json, "running")
