"""Joining shards into what one run would have written.

The input is read again, which is cheap, and each row meets the fate that its shard gave it: nothing is counted,
nothing is summarised. So whatever did not change is taken from where it came from, byte for byte; of a compressed row
the messages are taken from the shard.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from trajcompress.compaction.provenance import recorded
from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.rows import Source
from trajcompress.dataset.sources import find_sources
from trajcompress.dataset.standing import Watch, change_lines
from trajcompress.dataset.writers import read_part_rows, stem_of
from trajcompress.errors import InputError, OutputError
from trajcompress.metrics.files import read_metrics
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.totals import Totals
from trajcompress.run.build import build_format_options
from trajcompress.run.committer import PartCommitter
from trajcompress.run.folder import RunFolder, State
from trajcompress.run.journal import Journal
from trajcompress.run.manifest import UNCHECKED, WrittenFile, first_damage, is_data, read_manifest
from trajcompress.run.progress import Progress
from trajcompress.run.record import changed_inputs, describe_inputs, differences, write_results, write_run
from trajcompress.run.report import Reporter, RunResult
from trajcompress.run.row import Finished, Parsed, Rejected, admit, parse_rows, reject
from trajcompress.run.selection import Start, build_selection, select_rows
from trajcompress.settings import Settings, resolve
from trajcompress.settings.model import Shard

_SHARD = "input.shard"


@dataclass(frozen=True, slots=True)
class ShardRun:
    """A complete run over one shard; ``files`` is None where an earlier version wrote it."""

    folder: RunFolder
    shard: Shard
    record: dict[str, Any]
    files: list[WrittenFile] | None


def merge(folders: Sequence[str | Path], output: str | Path, reporter: Reporter, *, overwrite: bool) -> RunResult:
    """Join the shards of one input.

    Raises:
        InputError: a folder holds no complete shard, shards are missing or differ, or the input has changed.
        OutputError: the output folder cannot be used.
    """
    shards = _read_shards([RunFolder(Path(folder)) for folder in folders])
    _check_whole(shards, reporter)
    settings = _settings(shards[0])
    record = {**shards[0].record, "settings": settings.flat()}
    watch = _sources(settings, record, reporter)
    target = RunFolder(Path(output))
    target.check_own()
    target.check_apart_from(
        [*(shard.folder.path for shard in shards), *(source.path for source in watch.sources if source.path)]
    )
    if target.previous_run() is not None and not overwrite:
        raise OutputError(f"{target.path}: holds a run; --overwrite replaces it, another -o keeps it")
    target.check_data()
    try:
        with target.held():
            totals = _join(target, record, settings, partial(_fates, shards, watch, settings, reporter))
    except OSError as error:
        raise OutputError(
            f"{error.filename or target.path}: {error.strerror or error}; make room or mend it, and merge again with "
            "--overwrite"
        ) from error
    return RunResult(target.path, "complete", totals, totals.rows)


def _join(
    target: RunFolder, record: dict[str, Any], settings: Settings, fates: Callable[[Progress], Iterator[Finished]]
) -> Totals:
    target.clear()
    write_run(target, record, "running")
    target.prepare()
    state: State = "interrupted"
    try:
        with contextlib.closing(Journal(target.journal)) as journal:
            committer = PartCommitter(target, settings.output.format, journal, Progress())
            try:
                for finished in fates(committer.progress):
                    committer.add(finished)
                committer.finish()
                totals = write_results(target, record)
                record["files"] = [asdict(file) for file in committer.manifest()]
            finally:
                committer.abort()
        state = "complete"
    finally:
        with contextlib.suppress(OSError):  # a full disk must not hide the error that says so
            write_run(target, record, state)
    return totals


def _read_shards(folders: Sequence[RunFolder]) -> list[ShardRun]:
    shards = sorted((_read_shard(folder) for folder in folders), key=lambda shard: shard.shard.number)
    if not shards:
        raise InputError("no shards: name their run folders")
    count = shards[0].shard.count
    numbers = [shard.shard.number for shard in shards]
    if numbers != list(range(1, count + 1)):
        raise InputError(f"merge needs shards 1/{count} to {count}/{count}, each once; there are {numbers}")
    for shard in shards[1:]:
        ours, theirs = ({**one.record, "settings": _common(one.record)} for one in (shards[0], shard))
        if changed := differences(ours, theirs):
            raise InputError(
                f"{shard.folder.path}: other settings than {shards[0].folder.path}: {'; '.join(changed)}"
            )
    return shards


def _read_shard(folder: RunFolder) -> ShardRun:
    record = folder.previous_run()
    if record is None:
        raise InputError(f"{folder.path}: no such run folder")
    shard = record.get("settings", {}).get(_SHARD)
    if shard is None:
        raise InputError(f"{folder.path}: not the run of a shard; shards are made with --shard I/N")
    if record.get("state") == "input_changed":
        raise InputError(
            f"{folder.path}: its input changed while it was read; make the shard again, with --overwrite"
        )
    if record.get("state") != "complete":
        raise InputError(f"{folder.path}: the run is {record.get('state')}; finish it with the same command first")
    if record["settings"].get("input.limit") is not None:
        raise InputError(f"{folder.path}: was made with --limit, which takes other rows than in one run")
    if not folder.metrics.exists():
        raise InputError(f"{folder.metrics}: is gone; put it back, or make the shard again")
    record.pop("state")
    try:
        files = read_manifest(record)
        record.pop("files", None)
        return ShardRun(folder, Shard.parse(shard), record, files)
    except (ValueError, AttributeError) as error:
        raise InputError(f"{folder.run}: {error}; put back a copy, or make the shard again") from error


def _check_whole(shards: Sequence[ShardRun], reporter: Reporter) -> None:
    """Make sure that the data and metrics of shards are what their runs have written."""
    for shard in shards:
        if shard.files is None:
            reporter.note(f"{shard.folder.path}: {UNCHECKED}")
            continue
        used = [file for file in shard.files if is_data(file.name) or file.name == shard.folder.metrics.name]
        if why := first_damage(shard.folder.path, used, digest_of=[file.name for file in used]):
            raise InputError(f"{why}; put it back, or make the shard again")


def _common(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record["settings"].items() if key not in (_SHARD, "output.dir")}


def _settings(shard: ShardRun) -> Settings:
    return resolve(_common(shard.record), None, environ={}, dotenv=None).settings


def _sources(settings: Settings, record: dict[str, Any], reporter: Reporter) -> Watch:
    if settings.input.dataset is not None:
        sources = [hub_source(settings.input.dataset, settings.input.split)]
        return Watch(sources, reporter.note)
    names = [each["name"] for each in record["inputs"]]
    if "-" in names:
        raise InputError("-: shards of standard input cannot be merged: the input is read again")
    sources = find_sources(names)
    watch = Watch(sources, reporter.note)
    if changed := changed_inputs(record, describe_inputs(sources)):
        raise InputError(f"the input is not that of the shards ({'; '.join(changed)}); make the shards again")
    return watch


def _fates(
    shards: list[ShardRun],
    watch: Watch,
    settings: Settings,
    reporter: Reporter,
    done: Progress,
) -> Iterator[Finished]:
    """Yield what became of each row, in input order."""
    sources = watch.sources
    metrics = [read_metrics(shard.folder.metrics) for shard in shards]
    rows = [_rows_of(shard, sources) for shard in shards]
    sizes = [source.size for source in sources]
    reporter.started(None if None in sizes else sum(size or 0 for size in sizes))
    read = 0

    def progress(count: int) -> None:
        nonlocal read
        read = count

    items = select_rows(sources, build_selection(settings, sources), Start(), progress, read_through=watch.look)
    for parsed in parse_rows(items, build_format_options(settings)):
        number = parsed.position % len(shards)
        fate = next(metrics[number], None)
        if fate is None or (fate.source_file, fate.source_row) != (parsed.source.name, parsed.index):
            where = f"row {parsed.index} of {parsed.source.name}"
            raise InputError(f"{shards[number].folder.path}: its metrics do not hold {where}; make the shard again")
        yield _meet(parsed, fate, rows[number], shards[number].folder)
        reporter.advanced(read, done)
    if watch.changed:
        raise InputError(f"{'; '.join(change_lines(watch.changed))}; merge again with --overwrite")
    for shard, fates, written in zip(shards, metrics, rows, strict=True):
        if next(fates, None) is not None:
            raise InputError(f"{shard.folder.metrics}: holds more rows than the input; make the shard again")
        if next(written, None) is not None:
            raise InputError(f"{shard.folder.data}: holds more rows than the metrics say; make the shard again")


def _meet(parsed: Parsed, fate: RowMetrics, rows: Iterator[dict[str, Any]], folder: RunFolder) -> Finished:
    if isinstance(parsed.made, Rejected):
        return reject(parsed, fate, parsed.made)
    row = parsed.made.trajectory.row
    if fate.in_dataset:
        written = next(rows, None)
        if written is None:
            raise InputError(f"{folder.data}: a part is gone; put it back, or make the shard again")
        if fate.was_compressed:
            field = parsed.made.trajectory.messages_field
            row = {**row, field: written[field]}
        name, record = recorded(written)
        if name in written and (name not in row or row[name] != record):
            row = {**row, name: record}
    elif fate.outcome == "rejected":
        return reject(parsed, fate, parsed.made.reject(fate.reason or "", fate.error or ""))
    return admit(parsed, parsed.made, fate, row)


def _rows_of(shard: ShardRun, sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a shard's dataset in input order."""
    suffix = "parquet" if shard.record["settings"]["output.format"] == "parquet" else "jsonl"
    if shard.files is None:
        paths = sorted(shard.folder.data.glob(f"*.{suffix}"))
    else:
        paths = [shard.folder.path / file.name for file in shard.files if is_data(file.name)]
    for source in sources:
        for path in paths:
            if stem_of(path.name) == source.stem:
                yield from read_part_rows(path)
