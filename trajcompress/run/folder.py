"""The run folder: the paths of its files, its lock, and what may be written or deleted in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias

from trajcompress.dataset.durable import temporary
from trajcompress.dataset.storage.lease import Held, is_leased
from trajcompress.dataset.storage.location import Location, remove_tree
from trajcompress.dataset.storage.scratch import scratch_of
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.dataset.writers import part_of_temporary, stem_of
from trajcompress.errors import OutputError
from trajcompress.run.hold import hold_here, hold_stored
from trajcompress.run.manifest import is_data, read_files, read_manifest
from trajcompress.run.starters import STARTER_NAMES
from trajcompress.summarize.cache.objects import ObjectRecord
from trajcompress.summarize.cache.recovery import open_record
from trajcompress.summarize.cache.replaced import count_kept
from trajcompress.summarize.cache.store import SummaryStore

_OWNER = "owner"
_JOURNAL = "journal.sqlite"  # what earlier versions had in the place of manifests

State: TypeAlias = Literal["running", "interrupted", "stopped", "waiting", "complete", "input_changed"]
"""``input_changed``: all rows are there, but not all inputs stayed as they were while they were read.
``waiting``: batches are under way at the endpoint, and the same command goes on once they have ended."""


class RunFolder:
    """Names the files of a run, and looks after the folder itself."""

    def __init__(self, path: Location) -> None:
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
        near = scratch_of(path) if isinstance(path, StorePath) else path / ".state"
        self.summaries = near / "summaries.sqlite"
        self.kept_summaries = self.state / "summaries"
        self._lease: Held | None = None
        self.replaced_summaries = near / "replaced.sqlite"
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
        folders = (self.data, self.state, self.parts, *self.part_folders)
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
                f"paid for are in {self.kept_summaries if isinstance(self.path, StorePath) else self.summaries})"
            ) from error
        if not isinstance(previous, dict) or not _is_run_json(previous):
            raise OutputError(f"{self.run}: is no trajcompress run's; choose an empty or new folder")
        return previous

    def recorded_data(self) -> set[str]:
        """Return the names of the data files that ``run.json`` names, which a finished run has left."""
        with suppress(OSError, ValueError):
            run_json = json.loads(self.run.read_bytes())
            return {PurePosixPath(file.name).name for file in read_manifest(run_json) or () if is_data(file.name)}
        return set()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder, and keep other runs out of it.

        Raises:
            OutputError: it cannot be written, or another run works in it.
        """
        if isinstance(self.lock, StorePath):
            databases = {
                path.name: self.lock.with_name(path.name) for path in (self.replaced_summaries, self.batches)
            }
            with hold_stored(self.lock, self.summaries.parent, databases) as self._lease:
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

    def check_data(self) -> None:
        """Raise OutputError where the data folder holds anything but what runs in this folder have written."""
        own = self.own_data()
        foreign = [path for path in self._data_entries() if path not in own]
        if foreign:
            more = f" and {len(foreign) - 1:,} more" if len(foreign) > 1 else ""
            raise OutputError(
                f"{foreign[0]}{more}: not written by the run here, and --overwrite deletes only what is; move it "
                "away, or choose another -o"
            )

    def _data_entries(self) -> list[Location]:
        return sorted(self.data.iterdir()) if self.data.exists() else []

    def own_data(self) -> set[Location]:
        """Return the files in the data folder that runs here have written."""
        recorded, of_parts = self.recorded_data(), self._data_of_parts()
        known = recorded | (of_parts or set())
        own = set()
        for path in self._data_entries():
            part = part_of_temporary(path.name)
            name = part or path.name
            # where nothing says more, an earlier version wrote it, or what is known of the parts is lost
            by_stem = part is not None or (of_parts is None and not recorded)
            if not path.is_dir() and (name in known or (by_stem and stem_of(name) in self._stems())):
                own.add(path)
        return own

    def _data_of_parts(self) -> set[str] | None:
        """Return the names of the data files that the manifests of parts name; None where one is lost, or all are."""
        names: set[str] = set()
        manifests: list[Location] = [*self.parts.glob("*.json")] if self.parts.exists() else []
        try:
            for path in manifests:
                files = read_files(json.loads(path.read_bytes())["files"])
                names |= {PurePosixPath(file.name).name for file in files if is_data(file.name)}
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return names if manifests else None

    def _stems(self) -> set[str]:
        """Return how data files of the run here begin."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            run_json = json.loads(self.run.read_bytes())
            return {each["stem"] for each in run_json["inputs"]} | set(run_json.get("packs", ()))
        return set()

    def clear(self, *, keep_summaries: bool = False) -> None:
        """Remove what earlier runs left, and nothing else; the lock is kept.

        Raises:
            OSError: something cannot be removed.
        """
        for path in self.own_data():  # before the manifests, which know them
            path.unlink()
        with suppress(OSError):
            self.data.rmdir()
        for part_folder in (self.parts, *self.part_folders):
            remove_tree(part_folder)
        for path in self.state.glob(f"{_JOURNAL}*"):
            path.unlink()
        if not keep_summaries:
            for path in self.summaries.parent.glob(f"{self.summaries.name}*"):
                path.unlink()
            remove_tree(self.kept_summaries)
        results = (self.metrics, self.segments, self.summary, self.rejected, self.card, self.report)
        for file in (*results, *self.starters, self.run, self.progress):
            file.unlink(missing_ok=True)

    def holds_work(self) -> bool:
        """Tell whether anything of a run is committed or was paid for."""
        if self.parts.exists() and any(self.parts.iterdir()):
            return True
        if not self.has_summaries():
            return False
        with closing(self.open_record()) as summaries:
            return not summaries.is_empty()

    def open_record(self, note: Callable[[str], None] = lambda _: None) -> SummaryStore:
        """Open the summaries of the run, which are in the store too where its folder is in one.

        Raises:
            OutputError: they cannot be used.
        """
        self.summaries.parent.mkdir(parents=True, exist_ok=True)
        record = open_record(self.summaries, note)
        if not isinstance(self.kept_summaries, StorePath):
            return record
        record.close()
        return ObjectRecord(self.summaries, self.kept_summaries, note)

    def fetch_summaries(self) -> None:
        """Bring the summaries of the run that are in a store alone to this machine."""
        if isinstance(self.kept_summaries, StorePath):
            with closing(self.open_record()) as record:
                record.fetch()

    def count_summaries(self) -> int:
        """Return how many summaries of this run, and of those that it replaces, are kept."""
        in_store = self.kept_summaries.iterdir() if isinstance(self.kept_summaries, StorePath) else ()
        return max(count_kept(self.summaries, self.replaced_summaries), sum(1 for _ in in_store))

    def has_summaries(self) -> bool:
        """Tell whether summaries of the run are kept."""
        return self.summaries.exists() or (self.kept_summaries.exists() and any(self.kept_summaries.iterdir()))

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
