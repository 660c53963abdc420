"""A whole run: from settings and inputs to a run folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trajcompress.compress import TrajectoryCompressor
from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.rows import Source
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import EngineMismatchError, InputError, OutputError, SummarizerUnusableError
from trajcompress.formats.adapter import explain_format
from trajcompress.run.build import build_counter, build_format_options, build_rules, build_summarizer
from trajcompress.run.committer import Finished, PartCommitter
from trajcompress.run.folder import RunFolder, State
from trajcompress.run.journal import Journal
from trajcompress.run.pipeline import process_in_order
from trajcompress.run.record import describe_run, differences, write_results, write_run
from trajcompress.run.row import Accepted, Parsed, finish_row, parse_rows
from trajcompress.run.selection import Selection, select_rows
from trajcompress.run.totals import Totals
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.engines import ReferenceEngine
from trajcompress.tokens.tokenizer import EngineChoice


class Reporter(Protocol):
    """Who is told how a run goes."""

    def note(self, text: str) -> None:
        """Something to know, once."""

    def started(self, total_bytes: int | None) -> None:
        """Reading begins; the size of the input where it is known."""

    def advanced(self, bytes_read: int, totals: Totals) -> None:
        """Another row is done."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; ``stopped`` says why, where it ended before its input did."""

    folder: Path
    state: State
    totals: Totals
    stopped: str | None = None


def run(settings: Settings, inputs: Sequence[str], reporter: Reporter) -> RunResult:
    """Compress a dataset into a run folder; go on with it where an earlier try was interrupted.

    Raises:
        UsageError: settings, inputs, tokenizer or output folder are wrong.
    """
    sources = _find_sources(settings, inputs)
    folder = RunFolder(_output_folder(settings, inputs))
    folder.check_apart_from([*(Path(given) for given in inputs), *(source.path for source in sources if source.path)])
    previous = folder.previous_run()
    fell_back = previous is not None and previous.get("engine") == ReferenceEngine.name
    engine: EngineChoice = "reference" if fell_back else "auto"
    while True:
        summarizer = build_summarizer(settings)
        counter = build_counter(settings, engine)
        try:
            return _Job(settings, sources, folder, counter=counter, summarizer=summarizer, reporter=reporter).run()
        except EngineMismatchError as error:
            reporter.note(f"{error}; counting everything again with the tokenizer itself")
            folder.clear()
            engine = "reference"


