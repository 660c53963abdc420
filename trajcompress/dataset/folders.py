"""What is read of a folder, wherever it is, and what is passed over there."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import Source
from trajcompress.dataset.saved_rows import METADATA_FILES, is_saved
from trajcompress.dataset.source_files import KNOWN, kind_of, raise_unreadable, source_of_file, sources_of_saved
from trajcompress.dataset.storage.location import Listed, Location, identity_of, walk
from trajcompress.errors import InputError

SPECIAL = {stat.S_IFIFO: "pipes", stat.S_IFSOCK: "sockets", stat.S_IFCHR: "devices", stat.S_IFBLK: "devices"}
_METRICS = "metrics.parquet"
"""What a run leaves at its end, also where its dataset has no row, and in a store no folder for it."""


def sources_in_folder(root: Location, left: LeftOut) -> Iterator[Source]:
    """Give what can be read in a folder and all within it, in sorted order; what is passed over is counted."""
    visited: set[str] = set()
    for listed in walk(root, raise_unreadable):
        folder, folders, files = listed.folder, listed.folders, listed.files
        real = identity_of(folder)
        if real in visited:  # a link back up would be walked for ever
            left.add("seen_already")
            folders.clear()
            continue
        visited.add(real)
        if is_saved(files):
            folders.clear()
            yield from sources_of_saved(folder)
            continue
        if _is_run(listed):
            left.add("run_folders", folder != root)
            folders[:] = ["data"] if folder == root and "data" in folders else []
            left.add("empty_runs", folder == root and _wrote_no_row(files["run.json"]))
            continue
        left.add("hidden_folders", sum(entry.startswith(".") for entry in folders))
        folders[:] = sorted(entry for entry in folders if not entry.startswith("."))
        visible = sorted(entry for entry in files if not entry.startswith("."))
        left.add("hidden_files", len(files) - len(visible))
        rows = [entry for entry in visible if entry not in METADATA_FILES]
        left.add("descriptions", len(visible) - len(rows))
        yield from sources_of_files((files[entry] for entry in rows), left)


def sources_of_files(paths: Iterable[Location], left: LeftOut) -> Iterator[Source]:
    """Give those of the files that can be read; the others are counted."""
    for path in paths:
        try:
            special = SPECIAL.get(stat.S_IFMT(path.stat().st_mode)) if isinstance(path, Path) else None
        except OSError as error:
            if kind_of(path) is not None:
                raise_unreadable(error)
            left.add("broken_links")  # or what it leads to cannot be looked at
            continue
        if special:
            left.add(special)
        elif source := source_of_file(path):
            yield source
        else:
            left.add_file(path.name)


def sources_of_matches(
    pattern: Location | str, matches: Sequence[tuple[Location, bool]], left: LeftOut
) -> list[Source]:
    """Return what can be read of the names that a pattern matches, each with whether it is a folder.

    Raises:
        InputError: there is nothing.
    """
    sources: list[Source] = []
    for match, is_folder in matches:
        sources += sources_in_folder(match, left) if is_folder else sources_of_files([match], left)
    if not sources and not left.kinds["empty_runs"]:
        found = f"matches {len(matches)} names but no readable file" if matches else "matches nothing"
        raise InputError(f"{pattern}: {found}; check the pattern; known are {KNOWN}")
    return sources


def _is_run(listed: Listed) -> bool:
    """Tell a run folder: its metrics are no rows, and within a larger folder its data is no input either."""
    return "run.json" in listed.files and ("data" in listed.folders or _METRICS in listed.files)


def _wrote_no_row(run: Location) -> bool:
    """Tell whether the run.json of a run that has ended names no file of data; where that is gone, it is missing."""
    try:
        names = [each["name"] for each in json.loads(run.read_bytes())["files"]]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return _METRICS in names and not any(str(name).startswith("data/") for name in names)
