"""What a report shows: the figures behind its plots and tables, small however many rows there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from trajcompress.metrics.totals import Totals
from trajcompress.results.kept import Kept

Place: TypeAlias = tuple[str, int]
"""``source_file`` and ``source_row`` of the metrics."""


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Rows of more than ``low`` and up to ``high`` tokens, before and after; the target is an edge of two bins."""

    low: float
    high: float
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """One input file, or several that are shown as one. Tokens are those of rows that have a count after."""

    name: str
    rows: int
    still_over: int
    tokens_before: int
    tokens_saved: int
    files: int = 1


@dataclass(frozen=True, slots=True)
class Cause:
    """Why rows are still over the limit; ``excess`` is by how many tokens, in all and at most."""

    reason: str
    outcome: str  # of the first of its rows
    rows: int
    excess: int
    largest_excess: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive rows of the run, ``first`` to ``last`` from 0. Latency is in seconds, of rows that made calls."""

    first: int
    last: int
    calls: int
    failed_calls: int
    cache_hits: int
    mean_latency: float | None
    longest_latency: float | None
    cost_usd: float | None  # None: no row of it has a price


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A row to look at; ``amount`` is what makes it bad, in the unit of its list."""

    place: Place
    amount: int


@dataclass(frozen=True, slots=True)
class SegmentedRows:
    """Rows that became ``low`` to ``high`` segments each, with their tokens before and after."""

    low: int
    high: int
    rows: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that a report shows, but for the texts of rows."""

    target: int
    totals: Totals
    lengths: list[LengthBin]
    ratios: list[int]  # compressed rows by compression ratio, in equal steps from 0 to 1
    sources: list[SourceFigures]  # those that save most, the rest as one
    causes: list[Cause]
    facts_shares: list[int]  # rows by share of facts kept, as FACTS_SHARES names them
    stretches: list[Stretch]
    segmented: list[SegmentedRows]
    kept_by_length: list[Kept]
    kept_by_input: list[Kept]  # those that keep least of the assistant
    most_over: list[WorstRow]
    most_facts_lost: list[WorstRow]
    failed: list[WorstRow]
    most_saved: list[WorstRow]


FACTS_SHARES = ((1.0, "all kept"), (0.9, "90 % or more"), (0.75, "75 to 90 %"), (0.5, "50 to 75 %"), (0.0, "fewer"))
"""Least share of a row's facts that are kept, and what rows down to it are called."""
