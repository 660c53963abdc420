"""What a plan adds up to, for one target."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, get_args

from trajcompress.metrics.row import Outcome
from trajcompress.metrics.totals import Totals
from trajcompress.planning.requests import Requests
from trajcompress.planning.rows import PlannedRow


@dataclass(slots=True)
class TargetPlan:
    """Sums over all rows for one target.

    ``causes`` are the reasons of rows that stay over the target; ``in_dataset`` counts the rows that are written.
    """

    target_max_tokens: int
    requests: Requests = field(default_factory=Requests)
    totals: Totals = field(default_factory=Totals)
    causes: Counter[str] = field(default_factory=Counter)
    in_dataset: int = 0

    def add(self, planned: PlannedRow) -> None:
        """Add one row."""
        row = planned.metrics
        self.requests.join(planned.requests)
        self.totals.add(row)
        self.in_dataset += row.in_dataset
        if row.still_over_limit and row.reason:
            self.causes[row.reason] += 1

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
            "reasons": dict(sorted(totals.reasons.items())),
            "original_tokens": totals.original_tokens,
            "expected_tokens": totals.compressed_tokens,
            "tokens_saved": totals.tokens_saved,
        }
