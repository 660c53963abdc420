"""Measuring one trajectory: its tokens, those of its turns, and where it may be cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from trajcompress.assemble import Placement
from trajcompress.metrics import RowMetrics
from trajcompress.plan import Layout, Protection, SummaryShare, lay_out
from trajcompress.rules import Target
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.trajectory import Trajectory

_PER_TURN_OVERHEAD_LIMIT = 64
"""No chat template spends more than this on the marks around one turn; a larger estimate is another thing's cost."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a compressed trajectory must be. Sizes are tokens."""

    target_max_tokens: int = 15250
    summary_size: int | SummaryShare = 750
    protection: Protection = field(default_factory=Protection)
    placement: Placement = "auto"
    target: Target = "template"
    notice: str | None = None
    max_passes: int = 3
    redact: bool = True
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A trajectory over budget: its size, the sizes of its turns, and where it may be cut."""

    count: Count
    sizes: tuple[int, ...]
    layout: Layout


def measure(trajectory: Trajectory, counter: TokenCounter, rules: Rules, metrics: RowMetrics) -> Measured | None:
    """Count, and lay out what is over budget; None where there is nothing to compress.

    Raises:
        UncountableTextError: the trajectory holds lone surrogates.
        EngineMismatchError: the fast engine was caught miscounting.
    """
    count = counter.count(trajectory)
    metrics.original_tokens = metrics.compressed_tokens = count.tokens
    metrics.tokens_saved = 0
    metrics.compression_ratio = 1.0
    metrics.count_method = count.method
    metrics.count_note = count.note
    if count.tokens <= rules.target_max_tokens:
        metrics.outcome = "skipped_under_target"
        metrics.skipped_under_target = True
        return None
    metrics.still_over_limit = True
    turns = trajectory.turns
    sizes = _turn_sizes(trajectory, counter, count)
    layout = lay_out(turns, rules.protection, sizes)
    metrics.head_tokens = sum(sizes[: layout.middle.start])
    metrics.tail_tokens = sum(sizes[layout.middle.end :])
    assistant = sum(size for size, turn in zip(sizes, turns, strict=True) if turn.role == "assistant")
    metrics.assistant_tokens_original = metrics.assistant_tokens_kept = assistant
    return Measured(count, tuple(sizes), layout)


def _turn_sizes(trajectory: Trajectory, counter: TokenCounter, count: Count) -> Sequence[int]:
    """Return what each turn holds, with an even share of what the template writes around turns.

    An estimate, and enough for planning: what is assembled is rendered and counted whole.
    """
    if count.by_turn is not None:
        return count.by_turn
    sizes = counter.count_turns(trajectory.turns)
    tools = counter.count_text(json.dumps(trajectory.tools)) if trajectory.tools else 0
    share = (count.tokens - sum(sizes) - tools) // len(sizes)
    overhead = min(max(share, 0), _PER_TURN_OVERHEAD_LIMIT)
    return [size + overhead for size in sizes]
