"""The runs over shards of one input, as they are merged: found complete, whole, and of the same settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from trajcompress.dataset.rows import Source
from trajcompress.dataset.writers import read_part_rows
from trajcompress.errors import InputError
from trajcompress.run.folder.manifest import UNCHECKED, WrittenFile, data_files, first_damage, is_data, read_manifest
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.folder.run_json import differences
from trajcompress.run.progress.reporter import Reporter
from trajcompress.settings import Settings, resolve
from trajcompress.settings.values import Shard

_SHARD = "input.shard"


class ShardRun(Struct, frozen=True):
    """A complete run over one shard.

    ``run_json`` is what that file says but for the state and the files; ``files`` is None where an earlier version
    wrote it.
    """

    folder: RunFolder
    shard: Shard
    run_json: dict[str, Any]
    files: list[WrittenFile] | None


def read_shards(folders: Sequence[RunFolder]) -> list[ShardRun]:
    """Open the runs over all shards of one input, in the order of the shards.

    Raises:
        InputError: a folder holds no complete shard, or shards are missing or differ.
    """
    shards = sorted((_read_shard(folder) for folder in folders), key=lambda shard: shard.shard.number)
    if not shards:
        raise InputError("no shards: name their run folders")
    count = shards[0].shard.count
    if [shard.shard.number for shard in shards] != list(range(1, count + 1)):
        there = ", ".join(f"{each.shard.number}/{each.shard.count} ({each.folder.path})" for each in shards)
        raise InputError(f"merge needs shards 1/{count} to {count}/{count}, each once; there are {there}")
    for shard in shards[1:]:
        ours, theirs = ({**one.run_json, "settings": _common(one.run_json)} for one in (shards[0], shard))
        if changed := differences(ours, theirs):
            raise InputError(
                f"{shard.folder.path}: other settings than {shards[0].folder.path}: {'; '.join(changed)}"
            )
    return shards


def _read_shard(folder: RunFolder) -> ShardRun:
    run_json = folder.previous_run()
    if run_json is None:
        raise InputError(f"{folder.path}: no such run folder")
    shard = run_json.get("settings", {}).get(_SHARD)
    if shard is None:
        raise InputError(f"{folder.path}: not the run of a shard; shards are made with --shard I/N")
    if run_json.get("state") == "input_changed":
        raise InputError(
            f"{folder.path}: its input changed while it was read; make the shard again, with --overwrite"
        )
    if run_json.get("state") != "complete":
        raise InputError(f"{folder.path}: the run is {run_json.get('state')}; finish it with the same command first")
    if run_json["settings"].get("input.limit") is not None:
        raise InputError(f"{folder.path}: was made with --limit, which takes other rows than in one run")
    if not folder.metrics.exists():
        raise InputError(f"{folder.metrics}: is gone; put it back, or make the shard again")
    run_json.pop("state")
    try:
        files = read_manifest(run_json)
        run_json.pop("files", None)
        return ShardRun(folder, Shard.parse(shard), run_json, files)
    except (ValueError, AttributeError) as error:
        raise InputError(f"{folder.run}: {error}; put back a copy, or make the shard again") from error


def check_whole(shards: Sequence[ShardRun], reporter: Reporter) -> None:
    """Raise InputError where the data and metrics of shards are not what their runs have written."""
    for shard in shards:
        if shard.files is None:
            reporter.note(f"{shard.folder.path}: {UNCHECKED}")
            continue
        used = [file for file in shard.files if is_data(file.name) or file.name == shard.folder.metrics.name]
        if why := first_damage(shard.folder.path, used, digest_of=[file.name for file in used]):
            raise InputError(f"{why}; put it back, or make the shard again")


def _common(run_json: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run_json["settings"].items() if key not in (_SHARD, "output.dir")}


def settings_without_shard(shard: ShardRun) -> Settings:
    """Return the settings of a run over the whole input."""
    return resolve(_common(shard.run_json), None, environ={}, dotenv=None).settings


def written_rows(shard: ShardRun, sources: Sequence[Source]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a shard's dataset in input order."""
    for path in data_files(shard.folder.path, shard.files, [source.stem for source in sources]):
        yield from read_part_rows(path)
