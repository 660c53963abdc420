"""One row of ``segments.parquet`` per row of a dataset in segments."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SegmentMetrics:
    """What one written row holds. Tokens are those of the whole row where nothing else is said.

    ``segment`` counts from 1 to ``segments``. Turns are those of the input row, ``[first_turn, end_turn)``.
    """

    source_file: str
    source_row: int
    trajectory_id: str | None
    segment: int
    segments: int
    kind: str
    tokens: int | None
    assistant_tokens: int | None = None  # trained; None of rows that were under the target, which are not measured
    context_assistant_tokens: int = 0  # of assistant turns that stand again
    first_turn: int = 0
    end_turn: int = 0
    summary_tokens: int | None = None
    facts_needed: int | None = None
    facts_kept: int | None = None
    over_limit: bool = False
