"""Merging: the runs over the shards of an input become what one run over all of it would have written.

The input is read again, which is cheap, and each row is joined with the metrics and the rows that its shard has
written for it: nothing is counted, nothing is summarised. So whatever did not change is taken from where it came
from, byte for byte; of a compressed row the messages are taken from the shard.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from trajcompress.dataset.cutting import cut_into_parts
from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.rows import Source, total_size
from trajcompress.dataset.sources import find_sources
from trajcompress.dataset.standing import Watch, change_lines
from trajcompress.dataset.storage.location import location_of
from trajcompress.errors import InputError, OutputError
from trajcompress.metrics.files import read_metrics, read_segments
from trajcompress.metrics.totals import Totals
from trajcompress.run.build.components import build_form, types_of
from trajcompress.run.finish import finish_parts
from trajcompress.run.folder.run_folder import RunFolder, State
from trajcompress.run.folder.run_json import (
    arguments_in,
    changed_inputs,
    describe_inputs,
    differences,
    write_results,
    write_run,
)
from trajcompress.run.loop.commit import Done, PartCommitter
from trajcompress.run.loop.reading import PieceBegin, PieceEnd, Reading
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import build_selection
from trajcompress.run.parts.store import PartStore
from trajcompress.run.parts.writer import DataFormat, reserved_columns
from trajcompress.run.past.unfinished import ENDED
from trajcompress.run.progress.progress import Progress
from trajcompress.run.progress.reporter import Reporter, RunResult
from trajcompress.run.rows.restored import Before, restore
from trajcompress.run.rows.row import Parsed
from trajcompress.run.shards import ShardRun, check_whole, read_shards, settings_without_shard, written_rows
from trajcompress.settings import Settings

_MERGED = "merged_shards"
"""What ``run.json`` says of a merge alone: of how many shards it is."""


def merge(folders: Sequence[str | Path], output: str | Path, reporter: Reporter, *, overwrite: bool) -> RunResult:
    """Join the shards of one input.

    Raises:
        InputError: a folder holds no complete shard, shards are missing or differ, or the input has changed.
        OutputError: the output folder cannot be used, or holds another run, or one that has ended.
    """
    shards = read_shards([RunFolder(location_of(str(folder))) for folder in folders])
    check_whole(shards, reporter)
    settings = settings_without_shard(shards[0])
    run_json = {**shards[0].run_json, "settings": settings.flat(), _MERGED: len(shards)}
    watch = _sources(settings, run_json, reporter)
    target = RunFolder(location_of(str(output)))
    target.check_own()
    target.check_apart_from(
        [*(shard.folder.path for shard in shards), *(source.path for source in watch.sources if source.path)]
    )
    _check_free(target, run_json, overwrite=overwrite)
    target.own.check()
    try:
        with target.held():
            _check_free(target, run_json, overwrite=overwrite)  # another may have ended here meanwhile
            items = partial(_finished_rows, shards, watch, settings, reporter)
            totals = _join(target, run_json, settings, watch.sources, items)
    except OSError as error:
        raise OutputError(
            f"{error.filename or target.path}: {error.strerror or error}; make room or fix it, and run the same "
            "command again"
        ) from error
    caveat = run_json["tokenizer"].get("caveat")
    return RunResult(target.path, "complete", totals, totals.rows, count_caveat=caveat)


def _check_free(target: RunFolder, run_json: dict[str, Any], *, overwrite: bool) -> None:
    """Raise OutputError where the folder holds a run that has ended, or another one."""
    previous = target.previous_run()
    if previous is None or overwrite or _is_unfinished(previous, run_json):
        return
    raise OutputError(f"{target.path}: holds a run; --overwrite replaces it, another -o keeps it")


def _is_unfinished(previous: dict[str, Any], run_json: dict[str, Any]) -> bool:
    """Tell whether a merge of the same was cut off: the shards hold all of it, so it begins again."""
    if previous.get("state") in ENDED or previous.get(_MERGED) != run_json[_MERGED]:
        return False
    return not differences(previous, run_json)


def _join(
    target: RunFolder,
    run_json: dict[str, Any],
    settings: Settings,
    sources: Sequence[Source],
    items: Callable[[Progress], Iterator[Done]],
) -> Totals:
    target.clear()
    write_run(target, run_json, "running")
    target.prepare()
    state: State = "interrupted"
    store, parts = PartStore(target), list[CommittedPart]()
    data_format = DataFormat(settings.output.format, types_of(settings), reserved_columns(sources))
    committer = PartCommitter(store, data_format, Progress(), parts.append)
    try:
        try:
            for item in items(committer.progress):
                committer.add(item)
            files = finish_parts(store, parts)
            totals = write_results(target, run_json)
            run_json["files"] = [asdict(file) for file in files]
        finally:
            committer.abort()
        state = "complete"
    finally:
        with contextlib.suppress(OSError):  # a full disk must not hide the error that says so
            write_run(target, run_json, state)
    return totals


def _sources(settings: Settings, run_json: dict[str, Any], reporter: Reporter) -> Watch:
    if settings.input.dataset is not None:
        sources = [hub_source(settings.input.dataset, settings.input.split)]
        return Watch(sources, reporter.note)
    names = [each["name"] for each in run_json["inputs"]]
    if "-" in names:
        raise InputError("-: shards of standard input cannot be merged: the input is read again")
    sources = find_sources(names)
    watch = Watch(sources, reporter.note)
    if changed := changed_inputs(run_json, describe_inputs(sources)):
        raise InputError(f"the input is not that of the shards ({'; '.join(changed)}); make the shards again")
    return watch


def _finished_rows(
    shards: list[ShardRun], watch: Watch, settings: Settings, reporter: Reporter, done: Progress
) -> Iterator[Done]:
    """Yield each row of the input as its shard finished it, in input order, part by part."""
    sources = watch.sources
    metrics = [read_metrics(shard.folder.metrics) for shard in shards]
    has_segments = settings.compression.mode == "segments"
    before = [
        Before(
            written_rows(shard, sources),
            shard.folder.data,
            settings.output.columns,
            read_segments(shard.folder.segments) if has_segments else None,
            settings.output.per_turn_columns or (),
        )
        for shard in shards
    ]
    form = build_form(settings, arguments_in(shards[0].run_json))
    selection = build_selection(settings, sources)
    reading = Reading(settings, selection, form=form)
    reporter.started(total_size(sources))
    ledger = Ledger(cut_into_parts(sources, settings.processing.part_size), {}, selection)
    for parsed in reading.all_of(ledger, watch.look):
        if isinstance(parsed, PieceBegin | PieceEnd):
            yield parsed
        if not isinstance(parsed, Parsed):
            continue
        number = parsed.position % len(shards)
        row_metrics = next(metrics[number], None)
        if row_metrics is None or (row_metrics.source_file, row_metrics.source_row) != (
            parsed.source.name,
            parsed.index,
        ):
            where = f"row {parsed.index} of {parsed.source.name}"
            raise InputError(f"{shards[number].folder.path}: its metrics do not hold {where}; make the shard again")
        yield restore(parsed, row_metrics, before[number])
        reporter.advanced(reading.bytes_read, done)
    if watch.changed:
        raise InputError(f"{'; '.join(change_lines(watch.changed))}; put it back, and run the same command again")
    for shard, more_metrics, written in zip(shards, metrics, (each.rows for each in before), strict=True):
        if next(more_metrics, None) is not None:
            raise InputError(f"{shard.folder.metrics}: holds more rows than the input; make the shard again")
        if next(written, None) is not None:
            raise InputError(f"{shard.folder.data}: holds more rows than the metrics say; make the shard again")
