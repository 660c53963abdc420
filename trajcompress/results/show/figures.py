"""The header of a shown row: its metrics in words. Pure."""

from __future__ import annotations

from typing import NamedTuple

from trajcompress.metrics.reasons import OUTCOMES
from trajcompress.metrics.remedies import largest_turn
from trajcompress.metrics.row import RowMetrics, rows_written
from trajcompress.results.show.summary import SummaryView
from trajcompress.wording import counted


class Figure(NamedTuple):
    """A line of the header."""

    name: str
    value: str


def figures_of(metrics: RowMetrics, limit: int, summary: SummaryView | None, tokenizer: str) -> list[Figure]:
    """Return the lines of the header that say something about this row."""
    lines = (
        ("outcome", _outcome(metrics)),
        ("tokens", _tokens(metrics, limit)),
        ("turns", _turns(metrics)),
        ("shortened", _shortened(metrics)),
        ("protected", _protected(metrics)),
        ("largest turn", str(size) if (size := largest_turn(metrics)) else None),
        ("summary", _summary(metrics, summary)),
        ("facts needed", _facts(metrics)),
        ("calls", _calls(metrics)),
        ("secrets", f"{metrics.redactions:,} became marks" if metrics.redactions else None),
        ("counted", _counted(metrics, tokenizer)),
        ("error", metrics.error),
        ("input", "its file changed while it was read, so the row may be torn" if metrics.input_changed else None),
    )
    return [Figure(name, value) for name, value in lines if value]


def _outcome(metrics: RowMetrics) -> str:
    left_out = "" if rows_written(metrics) or metrics.outcome == "rejected" else "; left out of the dataset"
    return OUTCOMES[metrics.outcome] + left_out + ("; STILL OVER THE LIMIT" if metrics.still_over_limit else "")


def _tokens(metrics: RowMetrics, limit: int) -> str | None:
    if metrics.original_tokens is None:
        return None
    text = f"{metrics.original_tokens:,}"
    if metrics.was_compressed and metrics.compression_ratio is not None:
        text += f" → {metrics.compressed_tokens:,} ({metrics.compression_ratio:.1%})"
    return f"{text}, limit {limit:,}"


def _turns(metrics: RowMetrics) -> str | None:
    if metrics.original_turns is None:
        return None
    if not metrics.was_compressed or metrics.region_start_idx is None or metrics.region_end_idx is None:
        return f"{metrics.original_turns:,}"
    first, last = metrics.region_start_idx, metrics.region_end_idx - 1
    which = f"turn {first}" if first == last else f"turns {first} to {last}"
    return f"{metrics.original_turns:,} → {metrics.compressed_turns:,}, {which} replaced"


def _shortened(metrics: RowMetrics) -> str | None:
    done = (
        (metrics.turns_pruned, "turn", "pruned"),
        (metrics.turns_elided, "turn", "cut to fit"),
        (metrics.requests_truncated, "request", "cut to fit"),
    )
    return ", ".join(f"{counted(number, noun)} {how}" for number, noun, how in done if number) or None


def _protected(metrics: RowMetrics) -> str | None:
    if metrics.head_tokens is None:
        return None
    return f"{metrics.head_tokens:,} tokens at the start, {metrics.tail_tokens or 0:,} at the end"


def _summary(metrics: RowMetrics, summary: SummaryView | None) -> str | None:
    if metrics.summarizer is None:
        return None
    text = f"{metrics.summary_tokens or 0:,} tokens by {metrics.summarizer}"
    if metrics.passes > 1:
        text += f" in {metrics.passes} passes"
    if summary is None:
        return text
    return f"{text}, folded into turn {summary.index}" if summary.folded else f"{text}, as turn {summary.index}"


def _facts(metrics: RowMetrics) -> str | None:
    return (
        None if metrics.facts_needed is None else f"{metrics.facts_kept or 0:,} of {metrics.facts_needed:,} are kept"
    )


def _calls(metrics: RowMetrics) -> str | None:
    if not metrics.summarization_api_calls:
        return None
    text = f"{metrics.summarization_api_calls:,}"
    if metrics.summarization_errors:
        text += f" ({metrics.summarization_errors:,} without a usable answer)"
    text += f", {metrics.prompt_tokens:,} tokens in, {metrics.completion_tokens:,} out"
    if metrics.cost_usd:
        text += f", ${metrics.cost_usd:.4f}"
    return f"{text}, {metrics.latency_s:.1f} s"


def _counted(metrics: RowMetrics, tokenizer: str) -> str | None:
    if metrics.count_method is None:
        return None
    how = "turn by turn" if metrics.count_method.startswith("content") else "as the chat template writes the row"
    refused = "the template refused it: " if metrics.count_method == "content_template_refused" else ""
    note = f" ({refused}{metrics.count_note})" if metrics.count_note else ""
    return f"with {tokenizer}, {how}{note}"
