"""The data of a comparison of runs: totals, settings that differ, rows that differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trajcompress.metrics.totals import Totals
from trajcompress.results.audit.files import MetricsFile


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run, with the totals of all of its rows and of those that every run has."""

    file: MetricsFile
    totals: Totals
    common: Totals


@dataclass(frozen=True, slots=True)
class Side:
    """What became of a row in one run."""

    outcome: str
    reason: str | None
    still_over_limit: bool
    original_tokens: int | None
    compressed_tokens: int | None
    assistant_tokens_original: int | None
    assistant_tokens_kept: int | None
    facts_needed: int | None
    facts_kept: int | None
    summarization_api_calls: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class DifferingRow:
    """A row that the runs share and did not end alike in, by its name in the first; a side for each run."""

    source_file: str
    source_row: int  # from 0
    trajectory_id: str | None
    sides: tuple[Side, ...]
    source_line: int | None = None  # from 1; None where the input has no lines, or the metrics do not say


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs side by side.

    ``common_rows`` are in all of them and ``differing`` of these ended otherwise or with other figures, the first of
    which are ``rows``. ``settings`` are those that differ, with the value of each run; ``changed_inputs`` have the
    same name and not the same content; ``from_stdin`` are the places of runs that read standard input, unlike others.
    """

    runs: tuple[ComparedRun, ...]
    common_rows: int
    differing: int
    rows: tuple[DifferingRow, ...]
    settings: Mapping[str, tuple[Any, ...]]
    changed_inputs: tuple[str, ...]
    from_stdin: tuple[int, ...] = ()

    @property
    def are_of_the_same_rows(self) -> bool:
        """Whether no run has a row that another has not."""
        return all(run.totals.rows == self.common_rows for run in self.runs)
