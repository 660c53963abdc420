"""From what the command line names to the sources that rows are read from."""

from __future__ import annotations

import difflib
import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.rows import Source, SourceKind
from trajcompress.dataset.saved_rows import METADATA_FILES, is_saved, saved_files, saved_splits
from trajcompress.errors import InputError
from trajcompress.wording import printable

STDIN = "-"
_KINDS: dict[str, SourceKind] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".parquet": "parquet"}
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_SUFFIXES = {ending + compression: kind for ending, kind in _KINDS.items() for compression in ("", *COMPRESSIONS)}
_KNOWN = ", ".join(_KINDS) + " (each also .gz, .bz2, .xz or .zst)"
_SPECIAL = {stat.S_IFIFO: "pipes", stat.S_IFSOCK: "sockets", stat.S_IFCHR: "devices", stat.S_IFBLK: "devices"}
_LONGEST_STEM = 100


@dataclass(frozen=True, slots=True)
class Found:
    """What can be read, and of each place what was left out there."""

    sources: list[Source]
    left_out: list[LeftOut]

    def notes(self) -> list[str]:
        """Return what there is to say of it, in lines."""
        pipes = [printable(source.name) for source in self.sources if source.is_stream and source.path]
        return [*map(str, self.left_out), *(f"{name}: a pipe, read once, as its rows come" for name in pipes)]


def find_inputs(inputs: Sequence[str]) -> Found:
    """Find what can be read in files, folders, globs, pipes and ``-`` (JSON lines on standard input).

    Folders are searched recursively, in sorted order. Left out of them are hidden files and folders, files of other
    kinds, pipes and the like, and the run folders of trajcompress; of a run folder that is itself named, the dataset
    is read. A folder of ``save_to_disk`` gives one source, or one for each split. What is reached twice is read once.

    Raises:
        InputError: an input does not exist, is of an unknown kind, or holds nothing that can be read; or a file that
            should be read cannot be.
    """
    if not inputs:
        raise InputError("no input: name a file, a folder, a glob, or - for JSON lines on standard input")
    found: dict[str, Source] = {}
    left_out = []
    for given in inputs:
        if not given.strip():  # a variable that is not set; as a path it would be the current folder
            raise InputError("an input without a name: name a file, a folder, a glob, or - for standard input")
        left = LeftOut(_display_name(Path(given)))
        try:
            sources = _sources_of(given, left)
        except OSError as error:  # a name that is too long, a folder that may not be entered
            _raise_unreadable(error)
        for source in sources:
            key = os.path.realpath(source.path) if source.path else source.name
            if found.setdefault(key, source) is not source:
                left.add("seen_already")
            elif source.size == 0:
                left.add("empty_files")
        if left:
            left_out.append(left)
    return Found(with_unique_stems(found.values()), left_out)


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
        sources = list(_in_folder(path, left))
        if not sources:
            there = f"; it holds {left.contents()}" if left else ""
            raise InputError(f"{given}: no readable file in this folder; known are {_KNOWN}{there}")
        return sources
    if path.exists():
        return [_named(path)]
    if glob.has_magic(given):
        return _matching(given, left)
    raise _missing(given)


def _named(path: Path) -> Source:
    """Return the source that a file is, or a pipe."""
    name, kind = _display_name(path), _kind(path)
    special = _SPECIAL.get(stat.S_IFMT(path.stat().st_mode))
    if special == "pipes":
        if kind not in (None, "jsonl"):
            raise InputError(
                f"{name}: a pipe can be read once and from its start only, which .{kind} cannot be; "
                "save it to a file, or send JSON lines"
            )
        return Source(name, _stem(path), "jsonl", path, None)
    if special:
        raise InputError(f"{name}: a {special.removesuffix('s')}, and no file; name a file, or - for standard input")
    if source := _file(path):
        return source
    raise InputError(f"{name}: unknown kind of file; known are {_KNOWN}, and - for JSON lines on standard input")


