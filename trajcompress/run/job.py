"""A whole run, from settings and inputs to a run folder: what is checked before, and with which engine it counts."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.rows import Source
from trajcompress.dataset.standing import Watch
from trajcompress.dataset.storage.location import location_of
from trajcompress.errors import EngineMismatchError, InputError, OutputError, SettingsError
from trajcompress.run.build.components import check_segments, note_of_segments
from trajcompress.run.build.summarizer import build_summarizer
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.interrupt import StopOn
from trajcompress.run.paths import check_log, find_run_inputs, output_folder
from trajcompress.run.progress.reporter import Reporter, RunResult
from trajcompress.run.session import RunSession
from trajcompress.run.spending import check_priced
from trajcompress.run.workforce import open_workforce
from trajcompress.settings import Settings
from trajcompress.tokens.engines import ReferenceEngine
from trajcompress.tokens.tokenizer import EngineChoice


def run(settings: Settings, inputs: Sequence[str], reporter: Reporter, *, stop_on: StopOn | None = None) -> RunResult:
    """Compress a dataset into a run folder; resume it where a previous session was interrupted.

    Once ``stop_on`` says so, calls under way get a little time, and what is done is committed. A run without it is
    stopped by KeyboardInterrupt.

    Raises:
        UsageError: settings, inputs, tokenizer or output folder are wrong, or stop being usable on the way.
    """
    found = find_run_inputs(settings, inputs)
    sources = found.sources
    watch = Watch(sources, reporter.note)
    for note in found.notes():
        reporter.note(note)
    check_segments(settings)
    if twice := note_of_segments(settings):
        reporter.note(twice)
    _check_batch(settings, sources)
    check_priced(settings)
    folder = RunFolder(output_folder(settings, inputs))
    read = [*map(location_of, inputs), *(source.path for source in sources if source.path)]
    folder.check_apart_from(read)
    folder.check_own()
    check_log(settings.output.log_file, read, folder)
    build_summarizer(settings)  # a missing key is an error before anything is loaded or written
    previous = folder.previous_run() or {}
    fell_back = previous.get("engine") == ReferenceEngine.name and not settings.output.overwrite
    is_complete = previous.get("state") == "complete" and not settings.output.overwrite
    is_done = is_complete and not settings.processing.retry_failed
    is_new = not folder.path.exists()

    parts = cut_into_parts(sources, settings.processing.part_size)

    def run_with(engine: EngineChoice) -> RunResult:
        with contextlib.ExitStack() as stack:
            facts, workforce = stack.enter_context(
                open_workforce(settings, engine, () if is_done else parts, reporter.note)
            )
            stack.enter_context(folder.held())
            session = RunSession(settings, found, parts, watch, folder, facts, workforce, reporter, stop_on)
            return session.run()

    try:
        return run_with("reference" if fell_back else "auto")
    except EngineMismatchError as error:
        if is_complete:
            raise OutputError(
                f"{folder.path}: {error}; start again with --overwrite, which counts all anew"
            ) from error
        reporter.note(f"{error}; counting everything again with the tokenizer itself")
        with folder.held():
            folder.clear(keep_summaries=True)
        return run_with("reference")
    except InputError:
        if is_new and not folder.holds_work():
            folder.remove()  # nothing could be read, so nothing has begun
        raise


def _check_batch(settings: Settings, sources: Sequence[Source]) -> None:
    if not settings.summarization.batch:
        return
    if settings.summarization.is_built_in or settings.summarization.is_custom:
        raise SettingsError("summarization.batch: --batch is for a model's calls; name one with --model")
    if stream := next((source.name for source in sources if source.is_stream), None):
        raise InputError(f"{stream}: --batch reads the input once a round, which a pipe cannot be; save it first")
