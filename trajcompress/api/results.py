"""What compression gives back: frozen, of the kind that was given, with its metrics beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trajcompress.metrics.row import RowMetrics


@dataclass(frozen=True, slots=True)
class CompressedRow:
    """A row after compression; where ``metrics.outcome`` is not ``compressed`` it is the row that was given.

    Attributes:
        row: the row, with all its columns.
        metrics: one row of the metrics: outcome, reason, tokens and turns before and after, cost, and so on.
    """

    row: dict[str, Any]
    metrics: RowMetrics


@dataclass(frozen=True, slots=True)
class CompressedMessages:
    """A list of messages after compression; as it was given where ``metrics.outcome`` is not ``compressed``.

    Attributes:
        messages: the messages.
        metrics: as of :class:`CompressedRow`.
    """

    messages: list[dict[str, Any]]
    metrics: RowMetrics


@dataclass(frozen=True, slots=True)
class CompressedBatch:
    """A batch of rows after compression, as ``datasets`` passes and takes it.

    Attributes:
        columns: the values of each column, one for each row of the batch; None where a row lacks the column.
        metrics: one for each row.
    """

    columns: dict[str, list[Any]]
    metrics: list[RowMetrics]
