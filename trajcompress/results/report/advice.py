"""What to do about a figure of a run, in a sentence each. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajcompress.metrics.totals import Totals

_MANY_COMPRESSED = 0.5
_LITTLE_KEPT = 0.8
_MANY_FAILED_CALLS = 0.05
_NOTHING = "Nothing to do."


def saved(totals: Totals) -> str:
    """Say what to do about how much was taken out."""
    if not totals.outcomes["compressed"]:
        return "Nothing was compressed: without --target-max-tokens of your trainer this may be the wrong target."
    return "Look at the most compressed rows below: is what you train on still there?"


def rows(totals: Totals) -> str:
    """Say what to do where most rows had to be compressed."""
    if totals.rows and totals.outcomes["compressed"] > _MANY_COMPRESSED * totals.rows:
        return "Most rows are over the target: a longer window (--target-max-tokens) keeps more of them."
    return _NOTHING


def over(totals: Totals) -> str:
    """Say what to do about rows that do not fit."""
    if not totals.still_over_limit:
        return _NOTHING
    if totals.still_over_limit == totals.unfit_over_limit:
        return "Your trainer has no form for them, which is no matter of length: error in metrics.parquet says why."
    return "Your trainer cuts or drops them. What helps stands below; --no-save-over-limit leaves them out."


def loses_much(totals: Totals) -> bool:
    """Whether much of what is trained on is gone."""
    ratio = totals.assistant_tokens_kept_ratio
    return ratio is not None and ratio < _LITTLE_KEPT


def assistant_kept(totals: Totals, settings: Mapping[str, Any]) -> str:
    """Say what to do where much of what is trained on is gone."""
    if not loses_much(totals):
        return _NOTHING
    if settings.get("compression.prune") not in (None, "all"):
        return "Clear old observations before turns are summarised: --prune all."
    if settings.get("compression.fit") != "strict":
        return "Cut long observations before turns are summarised: --fit strict."
    return "It is what you train on: a larger --target-max-tokens keeps more, or fewer --keep-observations."


def facts(totals: Totals) -> str:
    """Say what to do about lost facts."""
    if totals.facts_kept >= totals.facts_needed:
        return _NOTHING
    return "The rows that lost most are named below; a larger --summary-target-tokens makes room for them."


def not_handled(totals: Totals) -> str:
    """Say what to do about rows that failed or were rejected."""
    failed, rejected = totals.outcomes["failed"], totals.outcomes["rejected"]
    if failed:
        return "Their original is in the dataset, too long. The reasons stand below and in metrics.parquet."
    return "rejected.jsonl has them, with line and reason: repair them in the input." if rejected else _NOTHING


def calls(totals: Totals) -> str:
    """Say what to do about calls that failed."""
    made, failed = totals.summarization_api_calls, totals.summarization_errors
    if made and failed > _MANY_FAILED_CALLS * made:
        return f"{failed:,} of them failed, and may be paid for: a lower --rpm or --max-concurrent-requests may help."
    return _NOTHING
