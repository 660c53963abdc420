"""What a file is to be read as: its kind, and the names and sizes of a source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NoReturn

from trajcompress.dataset.rows import Source, SourceKind
from trajcompress.dataset.saved_rows import saved_files, saved_splits
from trajcompress.dataset.storage.location import Location, is_stored, size_of
from trajcompress.errors import InputError

_KINDS: dict[str, SourceKind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".traj": "json",  # SWE-agent's
    ".parquet": "parquet",
}
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_SUFFIXES = {ending + compression: kind for ending, kind in _KINDS.items() for compression in ("", *COMPRESSIONS)}
KNOWN = ", ".join(_KINDS) + " (each also .gz, .bz2, .xz or .zst)"
_LONGEST_STEM = 100


def source_of_file(path: Location) -> Source | None:
    """Return the source that a file is; None where it is of no kind that can be read.

    Raises:
        InputError: it cannot be looked at.
    """
    kind = kind_of(path)
    return Source(display_name(path), stem_of(path), kind, path, _size([path])) if kind else None


def sources_of_saved(folder: Location) -> Iterator[Source]:
    """Give the source that a folder of ``save_to_disk`` is, or those of its splits.

    Raises:
        InputError: the folder is not whole.
    """
    name = folder.resolve().name
    splits = saved_splits(folder)
    if not splits:
        yield Source(display_name(folder), safe_stem(name), "saved", folder, _size(saved_files(folder)))
    for split in splits:
        path = folder / split
        yield Source(display_name(path), safe_stem(f"{name}-{split}"), "saved", path, _size(saved_files(path)))


def kind_of(path: Location) -> SourceKind | None:
    """Return what a file is read as, by its name."""
    return _SUFFIXES.get(_suffix(path))


def stem_of(path: Location) -> str:
    """Return the name of a file without its ending, safe as the start of another name."""
    return safe_stem(path.name[: len(path.name) - len(_suffix(path))])


def _suffix(path: Location) -> str:
    """The end of a name that tells what a file holds, in lower case; empty where none does."""
    name = path.name.lower()
    return next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), "")


def _size(paths: Iterable[Location]) -> int:
    try:
        return sum(map(size_of, paths))
    except OSError as error:  # a link to nowhere, or gone since the folder was listed
        raise_unreadable(error)


def display_name(path: Location) -> str:
    """The path for people, in POSIX style; bytes that are not UTF-8 are escaped, so that it can be printed."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def safe_stem(name: str) -> str:
    """Return a name as data files may begin with it."""
    safe = re.sub(r"[^\w.-]+", "_", name).strip(".").encode()[:_LONGEST_STEM]  # file systems count bytes
    return safe.decode(errors="ignore") or "data"


def raise_unreadable(error: OSError) -> NoReturn:
    """Raise the error for what the operating system, or the store, will not let us look at."""
    remedy = "" if is_stored(str(error.filename)) else "; check that it is there and can be read, or leave it out"
    raise InputError(f"{error.filename}: {error.strerror}{remedy}") from error
