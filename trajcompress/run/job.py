"""A whole run: from settings and inputs to a run folder."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from trajcompress.compaction.compress import TrajectoryCompressor
from trajcompress.dataset.rows import Source
from trajcompress.dataset.sources import Found
from trajcompress.dataset.standing import Watch
from trajcompress.errors import (
    EngineMismatchError,
    InputError,
    OutputError,
    SummarizerUnusableError,
    TooManyFailedError,
    TrajcompressError,
    WorkerDiedError,
)
from trajcompress.events import Event, Tell
from trajcompress.metrics.totals import Totals
from trajcompress.run.build import (
    build_counter,
    build_format_options,
    build_limiter,
    build_records,
    build_rules,
    build_summarizer,
    count_workers,
    require_context,
)
from trajcompress.run.committer import PartCommitter
from trajcompress.run.event_log import open_log
from trajcompress.run.explain import Explainer
from trajcompress.run.folder import RunFolder, State
from trajcompress.run.interrupt import GRACE_S, LAST_STEPS_S, InterruptedRunError, StopOn
from trajcompress.run.journal import Journal, Part
from trajcompress.run.mend import check_finished, mend
from trajcompress.run.paths import check_log, find_run_inputs, output_folder
from trajcompress.run.pauses import showing_pauses
from trajcompress.run.pipeline import process_in_order
from trajcompress.run.progress import Progress
from trajcompress.run.record import describe_run, differences, write_results, write_run
from trajcompress.run.report import Reporter, RunResult
from trajcompress.run.row import Admission, Finished, Parsed, finish_row, parse_rows
from trajcompress.run.row_workers import RowSetup, begin_in
from trajcompress.run.selection import Start, build_selection, select_rows
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.cache.recovery import SummaryCache, open_record
from trajcompress.summarize.cache.summarizer import Stores
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.engines import ReferenceEngine
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.wording import counted
from trajcompress.workers.pool import WorkerPool
from trajcompress.workers.start import start_workers, useful_workers


def run(settings: Settings, inputs: Sequence[str], reporter: Reporter, *, stop_on: StopOn | None = None) -> RunResult:
    """Compress a dataset into a run folder; go on with it where an earlier try was interrupted.

    Args:
        settings: what to do, and how.
        inputs: files, folders, globs, or ``-``.
        reporter: who is told how it goes.
        stop_on: says when to stop: calls under way get a little time, and what is done is committed. A run without
            it is stopped by KeyboardInterrupt.

    Raises:
        UsageError: settings, inputs, tokenizer or output folder are wrong, or stop being usable on the way.
    """
    found = find_run_inputs(settings, inputs)
    sources = found.sources
    watch = Watch(sources, reporter.note)
    for note in found.notes():
        reporter.note(note)
    folder = RunFolder(output_folder(settings, inputs))
    read = [*(Path(given) for given in inputs), *(source.path for source in sources if source.path)]
    folder.check_apart_from(read)
    folder.check_own()
    check_log(settings.output.log_file, read, folder)
    build_summarizer(settings)  # a missing key is an error before anything is loaded or written
    previous = folder.previous_run() or {}
    fell_back = previous.get("engine") == ReferenceEngine.name and not settings.output.overwrite
    is_done = previous.get("state") == "complete" and not settings.output.overwrite
    is_new = not folder.path.exists()

    def attempt(engine: EngineChoice) -> RunResult:
        workers = 0 if is_done else useful_workers(settings, sources)
        counter = build_counter(settings, engine, processes=1 if workers else None)
        with contextlib.closing(counter.tokenizer):
            if settings.summarization.model is not None:
                require_context(settings, counter)
            with folder.held(), start_workers(RowSetup(settings, engine), workers, reporter.note) as pool:
                return _Job(
                    settings, found, watch, folder, pool, counter=counter, reporter=reporter, stop_on=stop_on
                ).run()

    try:
        return attempt("reference" if fell_back else "auto")
    except EngineMismatchError as error:
        reporter.note(f"{error}; counting everything again with the tokenizer itself")
        with folder.held():
            folder.clear(keep_summaries=True)
        return attempt("reference")
    except InputError:
        if is_new and not folder.holds_work():
            folder.remove()  # nothing could be read, so nothing has begun
        raise


class _Job:
    """One try at a run, with one engine."""

    def __init__(
        self,
        settings: Settings,
        found: Found,
        watch: Watch,
        folder: RunFolder,
        pool: WorkerPool | None,
        *,
        counter: TokenCounter,
        reporter: Reporter,
        stop_on: StopOn | None,
    ) -> None:
        self._settings = settings
        self._sources = found.sources
        self._left_out = found.left_out
        self._watch = watch
        self._reading: Source | None = None
        self._folder = folder
        self._pool = pool
        self._counter = counter
        self._reporter = reporter
        self._bytes_read = 0
        self._record = describe_run(settings, found, counter)
        watch.fingerprints = {each["name"]: each["fingerprint"] for each in self._record["inputs"]}
        self._stop_on = stop_on
        self._asked_to_stop = False
        self._cut_short = False
        self._was_complete = False
        self._limiter = build_limiter(settings)

    def run(self) -> RunResult:
        try:
            return self._begin()
        except OSError as error:
            raise OutputError(
                f"{error.filename or self._folder.path}: {error.strerror or error}; what is done is kept: "
                "make room or mend it, and run the same command again to go on"
            ) from error

    def _begin(self) -> RunResult:
        previous = self._folder.previous_run()
        if previous and self._settings.output.overwrite:
            self._folder.check_data()
            previous.pop("state", None)
            write_run(self._folder, previous, "interrupted")  # in case that clearing is
            self._folder.clear(keep_summaries="changed_inputs" in previous)  # as nobody wanted that
            previous = None
        elif previous and (changed := differences(previous, self._record)):
            raise OutputError(
                f"{self._folder.path}: holds a run with other settings or inputs ({'; '.join(changed)}); "
                "--overwrite starts again, another -o keeps both"
            )
        self._was_complete = previous is not None and previous.get("state") == "complete"
        for note in self._counter.tokenizer.notes:
            self._reporter.note(note)
        if previous and self._was_complete and not check_finished(self._folder, previous, self._reporter.note):
            self._reporter.note(f"{self._folder.path}: this run is complete already")
            totals = write_results(self._folder, previous)
            return self._result("complete", totals, totals.rows)
        return self._run()

    def _run(self) -> RunResult:
        if not self._folder.run.exists():
            write_run(self._folder, self._record, "interrupted")  # from here on the folder is known for a run's
        self._folder.prepare()
        cache, note = self._settings.summarization.cache, self._reporter.note
        with (
            open_log(self._settings.output.log_file, self._reporter.note) as tell,
            contextlib.closing(Journal(self._folder.journal)) as journal,
        ):
            committed = len(journal.parts())
            parts = mend(self._folder, journal, note)
            if self._was_complete and len(parts) == committed:
                note(f"{self._folder.path}: this run is complete already")
            with (
                contextlib.closing(open_record(self._folder.summaries, note)) as record,
                contextlib.closing(SummaryCache(Path(cache) / "summaries.sqlite", note))
                if cache
                else _NOTHING as shared,
            ):
                summarizer = build_summarizer(self._settings, Stores(record, shared), self._limiter)
                return self._go_on(journal, parts, summarizer, showing_pauses(self._reporter, tell))

    def _go_on(self, journal: Journal, parts: Sequence[Part], summarizer: Summarizer, tell: Tell) -> RunResult:
        """Go on behind the last committed part."""
        progress, start = Progress(), Start()
        if parts:
            last = parts[-1]
            progress = Progress.from_state(last.totals)
            start = Start(last.source, last.next_index, last.next_position, progress.rows)
        if progress.rows and not self._was_complete:
            self._reporter.note(f"going on after {progress.rows:,} finished rows")
        tell(
            "resumed" if progress.rows else "started",
            summarizer=summarizer.name,
            target_max_tokens=self._settings.compression.target_max_tokens,
            rows_so_far=progress.rows,
        )
        committer = PartCommitter(self._folder, self._settings.output.format, journal, progress, tell)
        totals: Totals | None = None
        state: State = "interrupted"
        error: TrajcompressError | None = None
        try:
            write_run(self._folder, self._record, "running")
            asyncio.run(self._process(committer, summarizer, start, tell))
            committer.finish(self._watch.changed)
            totals = write_results(self._folder, self._record)
            self._record["files"] = [asdict(file) for file in committer.manifest()]
            state = "input_changed" if self._watch.changed else "complete"
        except InterruptedRunError:
            committer.commit_parts()
            totals = committer.totals()
        except KeyboardInterrupt:
            if self._stop_on is None:
                raise
            # else it came while results were put together
        except (SummarizerUnusableError, TooManyFailedError, WorkerDiedError) as stop:
            state, error = "stopped", stop
            committer.commit_parts()
            totals = committer.totals()
        finally:
            committer.abort()
            with contextlib.suppress(OSError):  # a full disk must not hide the error that says so
                if state in ("interrupted", "stopped") and self._reading:
                    self._look_at(self._reading)  # it may be the cause
                write_run(self._folder, self._record, state)
            tell(_ENDINGS[state], **(totals.as_figures() if totals else {"rows": committer.progress.rows}))
        return self._result(state, totals or committer.totals(), committer.committed_rows, error)

    def _result(
        self, state: State, totals: Totals, committed_rows: int, error: TrajcompressError | None = None
    ) -> RunResult:
        stopped = None if error is None else str(error)
        changed = self._watch.changed
        return RunResult(self._folder.path, state, totals, committed_rows, stopped, error, changed, self._left_out)

    async def _process(self, committer: PartCommitter, summarizer: Summarizer, start: Start, tell: Tell) -> None:
        settings = self._settings
        loop = asyncio.get_running_loop()
        with (
            ThreadPoolExecutor(count_workers(settings), "count") as counting,
            ThreadPoolExecutor(1, "writer") as writer,
        ):
            compressor = TrajectoryCompressor(
                self._counter,
                summarizer,
                build_rules(settings),
                counting,
                tell=tell,
                begin=begin_in(self._pool, self._counter, tell) if self._pool else None,
            )
            admission = Admission(settings.processing.save_over_limit, settings.input.min_tokens)
            records = build_records(settings)

            async def process(parsed: Parsed) -> Finished:
                return await finish_row(parsed, compressor, admission, records)

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
        items = select_rows(self._sources, selection, start, self._set_bytes_read, read_through=self._look_at)
        explainer = Explainer(self._reporter.note, self._settings.input.role_map)
        for parsed in parse_rows(items, build_format_options(self._settings)):
            if self._asked_to_stop:
                self._cut_short = True
                return
            explainer.explain(parsed)
            self._reading = parsed.source
            yield parsed

    def _look_at(self, source: Source) -> None:
        """See whether an input that was read stands as it did; what has changed is put down at once."""
        self._watch.look(source)
        for key, inputs in (("changed_inputs", self._watch.changed), ("grown_inputs", self._watch.grown)):
            if inputs and self._record.get(key) != inputs:
                self._record[key] = dict(inputs)
                write_run(self._folder, self._record, "running")

    def _set_bytes_read(self, count: int) -> None:
        self._bytes_read = count


_NOTHING: contextlib.nullcontext[None] = contextlib.nullcontext()
_ENDINGS: dict[State, Event] = {
    "complete": "finished",
    "input_changed": "stopped",
    "stopped": "stopped",
    "interrupted": "interrupted",
}
