"""Committing parts: their files become visible together, or not at all.

Parts of small inputs are committed together: their files are made durable first, one of metrics and one of rejects
for all of them, then their lines in the journal commit them, and data files get their names. Which go together shows
in none of them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from trajcompress.dataset.durable import publish, temporary, write_durably
from trajcompress.dataset.shape import Columns
from trajcompress.dataset.writers import DatasetWriter
from trajcompress.errors import OutputError
from trajcompress.events import Tell, nobody
from trajcompress.metrics.files import join_metrics, read_totals, write_metrics
from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder import RunFolder
from trajcompress.run.journal import CommittedFile, Journal, Part
from trajcompress.run.manifest import WrittenFile, describe_file, first_damage
from trajcompress.run.parts import PartBuilder, PartSize
from trajcompress.run.reporter import Progress
from trajcompress.run.row import Finished

_COMMIT_AFTER_S = 1.0
"""How long small parts wait for others; what waits is lost by a kill."""


class _Waiting(NamedTuple):
    """A part that waits to be committed, with what goes into files that it may share with others."""

    part: Part
    data: WrittenFile | None
    metrics: Sequence[RowMetrics]
    rejected: Sequence[str]


class PartCommitter:
    """Takes finished rows in input order, and commits parts whenever there is enough of them.

    The ``journal`` knows the parts that are committed, and is written to; ``progress`` is as of these. ``types`` are
    those of columns of the form that rows are in.
    """

    def __init__(
        self,
        folder: RunFolder,
        output_format: Literal["parquet", "jsonl"],
        journal: Journal,
        progress: Progress,
        tell: Tell = nobody,
        *,
        types: Columns | None = None,
    ) -> None:
        self._files = {file.file.name: file for file in journal.files()}
        self._folder = folder
        self._journal = journal
        self._tell = tell
        self.progress = progress
        self.committed_rows = progress.rows
        parts = journal.parts()
        self._number = len(parts)
        committed = [part.data_file for part in parts if part.data_file]
        self._dataset = DatasetWriter(folder.data, output_format, committed=committed)
        self._open = PartBuilder(self._dataset, types or {})
        self._waiting: list[_Waiting] = []
        self._uncommitted = PartSize()
        self._committed_at = time.monotonic()

    def add(self, finished: Finished) -> None:
        """Add one row; end the part before it where that is full or of another source."""
        parsed = finished.parsed
        if self._open.must_end_before(parsed):
            self._end_part()
        if self._open.is_empty and (self._uncommitted.is_full_for(parsed.size) or self._commits_are_due()):
            self.commit_parts()
        metrics = self._open.add(finished)
        self._uncommitted.add(parsed.size)
        self.progress.add(metrics)

    def _commits_are_due(self) -> bool:
        return time.monotonic() - self._committed_at >= _COMMIT_AFTER_S

    def _end_part(self) -> None:
        if (ended := self._open.end()) is None:
            return
        name = ended.data_file
        part = Part(
            self._number,
            ended.source.name,
            ended.next_index,
            ended.next_position,
            data_file=name,
            rows=ended.rows,
            totals=self.progress.as_state(),
        )
        data = self._describe(self._folder.data / name, ended.written_rows) if name else None
        self._waiting.append(_Waiting(part, data, ended.metrics, ended.rejected))
        self._number += 1

    def _describe(self, path: Path, rows: int) -> WrittenFile:
        """Describe a data file that has its temporary name."""
        return describe_file(temporary(path), self._name(path), rows)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._folder.path).as_posix()

    def commit_parts(self) -> None:
        """Commit the parts that have ended since the last time, if any have."""
        if not self._waiting:
            return
        parts = [each.part for each in self._waiting]
        first = parts[0].number
        metrics = self._folder.metrics_parts / f"{first:06d}.parquet"  # a run that was killed writes it anew
        write_metrics(metrics, [each.metrics for each in self._waiting])
        rejects = self._folder.rejected_parts / f"{first:06d}.jsonl"
        rejected = [line for each in self._waiting for line in each.rejected]
        write_durably(rejects, "".join(rejected).encode())
        self._dataset.sync_ended()
        files = [CommittedFile(each.part.number, each.data) for each in self._waiting if each.data]
        rows = sum(part.rows for part in parts)
        files.append(CommittedFile(first, describe_file(metrics, self._name(metrics), rows)))
        files.append(CommittedFile(first, describe_file(rejects, self._name(rejects), len(rejected))))
        self._journal.add_parts(parts, files)
        self._dataset.publish()
        self._files |= {file.file.name: file for file in files}
        for part in parts:
            self.committed_rows += part.rows
            self._tell(
                "committed",
                source_file=part.source,
                part=part.number,
                data_file=part.data_file,
                rows=part.rows,
                rows_so_far=self.committed_rows,
            )
        self._waiting, self._uncommitted = [], PartSize()
        self._committed_at = time.monotonic()

    def finish(self, changed: Collection[str] = ()) -> None:
        """Commit the last part, bring all data parts to one schema, and put metrics and rejects together.

        Rows of sources that have ``changed`` while they were read are marked.

        Raises:
            OutputError: what was committed has been changed meanwhile.
        """
        self._end_part()
        self.commit_parts()
        if why := first_damage(self._folder.path, [file.file for file in self._files.values()]):
            raise OutputError(f"{why}; run the same command again, which does its rows again")
        self._dataset.finish(self._note_rewritten)
        join_metrics(self._folder.metrics, self._committed_in(self._folder.metrics_parts), changed)
        _join_files(self._folder.rejected, self._committed_in(self._folder.rejected_parts))

    def totals(self) -> Totals:
        """Add up all rows so far, those too that are not committed."""
        totals = read_totals(*self._committed_in(self._folder.metrics_parts))
        totals.add(*(row for waiting in self._waiting for row in waiting.metrics), *self._open.metrics)
        return totals

    def manifest(self) -> list[WrittenFile]:
        """Describe what the finished run leaves: its data files in order, its metrics and rejects."""
        folder = self._folder
        data, rejects = (
            [self._files[self._name(path)].file for path in self._committed_in(parts)]
            for parts in (folder.data, folder.rejected_parts)
        )
        rejected = sum(file.rows for file in rejects)
        return [
            *data,
            describe_file(folder.metrics, self._name(folder.metrics), self.progress.rows),
            describe_file(folder.rejected, self._name(folder.rejected), rejected),
        ]

    def _committed_in(self, folder: Path) -> list[Path]:
        """Return the files of committed parts in a folder, in order."""
        return [path for name in self._files if (path := self._folder.path / name).parent == folder]

    def _note_rewritten(self, path: Path) -> None:
        """Put down that a part is about to be replaced: a kill from now on leaves the old one or the new one."""
        old = self._files[self._name(path)]
        new = CommittedFile(old.part, self._describe(path, old.file.rows), rewritten=True)
        self._journal.replace_file(new)
        self._files[self._name(path)] = new

    def abort(self) -> None:
        """Drop what is not committed."""
        self._dataset.abort()


def _join_files(path: Path, parts: list[Path]) -> None:
    with temporary(path).open("wb") as file:
        for part in parts:
            file.write(part.read_bytes())
    publish(path)
