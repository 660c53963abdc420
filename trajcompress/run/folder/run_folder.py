"""The run folder: the paths of its files, its lock, and what may be written or deleted in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trajcompress.dataset.durable import temporary
from trajcompress.dataset.storage.lease import Held, is_leased
from trajcompress.dataset.storage.location import Location, remove_tree
from trajcompress.dataset.storage.scratch import scratch_of
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.errors import OutputError
from trajcompress.run.folder.hold import hold_here, hold_stored
from trajcompress.run.folder.own_data import OwnData
from trajcompress.run.folder.starters import STARTER_NAMES
from trajcompress.run.folder.summaries import RunSummaries

_OWNER = "owner"
_JOURNAL = "journal.sqlite"  # what earlier versions had in the place of manifests

State: TypeAlias = Literal["running", "interrupted", "stopped", "waiting", "complete", "input_changed"]
"""``input_changed``: all rows are there, but not all inputs stayed as they were while they were read.
``waiting``: batches are under way at the endpoint, and the same command goes on once they have ended."""


class RunFolder:
    """Names the files of a run, and looks after the folder itself."""

    def __init__(self, path: Location, near: Path | None = None) -> None:
        """Name them; ``near`` is for what another machine than that of the run keeps meanwhile."""
        self.path = path
        self.data = path / "data"
        self.metrics = path / "metrics.parquet"
        self.segments = path / "segments.parquet"
        self.summary = path / "summary.json"
        self.rejected = path / "rejected.jsonl"
        self.run = path / "run.json"
        self.card = path / "README.md"
        self.report = path / "report.html"
        self.starters = tuple(path / name for name in STARTER_NAMES)
        self.state = path / ".state"
        self.parts = self.state / "parts"
        self.own = OwnData(self.data, self.run, self.parts)
        is_elsewhere = near is not None
        near = near or (scratch_of(path) if isinstance(path, StorePath) else path / ".state")
        self.summaries = RunSummaries(
            near / "summaries.sqlite",
            self.state / "summaries",
            near / "replaced.sqlite",
            is_one_of_many=is_elsewhere,
        )
        self._lease: Held | None = None
        self.batches = near / "batches.sqlite"
        self.lock = self.state / "lock"
        self.progress = near / "progress.json"
        self.metrics_parts = self.state / "metrics"
        self.rejected_parts = self.state / "rejected"
        self.segments_parts = self.state / "segments"
        self.part_folders = (self.metrics_parts, self.rejected_parts, self.segments_parts)

    def __reduce__(self) -> tuple[type[RunFolder], tuple[Location]]:
        """Let it be sent to another process, which does not hold it."""
        return RunFolder, (self.path,)

    def check_own(self) -> None:
        """Raise OutputError where a run writes there is something of another kind, or a link to elsewhere."""
        if isinstance(self.path, StorePath):
            return  # where nothing is a link, and a folder and an object may have one name
        folders = (self.data, self.state, self.parts, self.summaries.shared, *self.part_folders)
        state = (self.lock, self.lock.with_name(_OWNER), self.progress)
        results = (self.metrics, self.segments, self.summary, self.rejected, self.run, self.card, *self.starters)
        for path in (*folders, *results, *state):
            if path.is_symlink():
                raise OutputError(f"{path}: is a link, and a run writes in its own folder only; move it away")
            if path.exists() and path.is_dir() != (path in folders):
                kind, wanted = ("folder", "file") if path.is_dir() else ("file", "folder")
                raise OutputError(f"{path}: is a {kind} where a run has a {wanted}; move it away")
            if path in (*results, *state) and (temporary(path).is_dir() or temporary(path).is_symlink()):
                raise OutputError(f"{temporary(path)}: is no file, and a run writes one there; move it away")

    def check_apart_from(self, inputs: Iterable[Location]) -> None:
        """Raise OutputError where the folder is, holds, or lies in an input."""
        output = self.path.resolve()
        for given in inputs:
            path = given.resolve()
            if output == path or output in path.parents:
                raise OutputError(f"{self.path}: the output folder would hold the input {given}; choose another -o")
            if path in output.parents and path.is_dir():
                raise OutputError(f"{self.path}: the output folder lies in the input {given}; choose another -o")

    def writes(self, path: Path) -> bool:
        """Tell whether a run writes that path, or what is in it."""
        own = (
            self.metrics,
            self.summary,
            self.rejected,
            self.run,
            self.card,
            self.report,
            self.data,
            self.state,
            *self.starters,
        )
        if isinstance(self.path, StorePath):
            return False
        named = path.resolve()
        return any(named == each or each in named.parents for each in (each.resolve() for each in own))

    def previous_run(self) -> dict[str, Any] | None:
        """Return the ``run.json`` of an earlier run, None for a new or an empty folder.

        Raises:
            OutputError: the folder holds something that is no run of ours.
        """
        if not self.path.exists():
            return None
        if not self.path.is_dir():
            raise OutputError(f"{self.path}: is a file; name a folder")
        if not self.run.exists():
            begun = (self.state, temporary(self.run))  # by a run that was killed before it could say so
            if any(entry not in begun for entry in self.path.iterdir()):
                raise OutputError(
                    f"{self.path}: holds files that are no trajcompress run; choose an empty or new folder"
                )
            return None
        try:
            previous = json.loads(self.run.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OutputError(
                f"{self.run}: cannot be read: {error}; put back a copy, or choose another -o (summaries that were "
                f"paid for are in {self.summaries.place})"
            ) from error
        if not isinstance(previous, dict) or not _is_run_json(previous):
            raise OutputError(f"{self.run}: is no trajcompress run's; choose an empty or new folder")
        return previous

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder, and keep other runs out of it.

        Raises:
            OutputError: it cannot be written, or another run works in it.
        """
        if isinstance(self.lock, StorePath):
            databases = {
                path.name: self.lock.with_name(path.name) for path in (self.summaries.replaced, self.batches)
            }
            with hold_stored(self.lock, self.batches.parent, databases) as self._lease:
                yield
        elif isinstance(self.path, Path):
            with hold_here(self.path, self.lock, self.lock.with_name(_OWNER)):
                yield

    def is_held(self) -> bool:
        """Tell whether a process works in the folder; nothing is written to find out."""
        if isinstance(self.lock, StorePath):
            return is_leased(self.lock)
        if not self.lock.exists():
            return False
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.lock, timeout=0):
                return False
        except Timeout:
            return True
        except OSError:  # a folder of others
            return self.lock.with_name(_OWNER).exists()

    def check_held(self) -> None:
        """Raise OutputError where another run has taken over the folder, which can be in a store only."""
        if self._lease is not None and self._lease.lost_to is not None:
            raise OutputError(f"{self.path}: {self._lease.lost_to} has taken over: this process was stopped for long")

    def prepare(self) -> None:
        """Create the folders within."""
        for folder in (self.data, self.parts, *self.part_folders):
            folder.mkdir(parents=True, exist_ok=True)

    def clear(self, *, keep_summaries: bool = False) -> None:
        """Remove what earlier runs left, and nothing else; the lock is kept.

        Raises:
            OSError: something cannot be removed.
        """
        for path in self.own.files():  # before the manifests, which know them
            path.unlink()
        with suppress(OSError):
            self.data.rmdir()
        for part_folder in (self.parts, *self.part_folders):
            remove_tree(part_folder)
        for path in self.state.glob(f"{_JOURNAL}*"):
            path.unlink()
        if not keep_summaries:
            self.summaries.clear()
        results = (self.metrics, self.segments, self.summary, self.rejected, self.card, self.report)
        for file in (*results, *self.starters, self.run, self.progress):
            file.unlink(missing_ok=True)

    def holds_work(self) -> bool:
        """Tell whether anything of a run is committed or was paid for."""
        if self.parts.exists() and any(self.parts.iterdir()):
            return True
        return not self.summaries.is_empty()

    def remove(self) -> None:
        """Remove the folder of a run that has not begun."""
        with suppress(OSError):
            remove_tree(self.path)


def _is_run_json(value: dict[str, Any]) -> bool:
    """Tell whether this is what a run writes to ``run.json``."""
    return (
        isinstance(value.get("state"), str)
        and isinstance(value.get("settings"), dict)
        and isinstance(value.get("inputs"), list)
        and all(isinstance(each, dict) and isinstance(each.get("name"), str) for each in value["inputs"])
    )