class _Job:
    """One try at a run, with one engine."""

    def __init__(
        self,
        settings: Settings,
        sources: list[Source],
        folder: RunFolder,
        *,
        counter: TokenCounter,
        summarizer: Summarizer,
        reporter: Reporter,
    ) -> None:
        self._settings = settings
        self._sources = sources
        self._folder = folder
        self._counter = counter
        self._summarizer = summarizer
        self._reporter = reporter
        self._bytes_read = 0
        self._explained: set[tuple[str, str]] = set()
        self._record = describe_run(settings, sources, counter)

    def run(self) -> RunResult:
        previous = self._folder.previous_run()
        if previous and self._settings.output.overwrite:
            self._folder.clear()
            previous = None
        if previous:
            self._check_same(previous)
        for note in self._counter.tokenizer.notes:
            self._reporter.note(note)
        self._folder.prepare()
        write_run(self._folder, self._record, "running")
        journal = Journal(self._folder.journal)
        try:
            return self._resume(journal)
        finally:
            journal.close()

    def _resume(self, journal: Journal) -> RunResult:
        parts = journal.parts()
        done: dict[str, int] = {}
        for part in parts:
            done[part.source] = done.get(part.source, 0) + part.items
        totals = Totals.from_state(parts[-1].totals) if parts else Totals()
        if totals.rows:
            self._reporter.note(f"going on after {totals.rows:,} finished rows")
        committer = PartCommitter(self._folder, self._settings.output.format, journal, totals)
        state: State = "interrupted"
        stopped = None
        try:
            asyncio.run(self._process(committer, done))
            committer.finish()
            state = "complete"
        except SummarizerUnusableError as error:
            state, stopped = "stopped", str(error)
            committer.commit()
        finally:
            committer.abort()
            write_run(self._folder, self._record, state)
        if state == "complete":
            write_results(self._folder, self._record, totals)
        return RunResult(self._folder.path, state, totals, stopped)

    async def _process(self, committer: PartCommitter, done: dict[str, int]) -> None:
        settings = self._settings
        workers = settings.processing.num_workers or os.cpu_count() or 1
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(workers, "count") as counting, ThreadPoolExecutor(1, "writer") as writer:
            compressor = TrajectoryCompressor(self._counter, self._summarizer, build_rules(settings), counting)

            async def process(parsed: Parsed) -> Finished:
                return await finish_row(parsed, compressor)

            async def consume(finished: Finished) -> None:
                await loop.run_in_executor(writer, committer.add, finished)
                self._reporter.advanced(self._bytes_read, committer.totals)

            sizes = [source.size for source in self._sources]
            self._reporter.started(None if None in sizes else sum(size or 0 for size in sizes))
            try:
                await process_in_order(
                    self._rows(done),
                    process,
                    consume,
                    size_of=lambda parsed: parsed.size,
                    max_in_flight=settings.processing.max_in_flight,
                )
            finally:
                await self._summarizer.aclose()

    def _rows(self, done: dict[str, int]) -> Iterator[Parsed]:
        chosen = self._settings.input
        selection = Selection(chosen.limit, chosen.sample_percent, chosen.seed)
        items = select_rows(self._sources, selection, done, self._set_bytes_read)
        for parsed in parse_rows(items, build_format_options(self._settings)):
            self._explain(parsed)
            yield parsed

    def _set_bytes_read(self, count: int) -> None:
        self._bytes_read = count

    def _explain(self, parsed: Parsed) -> None:
        """Say once for each source and each way of reading its rows what that way is."""
        if not isinstance(parsed.made, Accepted):
            return
        seen = (parsed.source.name, explain_format(parsed.made.trajectory))
        if seen not in self._explained:
            self._explained.add(seen)
            self._reporter.note(f"{seen[0]}: {seen[1]}")

    def _check_same(self, previous: dict[str, Any]) -> None:
        """Refuse to go on with a run that other settings or other inputs began."""
        changed = differences(previous, self._record)
        if changed:
            raise OutputError(
                f"{self._folder.path}: holds a run with other settings ({'; '.join(changed)}); "
                "--overwrite starts again, another -o keeps both"
            )


def _find_sources(settings: Settings, inputs: Sequence[str]) -> list[Source]:
    if settings.input.dataset is None:
        return find_sources(inputs)
    if inputs:
        raise InputError(f"{inputs[0]}: give either files or --dataset, not both")
    return [hub_source(settings.input.dataset, settings.input.split)]


def _output_folder(settings: Settings, inputs: Sequence[str]) -> Path:
    """Return the folder that is asked for, else the first input's name and the suffix, beside it."""
    if settings.output.dir is not None:
        return Path(settings.output.dir)
    suffix = settings.output.output_suffix
    first = Path(inputs[0] if inputs else settings.input.dataset or "dataset")
    if str(first) == "-" or not first.exists():
        named = "stdin" if str(first) == "-" else first.name
        if any(mark in named for mark in "*?["):
            raise OutputError("a glob names no output folder: add --output DIR")
        return Path(named + suffix)
    resolved = first if first.name not in {"", ".", ".."} else first.resolve()
    stem = resolved.name if resolved.is_dir() else resolved.name.split(".")[0] or resolved.name
    if not suffix:
        raise OutputError("output.output_suffix is empty: the output would be the input; set it, or add --output DIR")
    return resolved.with_name(stem + suffix)
