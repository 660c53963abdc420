"""Rows that were finished before, restored from what was written for them: nothing is counted or summarised again.

Whatever did not change is taken from the input, byte for byte; of a compressed row the messages are taken from the
dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from trajcompress.compaction.happened import BELOW_MIN_TOKENS, FORM_UNFIT, OVER_LIMIT, LeftOut
from trajcompress.compaction.provenance import provenance_in
from trajcompress.compaction.segments.columns import SEGMENT_COLUMNS
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError
from trajcompress.metrics.row import RowMetrics, rows_written
from trajcompress.metrics.segment import SegmentMetrics
from trajcompress.run.rows.output_rows import only_columns
from trajcompress.run.rows.row import Accepted, Finished, Parsed, Rejected, leave_out, reject


class Before(Struct, frozen=True):
    """What is left of a run: the rows of its dataset from some row on, and their segments if they are such.

    ``data`` names where these are, ``columns`` those that are written, None for all, ``per_turn`` those that hold a
    value for each turn.
    """

    rows: Iterator[dict[str, Any]]
    data: Location
    columns: Sequence[str] | None
    segments: Iterator[SegmentMetrics] | None = None
    per_turn: Sequence[str] = ()


def restore(parsed: Parsed, metrics: RowMetrics, before: Before) -> Finished:
    """Return a row as it was finished before.

    Args:
        parsed: the row as it is read.
        metrics: what became of it.
        before: what was written for it comes next in this.

    Raises:
        InputError: the dataset lacks a row.
    """
    if isinstance(parsed.made, Rejected):
        return reject(parsed, metrics, parsed.made)
    if metrics.outcome == "rejected":
        return reject(parsed, metrics, parsed.made.reject(metrics.reason or "", metrics.error or ""))
    written = list(islice(before.rows, rows_written(metrics)))
    if len(written) < rows_written(metrics):
        raise InputError(f"{before.data}: a part is gone; put it back, or make it again")
    accepted = parsed.made
    if not metrics.in_dataset:
        return leave_out(parsed, accepted, metrics, _left_out(metrics))
    restored = tuple(_restore(accepted, metrics, each, before) for each in written)
    if before.segments is None:
        return Finished(parsed, metrics, restored)
    restored = tuple(_with_segment_of(row, each) for row, each in zip(restored, written, strict=True))
    return Finished(parsed, metrics, restored, segments=tuple(islice(before.segments, len(written))))


def _left_out(metrics: RowMetrics) -> LeftOut:
    """Return why a row was left out of the dataset."""
    return next((why for why in (BELOW_MIN_TOKENS, FORM_UNFIT) if why == metrics.reason), OVER_LIMIT)


def _with_segment_of(row: dict[str, Any], written: dict[str, Any]) -> dict[str, Any]:
    names = [name for column in SEGMENT_COLUMNS for name in (column, f"{column}_2") if name in written]
    return {**row, **{name: written[name] for name in names}}


def _restore(accepted: Accepted, metrics: RowMetrics, written: dict[str, Any], before: Before) -> dict[str, Any]:
    """Return a row as it was before it was written: what did not change comes from the input."""
    row = accepted.trajectory.row
    if metrics.was_compressed or metrics.formed:
        names = (*accepted.trajectory.message_columns, *(name for name in before.per_turn if name in row))
        row = {**row, **{name: written[name] for name in names}}
    name, provenance = provenance_in(written)
    if name in written and (name not in row or row[name] != provenance):
        row = {**row, name: provenance}
    return only_columns(row, before.columns, accepted.trajectory.message_columns)
