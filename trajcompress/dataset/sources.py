"""From what the command line names to the sources that rows are read from."""

from __future__ import annotations

import difflib
import glob
import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.dataset.folders import SPECIAL, sources_in_folder, sources_of_matches
from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import Source
from trajcompress.dataset.source_files import (
    KNOWN,
    display_name,
    kind_of,
    raise_unreadable,
    source_of_file,
    stem_of,
)
from trajcompress.dataset.storage.location import identity_of, location_of
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.dataset.stored import stored_sources
from trajcompress.errors import InputError
from trajcompress.wording import printable

STDIN = "-"
_MOST_BLANK = 4096  # bytes


class MissingInputError(InputError):
    """Nothing is where an input should be."""


class Found(Struct, frozen=True):
    """What can be read, and of each place what was left out there."""

    sources: list[Source]
    left_out: list[LeftOut]

    def notes(self) -> list[str]:
        """Return what there is to say of it, in lines."""
        pipes = [printable(source.name) for source in self.sources if source.is_stream and source.path]
        return [*map(str, self.left_out), *(f"{name}: a pipe, read once, as its rows come" for name in pipes)]


def find_inputs(inputs: Sequence[str]) -> Found:
    """Find what can be read in files, folders, globs, pipes and ``-`` (JSON lines on standard input).

    Files, folders and globs may be in a store, such as ``s3://bucket/folder/*.jsonl``. Folders are searched
    recursively, in sorted order. Left out of them are hidden files and folders, files of other kinds, pipes and the
    like, and the run folders of trajcompress; of a run folder that is itself named, the dataset is read. A folder of
    ``save_to_disk`` gives one source, or one for each split. What is reached twice is read once.

    Raises:
        MissingInputError: an input does not exist.
        InputError: an input is of an unknown kind, or holds nothing that can be read; or a file that
            should be read cannot be.
    """
    if not inputs:
        raise InputError("no input: name a file, a folder, a glob, or - for JSON lines on standard input")
    found: dict[str, Source] = {}
    left_out = []
    for given in inputs:
        if not given.strip():  # a variable that is not set; as a path it would be the current folder
            raise InputError("an input without a name: name a file, a folder, a glob, or - for standard input")
        place = location_of(given)
        left = LeftOut(display_name(place))
        try:
            sources = stored_sources(place, left) if isinstance(place, StorePath) else _sources_of(given, left)
        except OSError as error:  # a name that is too long, a folder that may not be entered
            raise_unreadable(error)
        for source in sources:
            key = identity_of(source.path) if source.path else source.name
            if found.setdefault(key, source) is not source:
                left.add("seen_already")
            elif _is_blank(source):
                left.add("empty_files")
        if left:
            left_out.append(left)
    return Found(with_unique_stems(found.values()), left_out)


def _is_blank(source: Source) -> bool:
    """Tell whether a file is empty, or holds white space alone; of a larger one, and in a store, nobody looks."""
    if not source.size:
        return source.size == 0
    if source.size > _MOST_BLANK or source.kind not in ("json", "jsonl") or not isinstance(source.path, Path):
        return False
    with suppress(OSError):  # an error of who reads its rows
        return source.path.read_bytes().isspace()
    return False


def find_sources(inputs: Sequence[str]) -> list[Source]:
    """Find what can be read, as :func:`find_inputs` does, where nobody asks what was left out."""
    return find_inputs(inputs).sources


def with_unique_stems(sources: Iterable[Source]) -> list[Source]:
    """Give sources that share a stem the suffixes ``-2``, ``-3``, … in order; the first keeps its own.

    Stems that differ in case only are shared too, as their files would be on some systems.
    """
    taken: set[str] = set()
    unique = []
    for source in sources:
        stem, number = source.stem, 1
        while stem.casefold() in taken:
            number += 1
            stem = f"{source.stem}-{number}"
        taken.add(stem.casefold())
        unique.append(replace(source, stem=stem))
    return unique


def _sources_of(given: str, left: LeftOut) -> list[Source]:
    if given == STDIN:
        return [Source(STDIN, "stdin", "jsonl", None, None)]
    path = Path(given)
    if path.is_dir():
        sources = list(sources_in_folder(path, left))
        if not sources and not left.kinds["empty_runs"]:
            there = f"; it holds {left.contents()}" if left else ""
            raise InputError(f"{given}: no readable file in this folder; known are {KNOWN}{there}")
        return sources
    if path.exists():
        return [_named(path)]
    if glob.has_magic(given):
        return _matching(given, left)
    raise _missing(given)


def _named(path: Path) -> Source:
    """Return the source that a file is, or a pipe."""
    name, kind = display_name(path), kind_of(path)
    special = SPECIAL.get(stat.S_IFMT(path.stat().st_mode))
    if special == "pipes":
        if kind not in (None, "jsonl"):
            raise InputError(
                f"{name}: a pipe can be read once and from its start only, which .{kind} cannot be; "
                "save it to a file, or send JSON lines"
            )
        return Source(name, stem_of(path), "jsonl", path, None)
    if special:
        raise InputError(f"{name}: a {special.removesuffix('s')}, and no file; name a file, or - for standard input")
    if source := source_of_file(path):
        return source
    raise InputError(f"{name}: unknown kind of file; known are {KNOWN}, and - for JSON lines on standard input")


def _matching(pattern: str, left: LeftOut) -> list[Source]:
    matches = [Path(match) for match in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - Path.glob takes no absolute pattern
    return sources_of_matches(pattern, [(match, match.is_dir()) for match in matches], left)


def _missing(given: str) -> MissingInputError:
    """Say which part of the path is missing, and what stands there under a similar name."""
    path = Path(given)
    if path.is_symlink():
        return MissingInputError(f"{given}: a link to {path.readlink().as_posix()}, which is not there; fix the link")
    parent = path.parent
    missing = path
    while not parent.exists():
        missing, parent = parent, parent.parent
    near = difflib.get_close_matches(missing.name, os.listdir(parent), n=1) if parent.is_dir() else []  # noqa: PTH208 - names are all that is needed
    remedy = f"did you mean {(parent / near[0]).as_posix()}?" if near else "check the path"
    what = "no such file or folder" if missing == path else f"there is no {missing.as_posix()}"
    return MissingInputError(f"{given}: {what}; {remedy}")
