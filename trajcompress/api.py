"""What Python programs use: compress a trajectory, compress a dataset, count tokens.

Options have the names of the command line's, with underscores. Nothing is read from the environment but the API key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack

from trajcompress.compaction.driver import Compactor
from trajcompress.compaction.provenance import with_record
from trajcompress.errors import InputError, RowError, SettingsError, SummarizerUnusableError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.metrics.row import RowMetrics
from trajcompress.run.build import (
    build_counter,
    build_form_with,
    build_format_options,
    build_policy,
    build_summarizer,
    require_context,
)
from trajcompress.run.interrupt import StopRequest
from trajcompress.run.job import run
from trajcompress.run.progress import Progress
from trajcompress.run.reporter import Reporter, RunResult
from trajcompress.settings import KEYWORDS, Settings, resolve
from trajcompress.settings.keywords import CompressOptions, DatasetOptions, TokenOptions
from trajcompress.transcript.trajectory import RowId, Trajectory

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CompressedRow:
    """A row after compression; where ``metrics.outcome`` is not ``compressed`` it is the row that was given."""

    row: dict[str, Any]
    metrics: RowMetrics


class Compressor:
    """Compresses and counts single rows, with one tokenizer and one client for all of them.

    Use it as a context manager, or call :meth:`close`. Not for several threads at once.

    Raises:
        SettingsError: an option or the config file is wrong.
        TokenizerError: the tokenizer cannot be loaded.
    """

    def __init__(self, config: str | Path | None = None, **options: Unpack[CompressOptions]) -> None:
        settings = _settings(config, dict(options))
        self._formats = build_format_options(settings)
        self._counter = build_counter(settings)
        self._form = build_form_with(settings, self._counter)
        if settings.summarization.model is not None:
            require_context(settings, self._counter)
        self._summarizer = build_summarizer(settings)
        self._compactor = Compactor(self._counter, self._summarizer, build_policy(settings))
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._thread = ThreadPoolExecutor(1, "trajcompress")
        self._rows = 0
        self._provenance = bool(settings.output.record)

    def compress(self, row: dict[str, Any]) -> CompressedRow:
        """Compress one row to the target.

        Raises:
            RowError: the row holds no trajectory.
            SummarizerUnusableError: the endpoint refuses every call, or is down.
        """
        _check_is_row(row)
        row_id = RowId("<memory>", self._rows)
        trajectory = self._read(row, f"row:{self._rows}")
        self._rows += 1
        done = self._wait_for(self._compactor.compact(trajectory, row_id))
        turns, metrics = done.turns, done.metrics
        if turns is None:
            return CompressedRow(trajectory.row if metrics.formed else row, metrics)
        made = replace_turns(trajectory, turns)
        return CompressedRow(with_record(made, trajectory, turns, metrics, wanted=self._provenance), metrics)

    def count_tokens(self, row: dict[str, Any]) -> int:
        """Return the tokens of one row as a trainer sees it.

        Raises:
            RowError: the row holds no trajectory.
            UncountableTextError: the row holds lone surrogates.
        """
        _check_is_row(row)
        return self._counter.count(self._read(row, "row")).tokens

    def _read(self, row: dict[str, Any], fallback_id: str) -> Trajectory:
        trajectory = read_trajectory(row, fallback_id, self._formats)
        return self._form.of(trajectory) if self._form else trajectory

    def close(self) -> None:
        """Close connections."""
        self._wait_for(self._summarizer.aclose())
        self._thread.submit(self._runner.close).result()
        self._thread.shutdown()
        self._counter.tokenizer.close()

    def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work in a thread of its own: the caller's may have an event loop already, as notebooks do."""
        try:
            doing = self._thread.submit(self._runner.run, work)
        except RuntimeError:  # it is closed
            work.close()
            raise
        try:
            return doing.result()
        except KeyboardInterrupt:
            self._loop.call_soon_threadsafe(self._cancel)
            raise

    def _cancel(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def compress_dataset(
    inputs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    config: str | Path | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[DatasetOptions],
) -> RunResult:
    """Compress files or folders into a run folder, as ``trajcompress compress`` does.

    Raises:
        UsageError: options, inputs, tokenizer or output are wrong.
        SummarizerUnusableError: the endpoint refuses every call, or is down; what is done is kept, and the same call
            goes on behind it.
        KeyboardInterrupt: it was interrupted; the same call goes on behind what was done.
    """
    given = [inputs] if isinstance(inputs, str | Path) else inputs
    if not all(isinstance(each, str | Path) for each in given):
        raise InputError("inputs are files, folders or globs; single rows go through Compressor.compress")
    settings = _settings(config, {**options, "output": str(output)})
    names = [str(each) for each in given]
    if not _has_running_loop():
        return _unless_unusable(run(settings, names, reporter or _Silent()))
    request = StopRequest()
    with ThreadPoolExecutor(1, "trajcompress") as thread:  # a notebook's loop cannot run another
        work = thread.submit(run, settings, names, reporter or _Silent(), stop_on=request.heard)
        try:
            return _unless_unusable(work.result())
        except KeyboardInterrupt:
            request.stop()
            raise


def _unless_unusable(result: RunResult) -> RunResult:
    if isinstance(result.error, SummarizerUnusableError):
        raise result.error
    return result


def _check_is_row(row: Any) -> None:
    if not isinstance(row, dict):
        raise RowError("not_an_object", f"a row is a dict with a column of messages, not {type(row).__name__}")


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def count_tokens(row: dict[str, Any], **options: Unpack[TokenOptions]) -> int:
    """Return the tokens of one row. For many rows make a :class:`Compressor`, which loads the tokenizer once.

    Raises:
        RowError: the row holds no trajectory.
        UncountableTextError: the row holds lone surrogates.
    """
    with Compressor(**options) as compressor:
        return compressor.count_tokens(row)


def _settings(config: str | Path | None, options: dict[str, Any]) -> Settings:
    for name in options:
        if name not in KEYWORDS:
            near = get_close_matches(name, KEYWORDS, n=1)
            raise SettingsError(f"unknown option {name}" + (f"; did you mean {near[0]}?" if near else ""))
    given = {KEYWORDS[name]: value for name, value in options.items()}
    return resolve(given, Path(config) if config else None, environ={}, dotenv=None).settings


class _Silent:
    """Tells nobody."""

    def note(self, text: str) -> None: ...

    def started(self, total_bytes: int | None) -> None: ...

    def advanced(self, bytes_read: int, progress: Progress) -> None: ...
