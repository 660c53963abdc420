"""Repair of a run folder before the run is resumed: files that are not as they were written, and what a kill left.

A part that is damaged is forgotten, and its rows are worked on again: with the summaries that are kept, so nothing is
paid for twice, and to the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.storage.location import Location
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.dataset.writers import part_name, stem_of
from trajcompress.errors import OutputError
from trajcompress.run.folder.manifest import FOREIGN, UNCHECKED, first_damage, foreign_data, is_data, read_manifest
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.parts.committed import CommittedPart, PartKey
from trajcompress.run.parts.store import PartStore
from trajcompress.settings.choices import OutputFormat

_NAMED = 5


def whole_parts(
    store: PartStore, parts: Sequence[Part], note: Callable[[str], None], *, calls_model: bool
) -> dict[PartKey, CommittedPart]:
    """Return the parts of a run that are committed and whole; forget the others, and delete debris.

    Args:
        store: Where they are.
        parts: All parts of the input.
        note: Called with what is damaged.
        calls_model: Whether summaries are paid for.

    Raises:
        OutputError: a file is in the way, or what a damaged part has cost would have to be paid again.
        OSError: a file cannot be read or deleted.
    """
    folder = store.folder
    committed, unreadable = store.read()
    unreadable |= {key: "is of no part of the input" for key in committed if key.number >= len(parts)}
    committed = {key: part for key, part in committed.items() if key not in unreadable}
    damaged = {store.manifest(key): why for key, why in unreadable.items()}
    lost = set(unreadable)
    for key, part in committed.items():
        if wrong := store.settle(part):
            damaged |= wrong
            lost.add(key)
    for path, why in list(damaged.items())[:_NAMED]:
        note(f"{path}: {why}")
        if path.is_dir():
            raise OutputError(f"{path}: is a folder where the run has a file; move it away, and go on")
    if len(damaged) > _NAMED:
        note(f"{len(damaged) - _NAMED:,} more files are damaged")
    paid = [
        key for key in lost if calls_model and (key in unreadable or committed[key].progress.summarization_api_calls)
    ]
    if calls_model and paid and not folder.summaries.exists():
        path, why = next(iter(damaged.items()))
        raise OutputError(
            f"{path}: {why}; the summaries of its rows were paid for and are not kept here any more, so put the file "
            "back, or start again with --overwrite"
        )
    stray = _stray_data(folder, parts, committed, lost)
    rows = sum(committed[key].progress.rows for key in lost if key in committed)
    for key in sorted(lost):
        store.forget(key, committed.pop(key, None))
    store.sweep(committed)
    for path in stray:
        path.unlink()
    if lost:
        which = f"{rows:,} rows" if rows else "the rows"
        listed = ", ".join(str(key.number) for key in sorted(lost)[:_NAMED])
        note(f"{which} of part {listed} are done again; summaries that are kept are not asked for again")
    return committed


def check_finished(folder: RunFolder, run_json: dict[str, Any], note: Callable[[str], None]) -> bool:
    """Check that a finished run still has all that it left; return whether there are manifests to repair it by.

    Raises:
        OutputError: something is damaged, and there are none.
    """
    try:
        files = read_manifest(run_json)
    except ValueError as error:
        raise OutputError(f"{folder.run}: {error}; put back a copy, or start again with --overwrite") from error
    if files is None:
        note(f"{folder.path}: {UNCHECKED}")
        return False
    parts, unreadable = PartStore(folder).read()
    if parts or unreadable:
        joined = [file for file in files if not is_data(file.name)]  # of parts that have manifests
        if why := first_damage(folder.path, joined, digest_of=[file.name for file in joined]):
            note(f"{why}; it is put together again")
        return True
    if why := first_damage(folder.path, files, digest_of=[file.name for file in files]):
        raise OutputError(f"{why}; put it back, or start again with --overwrite")
    if foreign := foreign_data(folder.path, [file.name for file in files]):
        raise OutputError(f"{foreign[0]}: {FOREIGN}; move it away")
    return False


def _stray_data(
    folder: RunFolder, parts: Sequence[Part], committed: Mapping[PartKey, CommittedPart], lost: set[PartKey]
) -> list[Location]:
    """Return data files that a kill has left of parts that were not committed; refuse those of nobody here."""
    stray = foreign_data(folder.path, [part.data.name for part in committed.values() if part.data])
    own = folder.own.of_finished()  # by a run that was being cleared away
    without_data = lost | {key for key, part in committed.items() if not part.data}
    if isinstance(folder.path, StorePath):  # where a part's files are put before its manifest is
        stems = {part.stem for part in parts}
        own |= {path.name for path in stray if stem_of(path.name) in stems}
    own |= {name for key in without_data if key.number < len(parts) for name in _data_names(parts[key.number], key)}
    if foreign := [path for path in stray if path.name not in own]:
        raise OutputError(
            f"{foreign[0]}: no part of this run has it, and it would be taken for a part of the data; "
            "move it away, and run the same command again, which keeps summaries that were paid for"
        )
    return stray


def _data_names(part: Part, key: PartKey) -> list[str]:
    """Return how the data file of a piece of a part may be called."""
    return [part_name(part.stem, part.first_file + key.piece, each) for each in get_args(OutputFormat)]
