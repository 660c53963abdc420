"""What compression gives back: frozen, of the kind that was given, with its metrics beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.totals import Totals
from trajcompress.wording import counted

Kind = TypeVar("Kind")


def _told(metrics: RowMetrics) -> str:
    """Return what became of a row, in a line: a row itself fills pages of a notebook."""
    tokens = f"{metrics.original_tokens} → {metrics.compressed_tokens} tokens" if metrics.original_tokens else None
    return ", ".join(each for each in (metrics.outcome, metrics.reason, tokens) if each)


@dataclass(frozen=True, slots=True)
class CompressedRow:
    """A row after compression; where ``metrics.outcome`` is not ``compressed`` it is the row that was given.

    Attributes:
        row: the row, with all its columns.
        metrics: one row of the metrics: outcome, reason, tokens and turns before and after, cost, and so on.
    """

    row: dict[str, Any]
    metrics: RowMetrics

    def __repr__(self) -> str:
        columns = ", ".join(map(str, self.row)) if isinstance(self.row, Mapping) else type(self.row).__name__
        return f"<{type(self).__name__} {_told(self.metrics)}; row: {columns}>"


@dataclass(frozen=True, slots=True)
class CompressedMessages:
    """A list of messages after compression; as it was given where ``metrics.outcome`` is not ``compressed``.

    Attributes:
        messages: the messages.
        metrics: as of :class:`CompressedRow`.
    """

    messages: list[dict[str, Any]]
    metrics: RowMetrics

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {_told(self.metrics)}; {counted(len(self.messages), 'message')}>"


@dataclass(frozen=True, slots=True)
class RunningSummary:
    """The summary that stands in an agent's context, and what of the conversation it covers.

    Made of text and numbers, so that it can be kept as JSON: ``RunningSummary(**json.loads(kept))``.

    Attributes:
        text: what it says.
        message: the position of the message that is, or holds, it.
        start: the first message that it covers, counted in the conversation as it was before any summary.
        end: the first one behind these.
        kept: how many of them stand behind it all the same, word for word: 1 where the last request is one.
    """

    text: str
    message: int
    start: int
    end: int
    kept: int = 0


@dataclass(frozen=True, slots=True)
class CompactedMessages:
    """An agent's context after compaction.

    Attributes:
        messages: what to send next, and to go on with: those that were given where nothing was ``changed``.
        summary: the summary that stands in them, for ``previous`` of the next call; None where there is none.
        tokens_before: tokens of what was given, with its tools.
        tokens_after: tokens of ``messages``, with the tools.
        changed: whether ``messages`` are others than those that were given.
        reason: why nothing was changed: ``fits``, ``cooling_down``, ``saves_too_little``, or a reason as in the
            metrics. Of what was changed, what was done besides a summary (``pruned``, ``elided``), if anything.
        error: the same in words, where something failed.
        metrics: of the compaction: calls, cost, and so on, as for a row; None where none was tried.
    """

    messages: list[dict[str, Any]]
    summary: RunningSummary | None
    tokens_before: int
    tokens_after: int
    changed: bool
    reason: str | None = None
    error: str | None = None
    metrics: RowMetrics | None = None


@dataclass(frozen=True, slots=True)
class CompressedBatch:
    """A batch of rows after compression, as ``datasets`` passes and takes it.

    Attributes:
        columns: the values of each column, one for each row of the batch; None where a row lacks the column.
        metrics: one for each row.
    """

    columns: dict[str, list[Any]]
    metrics: list[RowMetrics]


@dataclass(frozen=True, slots=True)
class CompressedDataset(Generic[Kind]):
    """A data set after compression, of the kind that was given.

    Attributes:
        rows: The rows, in their order, but for those that are rejected. Of a generator or an ``IterableDataset`` they
            are compressed as they are taken, and the other attributes fill as that goes on; another pass over an
            ``IterableDataset`` compresses again, which a ``cache`` makes cheap, and fills them anew.
        metrics: One for each row that was given. ``source_row`` is its place, ``source_file`` the split of a
            ``DatasetDict``, else ``<memory>``.
        rejected: The rows that hold no trajectory, as they were given; the metrics say why.
    """

    rows: Kind
    metrics: list[RowMetrics] = field(default_factory=list)
    rejected: list[Any] = field(default_factory=list)

    @property
    def totals(self) -> Totals:
        """What the metrics add up to."""
        totals = Totals()
        for row in self.metrics:
            totals.add(row)
        return totals
