"""A place of an input or an output: a path of this machine, or one in a store."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import IO, TypeAlias, TypeVar

from msgspec import Struct

from trajcompress.dataset.storage.range_file import RangeFile
from trajcompress.dataset.storage.store_path import StorePath, read_together
from trajcompress.dataset.storage.stores import STORES
from trajcompress.errors import InputError
from trajcompress.processes.late_patterns import late_re

T = TypeVar("T")

Location: TypeAlias = Path | StorePath
Opened: TypeAlias = IO[bytes] | RangeFile

_SCHEME = late_re(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_AT_ONCE = 32
_SIGNED = late_re(r"[?&](sig|signature|token|x-amz-[a-z-]+|x-goog-[a-z-]+)=", re.IGNORECASE)


class Listed(Struct, frozen=True):
    """A folder and what is in it: the names of the folders, and the files by name."""

    folder: Location
    folders: list[str]
    files: dict[str, Location]


def location_of(given: str) -> Location:
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


def size_of(location: Location) -> int:
    """Return the size of a file in bytes.

    Raises:
        OSError: it is not there, or cannot be looked at.
    """
    return location.looked.size if isinstance(location, StorePath) else location.stat().st_size


def open_binary(location: Location) -> Opened:
    """Open a file for reading at any location.

    Raises:
        OSError: it is not there, or cannot be opened.
    """
    return location.open("rb", 0) if isinstance(location, StorePath) else location.open("rb")


def failure_of(file: Opened) -> OSError | None:
    """Return what kept a store's object from being read, which libraries that read it may tell in other words."""
    return file.failure if isinstance(file, RangeFile) else None


def remove_tree(location: Location) -> None:
    """Delete a folder with all that is in it, where there is one.

    Raises:
        OSError: something cannot be deleted.
    """
    if isinstance(location, StorePath):
        for each in location.find():
            each.unlink(missing_ok=True)
    elif location.exists():
        shutil.rmtree(location)


def read_all(locations: Sequence[Location]) -> Iterator[bytes | OSError]:
    """Read many small files, from a store several at a time; give the content of each, or why it cannot be read."""
    for begin in range(0, len(locations), _AT_ONCE):
        batch = locations[begin : begin + _AT_ONCE]
        yield from read_together([each for each in batch if isinstance(each, StorePath)])
        for each in batch:
            if isinstance(each, Path):
                try:
                    yield each.read_bytes()
                except OSError as error:
                    yield error


def of_each(look: Callable[[Location], T], locations: Iterable[Location]) -> Iterator[T]:
    """Yield what ``look`` returns for each location, of which it looks at several at a time in a store."""
    for is_stored, together in groupby(locations, lambda each: isinstance(each, StorePath)):
        if is_stored:
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                yield from pool.map(look, together)
        else:
            yield from map(look, together)


def name_within(folder: Location, location: Location) -> str:
    """Return the path from a folder to what is in it, in POSIX style."""
    return location.as_posix().removeprefix(f"{folder.as_posix()}/")


def identity_of(location: Location) -> str:
    """Return what two names of one file share."""
    return location.url if isinstance(location, StorePath) else os.path.realpath(location)


def walk(root: Location, on_error: Callable[[OSError], object]) -> Iterator[Listed]:
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
