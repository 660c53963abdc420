"""How far a run is, in counts over its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from trajcompress.metrics.row import RowMetrics
from trajcompress.metrics.totals import not_handled


class Progress(Struct):
    """Counts over the rows so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    tokens_saved: int = 0
    summarization_api_calls: int = 0

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Progress:
        """Take up what :meth:`as_state` returned."""
        outcomes = Counter(state["outcomes"])
        return cls(outcomes, state.get("tokens_saved", 0), state["summarization_api_calls"])

    def add(self, row: RowMetrics) -> None:
        """Add one row."""
        self.outcomes[row.outcome] += 1
        self.tokens_saved += row.tokens_saved or 0
        self.summarization_api_calls += row.summarization_api_calls

    def join(self, other: Progress) -> None:
        """Add what was counted elsewhere."""
        self.outcomes.update(other.outcomes)
        self.tokens_saved += other.tokens_saved
        self.summarization_api_calls += other.summarization_api_calls

    def without(self, other: Progress) -> Progress:
        """Return what is left where some rows are to be done again."""
        return Progress(
            self.outcomes - other.outcomes,
            self.tokens_saved - other.tokens_saved,
            self.summarization_api_calls - other.summarization_api_calls,
        )

    @property
    def rows(self) -> int:
        """All rows."""
        return self.outcomes.total()

    @property
    def not_handled(self) -> int:
        """Rows that failed or were rejected: what ``--max-failed`` limits."""
        return not_handled(self.outcomes)

    def as_state(self) -> dict[str, Any]:
        """Return everything as JSON values, as they are now."""
        return {
            "outcomes": dict(self.outcomes),
            "tokens_saved": self.tokens_saved,
            "summarization_api_calls": self.summarization_api_calls,
        }
