"""The figures of a plan: sums over rows, for each target, that can be joined in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, get_args

from trajcompress.metrics.row import Outcome, RowMetrics, rows_written
from trajcompress.metrics.totals import Totals
from trajcompress.planning.advice import Advice
from trajcompress.planning.lengths import Lengths
from trajcompress.planning.requests import Requests
from trajcompress.planning.rows import PlannedRow
from trajcompress.run.rows.row import Accepted, Parsed
from trajcompress.transcript.trajectory import Trajectory

_MOST_OVER = 5


@dataclass(slots=True)
class OverRow:
    """A row of a ``part`` that stays over the target, with what is expected of it and, once looked at, what helps."""

    part: int
    metrics: RowMetrics
    trajectory: Trajectory
    advice: Advice | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        row, advice = self.metrics, self.advice
        return {
            "source_file": row.source_file,
            "source_row": row.source_row,
            "source_line": row.source_line,
            "trajectory_id": row.trajectory_id,
            "reason": row.reason,
            "tokens": row.compressed_tokens,
            "largest_turn": row.largest_turn,
            "largest_turn_role": row.largest_turn_role,
            "largest_turn_tokens": row.largest_turn_tokens,
            "tried": [asdict(tried) for tried in advice.tried] if advice else [],
            "helps": list(advice.sentences) if advice else [],
        }


@dataclass(slots=True)
class TargetPlan:
    """Sums over all rows for one target.

    ``causes`` are the reasons of rows that stay over the target; ``in_dataset`` counts the rows that are written;
    ``most_over`` are the longest of those that stay over, the first of the input among equals.
    """

    target_max_tokens: int
    requests: Requests = field(default_factory=Requests)
    totals: Totals = field(default_factory=Totals)
    causes: Counter[str] = field(default_factory=Counter)
    in_dataset: int = 0
    most_over: list[OverRow] = field(default_factory=list)

    def add(self, planned: PlannedRow, parsed: Parsed, part: int) -> None:
        """Add one row; those of a part come in their order."""
        row = planned.metrics
        if row.still_over_limit and row.compressed_tokens is not None and isinstance(parsed.made, Accepted):
            self._add_over(OverRow(part, replace(row, source_line=parsed.made.line), parsed.made.trajectory))
        self.requests.join(planned.requests)
        self.totals.add(row)
        self.in_dataset += rows_written(row)
        if row.still_over_limit and row.reason:
            self.causes[row.reason] += 1

    def join(self, other: TargetPlan) -> None:
        """Add all rows of other parts."""
        self.requests.join(other.requests)
        self.totals.join(other.totals)
        self.causes += other.causes
        self.in_dataset += other.in_dataset
        self._add_over(*other.most_over)

    def _add_over(self, *rows: OverRow) -> None:
        self.most_over += rows
        self.most_over.sort(key=lambda over: (-(over.metrics.compressed_tokens or 0), over.part))
        del self.most_over[_MOST_OVER:]

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values; names that ``summary.json`` has mean the same here."""
        totals = self.totals
        return {
            "target_max_tokens": self.target_max_tokens,
            "rows": totals.rows,
            **{outcome: totals.outcomes[outcome] for outcome in get_args(Outcome)},
            "in_dataset": self.in_dataset,
            "still_over_limit": totals.still_over_limit,
            "causes": dict(sorted(self.causes.items())),
            "largest_over": [over.as_dict() for over in self.most_over],
            "reasons": dict(sorted(totals.reasons.items())),
            "original_tokens": totals.original_tokens,
            "expected_tokens": totals.compressed_tokens,
            "tokens_saved": totals.tokens_saved,
            "assistant_tokens_original": totals.assistant_tokens_original,
            "assistant_tokens_kept": totals.assistant_tokens_kept,
        }


@dataclass(slots=True)
class PlanFigures:
    """What a run would do with each target, and the lengths of the rows that can be counted."""

    targets: tuple[TargetPlan, ...]
    lengths: Lengths = field(default_factory=Lengths)

    @classmethod
    def of(cls, targets: Sequence[int]) -> PlanFigures:
        """Return those of no row."""
        return cls(tuple(map(TargetPlan, targets)))

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.targets[0].totals.rows

    def add(self, parsed: Parsed, rows: Sequence[PlannedRow], part: int) -> None:
        """Add what is expected of one row, for each target."""
        for target, row in zip(self.targets, rows, strict=True):
            target.add(row, parsed, part)
        if (tokens := rows[0].metrics.original_tokens) is not None:
            self.lengths.add(tokens)

    def join(self, other: PlanFigures) -> None:
        """Add those of other parts."""
        for target, more in zip(self.targets, other.targets, strict=True):
            target.join(more)
        self.lengths.join(other.lengths)
