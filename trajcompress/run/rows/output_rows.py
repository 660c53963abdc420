"""The rows of the dataset that one row becomes, with all their columns. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from trajcompress.compaction.provenance import with_column, with_provenance
from trajcompress.compaction.segments.columns import SEGMENT_COLUMNS, is_segment, with_segment_columns
from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.state import State
from trajcompress.formats.adapter import replace_turns
from trajcompress.run.rows.per_turn import in_step
from trajcompress.transcript.summary_marks import PROVENANCE_COLUMN
from trajcompress.transcript.trajectory import Trajectory

Numbered: TypeAlias = tuple[int, Segment]
"""A segment, and which of its row it is, from 1."""

ADDED_COLUMNS = frozenset({PROVENANCE_COLUMN, *SEGMENT_COLUMNS})
"""Columns that rows may get."""


class Writing(Struct, frozen=True):
    """What of a row is written: the ``columns``, None for all, and which rows say what became of them.

    ``provenance``: which have a column that says what a summary replaced, and what the form of a target changed.
    ``segments``: rows have the columns that name them as segments. ``per_turn`` are columns of a value for each turn.
    """

    provenance: Literal["off", "changed", "all"] = "off"
    columns: Collection[str] | None = None
    segments: bool = False
    per_turn: Collection[str] = ()


def segment_rows(
    trajectory: Trajectory, segments: Sequence[Numbered], of: int, writing: Writing
) -> Iterator[dict[str, Any]]:
    """Yield the rows that are written of an over-long row: these ``of`` all its segments."""
    for number, segment in segments:
        turns, places = segment.composed.turns, [each.place for each in segment.composed.placings]
        row = replace_turns(trajectory, turns, places)
        row = in_step(row, trajectory, writing.per_turn, places) if writing.per_turn else row
        row = with_column(row) if writing.provenance == "all" else row  # before ours, as of rows that stay one
        row = with_segment_columns(row, trajectory.id, number, of, segment.kind)
        yield only_columns(row, writing.columns, trajectory.message_columns)


def row_to_write(trajectory: Trajectory, last: State | None, writing: Writing) -> dict[str, Any]:
    """Return what is written of a row that stays one; without a ``last`` state it stays as it is."""
    row = replace_turns(trajectory, last.written, last.places) if last else trajectory.row
    if writing.per_turn and (last or trajectory.formed):
        row = in_step(row, trajectory, writing.per_turn, last.places if last else range(len(trajectory.turns)))
    row = with_provenance(row, trajectory, last, wanted=writing.provenance != "off")
    row = with_column(row) if writing.provenance == "all" else row
    if writing.segments and not is_segment(row):
        row = with_segment_columns(row, trajectory.id, 1, 1, "stretch")
    return only_columns(row, writing.columns, trajectory.message_columns)


def only_columns(row: dict[str, Any], columns: Collection[str] | None, messages: Collection[str]) -> dict[str, Any]:
    """Return a row with these columns, its messages and what was added to it; with all where None are named."""
    if columns is None:
        return row
    kept = {*columns, *messages, *ADDED_COLUMNS}
    return row if kept.issuperset(row) else {name: value for name, value in row.items() if name in kept}
