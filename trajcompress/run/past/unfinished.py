"""A run that has not ended, or was cut off: whether a process works on it, and what is committed of it."""

from __future__ import annotations

import functools
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from msgspec import Struct

from trajcompress.dataset.durable import temporary
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError
from trajcompress.metrics.files import join_metrics
from trajcompress.run.folder.manifest import WrittenFile
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.store import PartStore
from trajcompress.wording import counted

ENDED = frozenset({"complete", "input_changed"})


_WORDS = {"killed": "was killed", "interrupted": "was interrupted", "stopped": "has stopped early"}


_TRIES = 5

P = ParamSpec("P")
T = TypeVar("T")


def reading_while_it_works(read: Callable[P, T]) -> Callable[P, T]:
    """Let ``read`` look again where a file was gone: a commit, or the run's end, named it otherwise meanwhile."""

    @functools.wraps(read)
    def reads(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(_TRIES - 1):
            try:
                return read(*args, **kwargs)
            except InputError as error:
                if not isinstance(error.__cause__, FileNotFoundError):
                    raise
        return read(*args, **kwargs)

    return reads


class Scratch:
    """A folder for temporary files that goes with the object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="trajcompress-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class SoFar(Struct, frozen=True):
    """What is committed of a run: its metrics and rejects put together in a folder of our own, and its data files.

    ``scratch`` goes with the object; ``note`` says how the run stands.
    """

    metrics: Path
    rejected: Path
    data: tuple[WrittenFile, ...]
    state: str
    note: str
    scratch: Scratch


def standing(folder: RunFolder, run_json: dict[str, Any]) -> str:
    """Return the state of a run as it is: ``running`` only where a process holds it, else ``killed`` if it was."""
    state = str(run_json.get("state", "complete"))
    if folder.is_held():
        return "running"
    return "killed" if state == "running" else state


def in_words(state: str) -> str:
    """Say in what state a run is, after the words *the run*."""
    return _WORDS.get(state, f"is {state}")


def so_far(folder: RunFolder, run_json: dict[str, Any]) -> SoFar:
    """Put together what is committed.

    Raises:
        InputError: nothing is, or it is being changed.
    """
    state = standing(folder, run_json)
    parts, _ = PartStore(folder).read()
    rows = sum(part.progress.rows for part in parts.values())
    goes_on = "it goes on" if state == "running" else "the same command goes on"
    if not rows:
        raise InputError(
            f"{folder.path}: the run {in_words(state)}, and nothing of it is committed yet; {goes_on}: "
            f"`trajcompress status {folder.path}` says how far it is"
        )
    scratch = Scratch()
    metrics, rejected = scratch.path / folder.metrics.name, scratch.path / folder.rejected.name
    try:
        join_metrics(metrics, committed_metrics(folder, parts.values()))
        with rejected.open("wb") as joined:
            for path in _paths(folder, (part.file_of("rejected") for part in parts.values())):
                with path.open("rb") as file:
                    shutil.copyfileobj(file, joined)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder.path}: cannot be read: {error.strerror or error}; try again"
        ) from error
    what = f"this is of the {counted(rows, 'row')} committed so far, and {goes_on}"
    note = f"{folder.path}: the run {in_words(state)}; {what}"
    data = tuple(part.data for part in parts.values() if part.data)
    return SoFar(metrics, rejected, data, state, note, scratch)


def committed_metrics(folder: RunFolder, parts: Iterable[CommittedPart]) -> list[Location]:
    """Return the files of metrics of parts."""
    return _paths(folder, (part.file_of("metrics") for part in parts))


def _paths(folder: RunFolder, files: Iterable[WrittenFile | None]) -> list[Location]:
    """Return where files of parts are; one that a kill kept from getting its name has a temporary one."""
    paths = [folder.path / file.name for file in files if file]
    return [path if path.exists() else temporary(path) for path in paths]
