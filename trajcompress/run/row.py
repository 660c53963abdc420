"""One row of a run: parsed where it is read, compressed on the event loop."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from trajcompress.compress import TrajectoryCompressor
from trajcompress.dataset.rows import Row, Source, Unreadable
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.metrics import RowMetrics
from trajcompress.run.committer import Finished, Rejected, reject_metrics
from trajcompress.run.selection import Item
from trajcompress.trajectory import Trajectory

_BYTES_PER_TURN = 64  # about what a message costs besides its text


@dataclass(frozen=True, slots=True)
class Accepted:
    """A row that holds a trajectory; ``raw`` is its own JSON text where it was read from one."""

    trajectory: Trajectory
    raw: bytes | None


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was made of a row that was read; ``size`` is about its bytes."""

    source: Source
    index: int
    made: Accepted | Rejected
    size: int


def parse_rows(items: Iterator[Item], options: FormatOptions) -> Iterator[Parsed]:
    """Parse each row as it is read."""
    for item in items:
        yield _parse(item.source, item.read, options)


def _parse(source: Source, read: Row | Unreadable, options: FormatOptions) -> Parsed:
    if isinstance(read, Unreadable):
        rejected = Rejected(_line(read), read.reason, read.detail, read.raw)
        return Parsed(source, read.index, rejected, len(read.raw))
    try:
        trajectory = read_trajectory(read.value, f"{source.stem}:{read.index}", options)
    except RowError as error:
        rejected = Rejected(_line(read), error.reason, str(error), _row_text(read))
        return Parsed(source, read.index, rejected, len(rejected.raw))
    size = len(read.raw) if read.raw else sum(len(turn.text) + _BYTES_PER_TURN for turn in trajectory.turns)
    return Parsed(source, read.index, Accepted(trajectory, read.raw), size)


async def finish_row(parsed: Parsed, compressor: TrajectoryCompressor) -> Finished:
    """Take a parsed row to its end.

    Raises:
        SummarizerUnusableError: no row can be summarised.
        EngineMismatchError: counts of the whole run are in doubt.
    """
    metrics = RowMetrics(parsed.source.name, parsed.index)
    if isinstance(parsed.made, Rejected):
        reject_metrics(metrics, parsed.made)
        return Finished(parsed.source, metrics, parsed.size, rejected=parsed.made)
    trajectory = parsed.made.trajectory
    turns = await compressor.compress(trajectory, metrics)
    if turns is None:
        return Finished(parsed.source, metrics, parsed.size, row=trajectory.row, raw=parsed.made.raw)
    return Finished(parsed.source, metrics, parsed.size, row=replace_turns(trajectory, turns))


def _line(read: Row | Unreadable) -> int:
    """Return the line that was read, counted from 1; in files without lines, the row."""
    return read.index + 1 if read.line is None else read.line


def _row_text(row: Row) -> str:
    """Return the text that a row was read from, as near as it can be had."""
    if row.raw is not None:
        return row.raw.decode("utf-8", "surrogateescape")
    return json.dumps(row.value, ensure_ascii=False, default=str)
