"""The totals of a run, added up row by row: what ``summary.json`` and the closing table show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from trajcompress.errors import InputError
from trajcompress.metrics.row import COLUMNS, RowMetrics
from trajcompress.summarize.base import add_costs


@dataclass(slots=True)
class Totals:
    """Sums over all rows so far. Tokens are those of rows that could be counted."""

    rows: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    count_methods: Counter[str] = field(default_factory=Counter)
    summarizers: Counter[str] = field(default_factory=Counter)
    still_over_limit: int = 0
    original_tokens: int = 0
    compressed_tokens: int = 0
    assistant_tokens_original: int = 0  # of rows over budget
    assistant_tokens_kept: int = 0
    facts_needed: int = 0  # of compressed rows
    facts_kept: int = 0
    summarization_api_calls: int = 0
    summarization_errors: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0  # None where the price of a call is unknown

    @classmethod
    def of(cls, rows: Iterable[RowMetrics]) -> Totals:
        """Add all rows up."""
        totals = cls()
        for row in rows:
            totals.add(row)
        return totals

    def add(self, row: RowMetrics) -> None:
        """Add one row."""
        self.rows += 1
        self.outcomes[row.outcome] += 1
        if row.reason:
            self.reasons[row.reason] += 1
        if row.count_method:
            self.count_methods[row.count_method] += 1
        if row.summarizer:
            self.summarizers[row.summarizer] += 1
        self.still_over_limit += row.still_over_limit
        self.original_tokens += row.original_tokens or 0
        self.compressed_tokens += row.compressed_tokens or 0
        self.assistant_tokens_original += row.assistant_tokens_original or 0
        self.assistant_tokens_kept += row.assistant_tokens_kept or 0
        self.facts_needed += row.facts_needed or 0
        self.facts_kept += row.facts_kept or 0
        self.summarization_api_calls += row.summarization_api_calls
        self.summarization_errors += row.summarization_errors
        self.cache_hits += row.cache_hits
        self.prompt_tokens += row.prompt_tokens
        self.completion_tokens += row.completion_tokens
        self.cost_usd = add_costs(self.cost_usd, row.cost_usd)

    def as_state(self) -> dict[str, Any]:
        """Return everything as JSON values as they are now, to go on from with :meth:`from_state`."""
        return {field.name: copy(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Totals:
        """Take up totals where :meth:`as_state` left them."""
        totals = cls()
        for name, value in state.items():
            setattr(totals, name, Counter(value) if isinstance(value, dict) else value)
        return totals

    @property
    def tokens_saved(self) -> int:
        """Tokens that the dataset no longer has."""
        return self.original_tokens - self.compressed_tokens

    @property
    def not_handled(self) -> int:
        """Rows that failed or were rejected: what ``--max-failed`` limits."""
        return self.outcomes["failed"] + self.outcomes["rejected"]

    def as_figures(self) -> dict[str, int | float | None]:
        """Return those of the totals that are plain numbers."""
        return {name: value for name, value in self.as_dict().items() if not isinstance(value, dict)}

    def as_dict(self) -> dict[str, Any]:
        """Return the totals as JSON values."""
        kept = self.assistant_tokens_kept / self.assistant_tokens_original if self.assistant_tokens_original else None
        return {
            "rows": self.rows,
            "compressed": self.outcomes["compressed"],
            "skipped_under_target": self.outcomes["skipped_under_target"],
            "unchanged": self.outcomes["unchanged"],
            "failed": self.outcomes["failed"],
            "rejected": self.outcomes["rejected"],
            "still_over_limit": self.still_over_limit,
            "reasons": dict(sorted(self.reasons.items())),
            "count_methods": dict(sorted(self.count_methods.items())),
            "summarizers": dict(sorted(self.summarizers.items())),
            "original_tokens": self.original_tokens,
            "compressed_tokens": self.compressed_tokens,
            "tokens_saved": self.tokens_saved,
            "compression_ratio": self.compressed_tokens / self.original_tokens if self.original_tokens else None,
            "assistant_tokens_original": self.assistant_tokens_original,
            "assistant_tokens_kept": self.assistant_tokens_kept,
            "assistant_tokens_kept_ratio": kept,
            "facts_needed": self.facts_needed,
            "facts_kept": self.facts_kept,
            "summarization_api_calls": self.summarization_api_calls,
            "summarization_errors": self.summarization_errors,
            "cache_hits": self.cache_hits,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost_usd": self.cost_usd,
        }


def read_metrics(path: Path) -> Iterator[RowMetrics]:
    """Read the metrics that a run has left, row by row.

    Raises:
        InputError: they cannot be read.
    """
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=list(COLUMNS)):
                for values in batch.to_pylist():
                    yield RowMetrics(**values)
    except (OSError, ValueError, TypeError) as error:  # Arrow's are such
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"{path}: cannot be read as metrics: {reason}; put it back, or make the run again"
        ) from error
