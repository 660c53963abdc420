"""The figures of a run: each is defined here, once, by the columns of the metrics that it is added up from.

``summary.json``, the dataset card, the closing table, ``audit`` and ``report`` show these. They are added up in plain
Python, a column of a batch at a time: a million rows take a second. To load DuckDB, as ``audit`` does to select rows,
would cost every small run a sixth of a second.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import TYPE_CHECKING, Any, get_args

from trajcompress.errors import NO_SUMMARY
from trajcompress.metrics.reasons import UNCOUNTABLE
from trajcompress.metrics.row import Outcome, RowMetrics
from trajcompress.transcript.violation import TEMPLATE_REFUSES

if TYPE_CHECKING:  # loading it costs more than the whole of --help
    import pyarrow as pa


def _figure(fold: Callable[..., Any], *columns: str, start: Callable[[], Any] = int) -> Any:
    """Define a figure: ``fold`` takes it and what some more rows have in ``columns``, and returns it with these."""
    return field(default_factory=start, metadata={"fold": fold, "columns": columns})


def _rows_by(column: str) -> Any:
    """Count rows by their value in a column, without those that have none."""

    def fold(counts: Counter[str], values: Iterable[str | None]) -> Counter[str]:
        counts.update(filter(None, values))
        return counts

    return _figure(fold, column, start=Counter)


def _rows_where(holds: Callable[..., bool], *columns: str) -> Any:
    """Count the rows whose values in some columns meet a condition."""
    return _figure(lambda rows, *values: rows + sum(map(holds, *values)), *columns)


def _sum_of(column: str) -> Any:
    """Add up a column of whole numbers or flags, where null is nothing."""
    return _figure(lambda total, values: total + sum(filter(None, values)), column)


def _cost(total: float | None, costs: Collection[float | None]) -> float | None:
    """Add costs in the order of rows, so that the last bit is always the same; one that is unknown makes all so."""
    return None if total is None or None in costs else reduce(operator.add, costs, total)


def _known_cost(total: float, costs: Iterable[float | None]) -> float:
    return reduce(operator.add, filter(None, costs), total)


def not_handled(outcomes: Counter[str]) -> int:
    """Return how many rows failed or were rejected."""
    return outcomes["failed"] + outcomes["rejected"]


@dataclass(slots=True)
class Totals:
    """Figures over all rows. Tokens are those of rows that could be counted, costs are in USD."""

    rows: int = 0
    outcomes: Counter[str] = _rows_by("outcome")  # noqa: RUF009 - makes a field
    reasons: Counter[str] = _rows_by("reason")  # noqa: RUF009 - makes a field
    count_methods: Counter[str] = _rows_by("count_method")  # noqa: RUF009 - makes a field
    summarizers: Counter[str] = _rows_by("summarizer")  # noqa: RUF009 - makes a field
    in_dataset: int = _sum_of("in_dataset")
    still_over_limit: int = _sum_of("still_over_limit")
    unfit_over_limit: int = _rows_where(  # those of them that the target has no form for, so that no budget helps
        lambda reason, over: bool(over) and reason == "form_unfit", "reason", "still_over_limit"
    )
    failed_over_limit: int = _rows_where(  # and those that failed or cannot be counted, which no budget helps either
        lambda outcome, reason, over: bool(over) and (outcome == "failed" or reason == UNCOUNTABLE),
        *("outcome", "reason", "still_over_limit"),
    )
    rows_written: int = _sum_of("rows_written")  # of the dataset; more than rows of the input in segments
    rows_over_limit: int = _sum_of("rows_over_limit")  # of these
    formed: int = _sum_of("formed")  # the form that --for asks for changed them
    input_invalid: int = _sum_of("input_invalid")  # the target would refuse them as they were read
    output_invalid: int = _rows_where(bool, "output_faults")  # and as they are written
    newly_invalid: int = _rows_where(bool, "new_faults")  # written with faults that they were not read with
    template_refused: int = _rows_where(  # as they are written
        lambda faults: TEMPLATE_REFUSES in (faults or ""), "output_faults"
    )
    original_tokens: int = _sum_of("original_tokens")
    compressed_tokens: int = _sum_of("compressed_tokens")
    tokens_saved: int = _sum_of("tokens_saved")
    assistant_tokens_original: int = _sum_of("assistant_tokens_original")  # of rows over budget
    assistant_tokens_kept: int = _sum_of("assistant_tokens_kept")
    facts_needed: int = _sum_of("facts_needed")  # of compressed rows
    facts_kept: int = _sum_of("facts_kept")
    facts_unknown: int = _rows_where(
        lambda outcome, needed: outcome == "compressed" and needed is None, "outcome", "facts_needed"
    )
    summarization_api_calls: int = _sum_of("summarization_api_calls")
    summarization_errors: int = _sum_of("summarization_errors")
    cache_hits: int = _sum_of("cache_hits")
    prompt_tokens: int = _sum_of("prompt_tokens")
    cached_tokens: int = _sum_of("cached_tokens")  # of those
    completion_tokens: int = _sum_of("completion_tokens")
    cost_usd: float | None = _figure(_cost, "cost_usd", start=float)  # None where the price of a call is unknown
    known_cost_usd: float = _figure(_known_cost, "cost_usd", start=float)
    asked_model: int = _rows_where(bool, "summarization_api_calls")
    asked_without_price: int = _rows_where(
        lambda calls, cost: bool(calls) and cost is None, "summarization_api_calls", "cost_usd"
    )
    no_summary: int = _rows_where(bool, "non_summaries")  # a model answered with none
    no_summary_failed: int = _rows_where(  # those of them that failed by it
        lambda answers, outcome, reason: bool(answers) and outcome == "failed" and reason in NO_SUMMARY,
        *("non_summaries", "outcome", "reason"),
    )

    def add(self, *rows: RowMetrics) -> None:
        """Add rows."""
        self._add(len(rows), {name: [getattr(row, name) for row in rows] for name in USED})

    def add_batch(self, batch: pa.RecordBatch) -> None:
        """Add rows as they are read from metrics; figures whose columns these lack stay as they are."""
        names = [name for name in batch.schema.names if name in USED]
        self._add(batch.num_rows, {name: batch[name].to_pylist() for name in names})

    def _add(self, rows: int, values: Mapping[str, Collection[Any]]) -> None:
        self.rows += rows
        for name, (fold, columns) in _FIGURES.items():
            if all(column in values for column in columns):
                setattr(self, name, fold(getattr(self, name), *(values[column] for column in columns)))

    def join(self, other: Totals) -> None:
        """Add what other rows add up to."""
        for each in fields(self):
            one, more = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, None if one is None or more is None else one + more)

    @property
    def not_handled(self) -> int:
        """Rows that failed or were rejected: what ``--max-failed`` limits."""
        return not_handled(self.outcomes)

    @property
    def has_price(self) -> bool:
        """Whether the price is known of any call."""
        return self.asked_model > self.asked_without_price

    @property
    def compression_ratio(self) -> float | None:
        """Tokens after by tokens before; None where none were counted."""
        return self.compressed_tokens / self.original_tokens if self.original_tokens else None

    @property
    def assistant_tokens_kept_ratio(self) -> float | None:
        """Share of the assistant's tokens that is kept, of rows over budget; None where there are none."""
        return self.assistant_tokens_kept / self.assistant_tokens_original if self.assistant_tokens_original else None

    def as_dict(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds, as JSON values."""
        figures = {name: getattr(self, name) for name in _SUMMARY}
        return {
            "rows": self.rows,
            **{outcome: self.outcomes[outcome] for outcome in get_args(Outcome)},
            **{
                name: dict(sorted(each.items())) if isinstance(each, Counter) else each
                for name, each in figures.items()
            },
        }

    def as_figures(self) -> dict[str, int | float | None]:
        """Return those of them that are plain numbers."""
        return {name: value for name, value in self.as_dict().items() if not isinstance(value, dict)}


_FIGURES = {each.name: (each.metadata["fold"], each.metadata["columns"]) for each in fields(Totals) if each.metadata}
USED = tuple(dict.fromkeys(column for _, columns in _FIGURES.values() for column in columns))
"""The columns of the metrics that totals are made of."""
_SUMMARY = (
    "in_dataset", "still_over_limit", "rows_written", "rows_over_limit", "input_invalid", "output_invalid",
    "newly_invalid", "template_refused", "reasons", "count_methods", "summarizers",
    "original_tokens", "compressed_tokens", "tokens_saved", "compression_ratio",
    "assistant_tokens_original", "assistant_tokens_kept", "assistant_tokens_kept_ratio", "facts_needed",
    "facts_kept", "summarization_api_calls", "summarization_errors", "cache_hits", "prompt_tokens",
    "cached_tokens", "completion_tokens", "cost_usd",
)  # fmt: skip