def _matching(pattern: str, left: LeftOut) -> list[Source]:
    matches = [Path(match) for match in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - Path.glob takes no absolute pattern
    sources: list[Source] = []
    for match in matches:
        sources += _in_folder(match, left) if match.is_dir() else _files([match], left)
    if not sources:
        found = f"matches {len(matches)} names but no readable file" if matches else "matches nothing"
        raise InputError(f"{pattern}: {found}; check the pattern; known are {_KNOWN}")
    return sources


def _files(paths: Iterable[Path], left: LeftOut) -> Iterator[Source]:
    for path in paths:
        known = _kind(path) is not None
        try:
            special = _SPECIAL.get(stat.S_IFMT(path.stat().st_mode))
        except OSError as error:
            if known:
                _raise_unreadable(error)
            left.add("broken_links")  # or what it leads to cannot be looked at
            continue
        if special:
            left.add(special)
        elif source := _file(path):
            yield source
        else:
            left.add_file(path.name)


def _in_folder(root: Path, left: LeftOut) -> Iterator[Source]:
    visited: set[str] = set()
    for name, folders, files in os.walk(root, onerror=_raise_unreadable, followlinks=True):
        folder = Path(name)
        real = os.path.realpath(folder)
        if real in visited:  # a link back up would be walked for ever
            left.add("seen_already")
            folders.clear()
            continue
        visited.add(real)
        if is_saved(folder):
            folders.clear()
            yield from _saved(folder)
            continue
        if _is_run(folder):
            left.add("run_folders", folder != root)
            folders[:] = ["data"] if folder == root else []
            continue
        left.add("hidden_folders", sum(entry.startswith(".") for entry in folders))
        folders[:] = sorted(entry for entry in folders if not entry.startswith("."))
        visible = sorted(entry for entry in files if not entry.startswith("."))
        left.add("hidden_files", len(files) - len(visible))
        rows = [entry for entry in visible if entry not in METADATA_FILES]
        left.add("descriptions", len(visible) - len(rows))
        yield from _files((folder / entry for entry in rows), left)


def _is_run(folder: Path) -> bool:
    """Tell a run folder: its metrics are no rows, and within a larger folder its data is no input either."""
    return (folder / "run.json").is_file() and (folder / "data").is_dir()


def _file(path: Path) -> Source | None:
    kind = _kind(path)
    return Source(_display_name(path), _stem(path), kind, path, _size([path])) if kind else None


def _kind(path: Path) -> SourceKind | None:
    return _SUFFIXES.get(_suffix(path))


def _stem(path: Path) -> str:
    return safe_stem(path.name[: len(path.name) - len(_suffix(path))])


def _suffix(path: Path) -> str:
    """The end of a name that tells what a file holds, in lower case; empty where none does."""
    name = path.name.lower()
    return next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), "")


def _saved(folder: Path) -> Iterator[Source]:
    name = folder.resolve().name
    splits = saved_splits(folder)
    if not splits:
        yield Source(_display_name(folder), safe_stem(name), "saved", folder, _size(saved_files(folder)))
    for split in splits:
        path = folder / split
        yield Source(_display_name(path), safe_stem(f"{name}-{split}"), "saved", path, _size(saved_files(path)))


def _size(paths: Iterable[Path]) -> int:
    try:
        return sum(path.stat().st_size for path in paths)
    except OSError as error:  # a link to nowhere, or gone since the folder was listed
        _raise_unreadable(error)


def _display_name(path: Path) -> str:
    """The path for people, in POSIX style; bytes that are not UTF-8 are escaped, so that it can be printed."""
    return path.as_posix().encode("utf-8", "backslashreplace").decode()


def safe_stem(name: str) -> str:
    """Return a name as data files may begin with it."""
    safe = re.sub(r"[^\w.-]+", "_", name).strip(".").encode()[:_LONGEST_STEM]  # file systems count bytes
    return safe.decode(errors="ignore") or "data"


def _raise_unreadable(error: OSError) -> NoReturn:
    raise InputError(
        f"{error.filename}: {error.strerror}; check that it is there and can be read, or leave it out"
    ) from error


def _missing(given: str) -> InputError:
    """Say which part of the path is missing, and what stands there under a similar name."""
    path = Path(given)
    if path.is_symlink():
        return InputError(f"{given}: a link to {path.readlink().as_posix()}, which is not there; fix the link")
    parent = path.parent
    missing = path
    while not parent.exists():
        missing, parent = parent, parent.parent
    near = difflib.get_close_matches(missing.name, os.listdir(parent), n=1) if parent.is_dir() else []  # noqa: PTH208 - names are all that is needed
    remedy = f"did you mean {(parent / near[0]).as_posix()}?" if near else "check the path"
    what = "no such file or folder" if missing == path else f"there is no {missing.as_posix()}"
    return InputError(f"{given}: {what}; {remedy} (a dataset of the hub is named with --dataset)")
