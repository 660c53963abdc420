"""What is read of a place in a store: an object, a folder, or what matches a pattern."""

from __future__ import annotations

import glob

from trajcompress.dataset.folders import sources_in_folder, sources_of_matches
from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import Source
from trajcompress.dataset.source_files import KNOWN, source_of_file
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import InputError
from trajcompress.processes.late_patterns import late_re

_MAGIC = late_re(r"[*?[]")


def stored_sources(path: StorePath, left: LeftOut) -> list[Source]:
    """Find what can be read at a place in a store.

    Raises:
        InputError: there is nothing, or nothing that can be read.
        OSError: the store does not let us look.
    """
    if not glob.has_magic(path.url) or path.exists():
        return _named(path, left)
    root, pattern = _split(path)
    return sources_of_matches(path, [(match, match.listed is None) for match in root.glob(pattern)], left)


def _named(path: StorePath, left: LeftOut) -> list[Source]:
    if path.is_file():
        if source := source_of_file(path):
            return [source]
        raise InputError(f"{path}: unknown kind of file; known are {KNOWN}")
    sources = list(sources_in_folder(path, left))  # raises where there is no such bucket
    if sources or left.kinds["empty_runs"]:
        return sources
    if left:
        raise InputError(f"{path}: no readable file in this folder; known are {KNOWN}; it holds {left.contents()}")
    raise InputError(f"{path}: no such object, and none under it; check the name, which is case-sensitive")


def _split(path: StorePath) -> tuple[StorePath, str]:
    """Part the folder that is certain from the pattern behind it."""
    at = path.url.rfind("/", 0, _first_magic(path.url))
    return StorePath(path.url[:at]), path.url[at + 1 :]


def _first_magic(text: str) -> int:
    found = _MAGIC.search(text)
    return found.start() if found else len(text)
