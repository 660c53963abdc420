"""The manifest of a run: its files with sizes and digests, so that damage done to them later is found.

The parts' own keep it while a run goes on; ``run.json`` holds that of the finished run, as ``.state`` may be deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from trajcompress.dataset.durable import temporary
from trajcompress.dataset.storage.location import Location, name_within, size_of
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.dataset.writers import stem_of

_COUNTED_BYTES = 2**20
_FEW = 3  # files that a store is asked for one by one


UNCHECKED = "an earlier version wrote it, without digests of its files, so damage to them is not looked for"
FOREIGN = "is not of this run, but would be loaded with its dataset"
REMEDY = "put it back, or run the command that wrote it again, which repairs what it can"
DATA = "data/"


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file as it was written: ``name`` is its path within the run folder, ``sha256`` the digest of its bytes."""

    name: str
    rows: int
    bytes: int
    sha256: str


def is_data(name: str) -> bool:
    """Tell whether a file of a run folder holds rows of the dataset."""
    return name.startswith(DATA)


def describe_file(path: Location, name: str, rows: int) -> WrittenFile:
    """Describe a file that was just written; reading it back comes out of the memory of the operating system."""
    return WrittenFile(name, rows, size_of(path), _digest(path))


def is_complete_temporary(folder: Location, file: WrittenFile) -> bool:
    """Tell whether the file was written, and a kill kept it from getting its name."""
    return damage_of(temporary(folder / file.name), file, digest=True) is None


def read_manifest(run_json: dict[str, Any]) -> list[WrittenFile] | None:
    """Return the files that a ``run.json`` names, None where it names none, as those of earlier versions.

    Raises:
        ValueError: what it says is no list of files.
    """
    return read_files(run_json["files"]) if "files" in run_json else None


def read_files(value: Any) -> list[WrittenFile]:
    """Read a list of files.

    Raises:
        ValueError: it is none.
    """
    try:
        files = [
            WrittenFile(str(each["name"]), int(each["rows"]), int(each["bytes"]), str(each["sha256"]))
            for each in value
        ]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"does not say what its files are ({error!r})") from error
    if not all(lies_within(file.name) for file in files):
        raise ValueError("names files that are not in the folder")
    return files


def lies_within(name: str) -> bool:
    """Tell whether a name can only be that of a file in the folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def first_damage(folder: Location, files: Iterable[WrittenFile], *, digest_of: Iterable[str] = ()) -> str | None:
    """Return what is wrong with the first file that is not as it was written, its path before it.

    Sizes are looked at always, the bytes of those named in ``digest_of``.
    """
    names = set(digest_of)
    files = list(files)
    listed = list_objects(folder, files)
    for file in files:
        try:
            why = damage_of(listed.get(file.name, folder / file.name), file, digest=file.name in names)
        except OSError as error:
            why = f"cannot be read: {error.strerror or error}"
        if why:
            return f"{folder / file.name}: {why}"
    return None


def list_objects(folder: Location, files: Sequence[WrittenFile]) -> dict[str, Location]:
    """Return those of many files that a store lists, by name: one question in the place of one for each of them."""
    if not isinstance(folder, StorePath) or len(files) <= _FEW:
        return {}
    return {name_within(folder, each): each for each in folder.find()}


def data_files(folder: Location, files: Iterable[WrittenFile] | None, stems: Iterable[str]) -> list[Location]:
    """Return the data files of a run in ``folder``, in input order.

    Where an earlier version named no ``files``, they are found by the ``stems`` of its inputs, in their order.
    """
    if files is not None:
        return [folder / file.name for file in files if is_data(file.name)]
    order = {stem: place for place, stem in enumerate(stems)}
    found = [(stem_of(path.name) or "", path) for path in foreign_data(folder, ())]
    return [path for stem, path in sorted(found, key=lambda each: order.get(each[0], 0)) if stem in order]


def foreign_data(folder: Location, names: Iterable[str]) -> list[Location]:
    """Return the files that would be taken for parts of the dataset and are not among ``names``."""
    known = {folder / name for name in names}
    found = (folder / DATA).iterdir() if (folder / DATA).is_dir() else ()
    return sorted(path for path in found if path.suffix in {".parquet", ".jsonl"} and path not in known)


def damage_of(path: Location, file: WrittenFile, *, digest: bool) -> str | None:
    """Say what is wrong with a file that should be at a path, None where it is as it was written.

    Raises:
        OSError: it cannot be read.
    """
    if isinstance(path, StorePath):
        try:
            size = (path.listed or path.look()).size
        except FileNotFoundError:
            return "is gone"
    else:
        if not path.exists():
            return "is gone"
        if not path.is_file():
            return "is no file any more"
        size = path.stat().st_size
    if size != file.bytes:
        return f"has {size:,} bytes{_rows(path, file)}, but {file.bytes:,} were written; it is damaged"
    if digest and _digest(path) != file.sha256:
        return "holds other bytes than were written; it is damaged"
    return None


def _rows(path: Location, file: WrittenFile) -> str:
    """Say how many rows there are, where lines can be counted."""
    if path.suffix != ".jsonl":
        return ""
    lines = 0
    with path.open("rb") as opened:
        while block := opened.read(_COUNTED_BYTES):
            lines += block.count(b"\n")
    return f" and {lines:,} whole rows of {file.rows:,}"


def _digest(path: Location) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
