"""The run folder: where everything that a run leaves behind stands."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trajcompress.dataset.durable import temporary
from trajcompress.errors import OutputError
from trajcompress.summarize.store import SummaryStore

State: TypeAlias = Literal["running", "interrupted", "stopped", "complete", "input_changed"]
"""``input_changed``: all rows are there, but not all inputs stayed as they were while they were read."""


class RunFolder:
    """Names the files of a run, and looks after the folder itself."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path / "data"
        self.metrics = path / "metrics.parquet"
        self.summary = path / "summary.json"
        self.rejected = path / "rejected.jsonl"
        self.run = path / "run.json"
        self.card = path / "README.md"
        self.report = path / "report.html"
        self.state = path / ".state"
        self.journal = self.state / "journal.sqlite"
        self.summaries = self.state / "summaries.sqlite"
        self.lock = self.state / "lock"
        self.metrics_parts = self.state / "metrics"
        self.rejected_parts = self.state / "rejected"

    def check_apart_from(self, inputs: Iterable[Path]) -> None:
        """Make sure that the folder is not, holds no, and lies in no input.

        Raises:
            OutputError: it does.
        """
        output = self.path.resolve()
        for given in inputs:
            path = given.resolve()
            if output == path or output in path.parents:
                raise OutputError(f"{self.path}: the output folder would hold the input {given}; choose another -o")
            if path in output.parents and path.is_dir():
                raise OutputError(f"{self.path}: the output folder lies in the input {given}; choose another -o")

    def writes(self, path: Path) -> bool:
        """Tell whether a run writes that path, or what is in it."""
        own = (self.metrics, self.summary, self.rejected, self.run, self.card, self.report, self.data, self.state)
        named = path.resolve()
        return any(named == each or each in named.parents for each in map(Path.resolve, own))

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
            raise OutputError(f"{self.run}: cannot be read: {error}; start again with --overwrite") from error
        if not isinstance(previous, dict) or not {"state", "settings", "inputs"} <= previous.keys():
            raise OutputError(f"{self.run}: is no trajcompress run's; choose an empty or new folder")
        return previous

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder, and keep other runs out of it.

        Raises:
            OutputError: it cannot be written, or another run works in it.
        """
        from filelock import FileLock, Timeout

        try:
            self.state.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.lock, timeout=0)
            lock.acquire()
        except Timeout:
            raise OutputError(
                f"{self.path}: {self._owner()} is writing here; wait for it, or choose another -o"
            ) from None
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}; choose another -o") from error
        try:
            with suppress(OSError):  # only a name for others to see; what cannot be done without comes next
                self._owner_file.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
            yield
        finally:
            self._owner_file.unlink(missing_ok=True)
            lock.release()

    def prepare(self) -> None:
        """Create the folders within."""
        for folder in (self.data, self.metrics_parts, self.rejected_parts):
            folder.mkdir(parents=True, exist_ok=True)

    def clear(self, *, keep_summaries: bool = False) -> None:
        """Remove what earlier runs left, and nothing else; the lock is kept.

        Raises:
            OSError: something cannot be removed.
        """
        self.journal.unlink(missing_ok=True)  # first, for what it says is true no longer
        if self.data.exists():
            shutil.rmtree(self.data)
        for entry in self.state.iterdir() if self.state.exists() else ():
            if entry.is_dir():
                shutil.rmtree(entry)
            elif entry in (self.lock, self._owner_file) or (
                keep_summaries and entry.name.startswith(self.summaries.name)
            ):
                continue
            else:
                entry.unlink()
        for file in (self.metrics, self.summary, self.rejected, self.card, self.report, self.run):
            file.unlink(missing_ok=True)

    def holds_work(self) -> bool:
        """Tell whether anything of a run is committed or was paid for."""
        if self.metrics_parts.exists() and any(self.metrics_parts.iterdir()):
            return True
        if not self.summaries.exists():
            return False
        with closing(SummaryStore(self.summaries)) as summaries:
            return not summaries.is_empty()

    def remove(self) -> None:
        """Remove the folder of a run that has not begun."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def _owner_file(self) -> Path:
        return self.state / "owner"

    def _owner(self) -> str:
        try:
            return self._owner_file.read_text(encoding="utf-8")
        except OSError:
            return "another run"
