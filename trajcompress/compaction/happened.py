"""What happened to a row, as the core returns it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.state import State
from trajcompress.metrics.row import RowMetrics
from trajcompress.tokens.counter import Count
from trajcompress.transcript.trajectory import Turn

FORM_UNFIT = "form_unfit"


@dataclass(frozen=True, slots=True)
class Happened:
    """What happened to one trajectory.

    ``count`` is None where nobody can say. ``first`` is the state in which a row over its budget was measured,
    ``last`` the one to be written, or ``segments`` are; without either the row stays as it was, for ``reason``, and
    has ``failed`` where a summary was needed and could not be had.
    """

    count: Count | None
    first: State | None = None
    last: State | None = None
    reason: str | None = None
    error: str | None = None
    failed: bool = False
    segments: tuple[Segment, ...] = ()


@dataclass(frozen=True, slots=True)
class Compacted:
    """What became of a row: its turns, None where it stays as it is or becomes ``segments``, and its metrics."""

    turns: tuple[Turn, ...] | None
    metrics: RowMetrics
    segments: tuple[Segment, ...] = ()
