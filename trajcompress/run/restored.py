"""Rows that were finished before, restored from what was written for them: nothing is counted or summarised again.

Whatever did not change is taken from the input, byte for byte; of a compressed row the messages are taken from the
dataset.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from trajcompress.compaction.provenance import recorded
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import InputError
from trajcompress.metrics.row import RowMetrics, rows_written
from trajcompress.run.row import Accepted, Finished, Parsed, Rejected, admit, only_columns, reject


def restore(
    parsed: Parsed,
    metrics: RowMetrics,
    rows: Iterator[dict[str, Any]],
    data: Location,
    columns: Sequence[str] | None,
) -> Finished:
    """Return a row as it was finished before.

    Args:
        parsed: the row as it is read.
        metrics: what became of it.
        rows: the rows of the dataset from the first on that was written for it.
        data: where these are, to be named.
        columns: those that are written; None for all.

    Raises:
        InputError: the dataset lacks a row.
    """
    if isinstance(parsed.made, Rejected):
        return reject(parsed, metrics, parsed.made)
    if metrics.outcome == "rejected":
        return reject(parsed, metrics, parsed.made.reject(metrics.reason or "", metrics.error or ""))
    written = list(islice(rows, rows_written(metrics)))
    if len(written) < rows_written(metrics):
        raise InputError(f"{data}: a part is gone; put it back, or make it again")
    accepted = parsed.made
    return admit(parsed, accepted, metrics, tuple(_restore(accepted, metrics, each, columns) for each in written))


def _restore(
    accepted: Accepted, metrics: RowMetrics, written: dict[str, Any], columns: Sequence[str] | None
) -> dict[str, Any]:
    """Return a row as it was before it was written: what did not change comes from the input."""
    row = accepted.trajectory.row
    if metrics.was_compressed or metrics.formed:
        row = {**row, **{name: written[name] for name in accepted.trajectory.message_columns}}
    name, record = recorded(written)
    if name in written and (name not in row or row[name] != record):
        row = {**row, name: record}
    return only_columns(row, columns)
