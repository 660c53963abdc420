"""Compression of a whole data set in Python."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Unpack

from trajcompress.api.options import documented, naming_arguments, settings_of
from trajcompress.errors import InputError, SettingsError, SummarizerUnusableError
from trajcompress.run.interrupt import StopRequest
from trajcompress.run.job import run
from trajcompress.run.reporter import Progress, Reporter, RunResult
from trajcompress.settings import Settings
from trajcompress.settings.keywords import DatasetOptions


@documented(DatasetOptions)
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
    settings = settings_of(config, options, DatasetOptions, "compress_dataset", output=str(output))
    _require_portable(settings)
    with naming_arguments():
        return _run(settings, [str(each) for each in given], reporter or _Silent())


def _run(settings: Settings, names: Sequence[str], reporter: Reporter) -> RunResult:
    if not _has_running_loop():
        return _unless_unusable(run(settings, names, reporter))
    request = StopRequest()
    with ThreadPoolExecutor(1, "trajcompress") as thread:  # a notebook's loop cannot run another
        work = thread.submit(run, settings, names, reporter, stop_on=request.heard)
        try:
            return _unless_unusable(work.result())
        except KeyboardInterrupt:
            request.stop()
            raise


def _require_portable(settings: Settings) -> None:
    """Refuse a summariser that worker processes would not find again."""
    choice, workers = settings.summarization.summarizer, settings.processing.num_workers or 1
    if choice is None or workers == 1 or choice.is_named:
        return
    try:
        pickle.dumps(choice)
        is_portable = choice.given.__class__.__module__ != "__main__" and not choice.spec.startswith("__main__:")
    except Exception:  # noqa: BLE001 - whatever it is made of may raise whatever it wants
        is_portable = False
    if not is_portable:
        raise SettingsError(
            f"argument summarizer: {choice.spec} cannot be found again in {workers} worker processes; put it into a "
            "module of its own, or leave num_workers out"
        )


def _unless_unusable(result: RunResult) -> RunResult:
    if isinstance(result.error, SummarizerUnusableError):
        raise result.error
    return result


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Silent:
    """Tells nobody."""

    def note(self, text: str) -> None: ...

    def started(self, total_bytes: int | None) -> None: ...

    def advanced(self, bytes_read: int, progress: Progress) -> None: ...
