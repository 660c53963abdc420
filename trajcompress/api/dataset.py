"""Compression of a whole data set in Python."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, Unpack, cast, overload

from trajcompress.api.in_memory import NamingCompressor, compress_in_memory
from trajcompress.api.inputs import kind_of, stage
from trajcompress.api.options import documented, in_python, naming_arguments, settings_of
from trajcompress.api.results import CompressedDataset
from trajcompress.errors import BatchPendingError, SettingsError
from trajcompress.run.interrupt import StopRequest, raising_interrupts
from trajcompress.run.job import run
from trajcompress.run.progress.progress import Progress
from trajcompress.run.progress.reporter import Reporter, RunResult
from trajcompress.settings import KEYWORDS, Settings
from trajcompress.settings.keywords import CompressOptions, DatasetOptions

Files: TypeAlias = str | Path | Sequence[str | Path]
RowsT = TypeVar("RowsT", bound=Iterable[Mapping[str, Any] | Sequence[Mapping[str, Any]]])


@overload
def compress_dataset(
    inputs: Files,
    output: str | Path,
    *,
    config: str | Path | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[DatasetOptions],
) -> RunResult: ...
@overload
def compress_dataset(
    inputs: RowsT,
    output: str | Path,
    *,
    config: str | Path | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[DatasetOptions],
) -> RunResult: ...
@overload
def compress_dataset(
    inputs: RowsT,
    output: None = None,
    *,
    config: str | Path | None = None,
    reporter: Reporter | None = None,
    **options: Unpack[CompressOptions],
) -> CompressedDataset[RowsT]: ...
@documented(DatasetOptions)
def compress_dataset(
    inputs: Any,
    output: str | Path | None = None,
    *,
    config: str | Path | None = None,
    reporter: Reporter | None = None,
    **options: Any,
) -> RunResult | CompressedDataset[Any]:
    """Compress a data set: into a run folder, as ``trajcompress compress`` does, or into one of the same kind.

    Args:
        inputs: Names of files, folders or globs; or rows: a list, a generator, or a ``Dataset``, ``IterableDataset``
            or ``DatasetDict`` of the package ``datasets``.
        output: The run folder. Rows are written to a folder beside it first (``OUTPUT-input``), where resume and
            ``show`` find them again. None, for rows alone: they come back as the kind that they were, compressed in
            this process; options of reading and writing have no meaning there and are refused. What was paid for is
            lost where that breaks off, unless there is a ``cache``.
        config: A YAML file of settings.
        reporter: Hears how it goes.
        **options: The options of the command line, with underscores.

    Returns:
        How the run ended, or the data set with its metrics.

    Raises:
        UsageError: Options, inputs, tokenizer or output are wrong.
        SummarizerUnusableError: The endpoint refuses every call, or is down; of a run what is done is kept, and the
            same call goes on behind it.
        TooManyFailedError: More rows failed than ``max_failed`` allows.
        WorkerDiedError: A part of the input ends the process that works on it.
        KeyboardInterrupt: It was interrupted; a run as well goes on behind what was done.
    """
    kind = kind_of(inputs)
    if output is None:
        if kind == "files":
            raise SettingsError("argument output: files are compressed into a folder; name it")
        return compress_in_memory(inputs, kind, _compressor(config, options), reporter or _Silent())
    settings = settings_of(config, options, DatasetOptions, "compress_dataset", output=str(output))
    _require_portable(settings)
    if kind == "files":
        given = [inputs] if isinstance(inputs, str | Path) else inputs
    else:
        given = stage(inputs, kind, output)
    with naming_arguments():
        return _run(settings, [str(each) for each in given], reporter or _Silent())


def _compressor(config: str | Path | None, options: Mapping[str, Any]) -> NamingCompressor:
    needs_folder = [name for name in options if name not in CompressOptions.__annotations__ and name in KEYWORDS]
    if needs_folder:
        raise SettingsError(f"argument {needs_folder[0]}: has a meaning with an output folder alone; name one")
    return NamingCompressor(config, **cast("CompressOptions", options))


def _run(settings: Settings, names: Sequence[str], reporter: Reporter) -> RunResult:
    """Run in a thread: a notebook's event loop cannot run another, and calls outlast an interrupt."""
    request = StopRequest()
    with raising_interrupts(), ThreadPoolExecutor(1, "trajcompress") as thread:
        work = thread.submit(run, settings, names, reporter, stop_on=request.heard)
        try:
            return _unless_stopped(work.result())
        except KeyboardInterrupt:
            request.stop()
            raise


def _require_portable(settings: Settings) -> None:
    """Refuse a summariser that worker processes would not find again."""
    choice, workers = settings.summarization.summarizer, settings.processing.num_workers
    if choice is None or not isinstance(workers, int) or workers == 1 or choice.is_named:  # auto: this process alone
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


def _unless_stopped(result: RunResult) -> RunResult:
    """Return how a run ended; one that stopped has written a part of its rows, which nobody should take for all."""
    if isinstance(result.error, BatchPendingError):
        result.error.reword(in_python)
    elif result.error is not None:
        raise result.error
    return result


class _Silent:
    """Tells nobody."""

    def note(self, text: str) -> None: ...

    def started(self, total_bytes: int | None) -> None: ...

    def advanced(self, bytes_read: int, progress: Progress) -> None: ...
