"""A place of an input or an output: a path of this machine, or one in a store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from trajcompress.dataset.storage.range_file import RangeFile
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.dataset.storage.stores import STORES
from trajcompress.errors import InputError

Place: TypeAlias = Path | StorePath
Opened: TypeAlias = IO[bytes] | RangeFile

_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_SIGNED = re.compile(r"[?&](sig|signature|token|x-amz-[a-z-]+|x-goog-[a-z-]+)=", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A folder and what is in it: the names of the folders, and the files by name."""

    folder: Place
    folders: list[str]
    files: dict[str, Place]


def place_of(given: str) -> Place:
    """Return the place that a text names.

    Raises:
        InputError: it names a store that is not known, or holds credentials, which are never taken from a name.
    """
    match = _SCHEME.fullmatch(given)
    if match is None:
        return Path(given)
    scheme, rest = match["scheme"], match["rest"]
    if scheme not in STORES:
        known = ", ".join(f"{each}://" for each in STORES)
        raise InputError(f"{scheme}://…: no such store is known; known are {known}, and paths of this machine")
    store = STORES[scheme]
    bucket, _, key = rest.partition("/")
    if _SIGNED.search(rest) or (scheme != "hf" and ("@" in bucket or ":" in bucket)):
        raise InputError(
            f"{scheme}://…: credentials in an address end up in logs; take them out, and set {store.credentials}"
        )
    if scheme == "hf" and (bucket != "datasets" or key.count("/") < 1):
        raise InputError(f"{given}: data sets of the hub are named hf://datasets/OWNER/NAME[/PATH]")
    if not bucket:
        raise InputError(f"{given}: names no {store.bucket}; write {scheme}://{store.bucket.upper()}/…")
    return StorePath(f"{scheme}://{bucket}/{key}".rstrip("/"))


def is_stored(given: str) -> bool:
    """Tell whether a text names a place in a store, or would."""
    return _SCHEME.fullmatch(given) is not None


def size_of(place: Place) -> int:
    """Return the size of a file in bytes.

    Raises:
        OSError: it is not there, or cannot be looked at.
    """
    return place.looked.size if isinstance(place, StorePath) else place.stat().st_size


def open_binary(place: Place) -> Opened:
    """Open a file for reading at any place.

    Raises:
        OSError: it is not there, or cannot be opened.
    """
    return place.open("rb", 0) if isinstance(place, StorePath) else place.open("rb")


def failure_of(file: Opened) -> OSError | None:
    """Return what kept a store's object from being read, which libraries that read it may tell in other words."""
    return file.failure if isinstance(file, RangeFile) else None


def identity_of(place: Place) -> str:
    """Return what two names of one file share."""
    return place.url if isinstance(place, StorePath) else os.path.realpath(place)


def walk(root: Place, on_error: Callable[[OSError], object]) -> Iterator[Listed]:
    """Walk a folder from the top, links followed; what a caller takes out of ``folders`` is not walked."""
    if isinstance(root, StorePath):
        yield from _walk_store(root)
        return
    for name, folders, files in os.walk(root, onerror=on_error, followlinks=True):
        folder = Path(name)
        listed = Listed(folder, folders, {file: folder / file for file in files})
        yield listed


def _walk_store(root: StorePath) -> Iterator[Listed]:
    """Make folders of what one listing gives: a store has none."""
    found: dict[str, Listed] = {root.url: Listed(root, [], {})}

    def folder_of(path: StorePath) -> Listed:
        if path.url not in found:
            found[path.url] = Listed(path, [], {})
            folder_of(path.parent).folders.append(path.name)
        return found[path.url]

    for file in root.find():
        folder_of(file.parent).files[file.name] = file
    waiting = [found[root.url]]
    while waiting:
        listed = waiting.pop()
        yield listed
        waiting += [found[(listed.folder / name).url] for name in reversed(listed.folders)]  # type: ignore[union-attr]
