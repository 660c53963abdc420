"""Measuring one trajectory: its tokens, those of its turns, and where it may be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from trajcompress.compaction.previous_summary import Earlier, find_earlier
from trajcompress.compaction.provenance import recorded_turn
from trajcompress.compaction.region import Layout, Protection, SummaryShare, lay_out
from trajcompress.formats.content import json_text
from trajcompress.metrics.row import RowMetrics
from trajcompress.redact.turns import CleanRow, clean_row
from trajcompress.settings.choices import Fit, Marks, Placement, Target
from trajcompress.tokens.counter import Count, Known, TokenCounter
from trajcompress.tokens.turn_sizes import turn_sizes
from trajcompress.transcript.targets import violations
from trajcompress.transcript.trajectory import Region, Trajectory, Turn


@dataclass(frozen=True, slots=True)
class Rules:
    """What a compressed trajectory must be. Sizes are tokens.

    The ``facts`` that kept turns need are told to the summariser and seen to, or only ``counted``, or not looked up.
    """

    target_max_tokens: int = 15250
    min_tokens: int = 0
    summary_size: int | SummaryShare = 750
    protection: Protection = field(default_factory=Protection)
    placement: Placement = "auto"
    target: Target = "template"
    notice: str | None = None
    max_passes: int = 3
    prune_kept: bool = False
    prune_read: bool = False
    fit: Fit = "lenient"
    skip_under_target: bool = True
    redact: bool = True
    marks: Marks = "none"
    mapped_roles: frozenset[str] = frozenset()
    focus: str | None = None
    facts: Literal["told", "counted", "off"] = "told"
    timeout_s: float | None = None

    @property
    def grounded(self) -> bool:
        """Whether summaries are to tell the facts that kept turns need."""
        return self.facts == "told"


@dataclass(frozen=True, slots=True)
class Measured:
    """A trajectory over budget: its size, the sizes of its turns, and where it may be cut.

    ``count`` is that of the row as it is. Where it holds an ``earlier`` summary, of so many tokens, ``trajectory`` is
    without it, and so are ``sizes`` and ``layout``. Where turns of ``trajectory`` were pruned, ``unpruned`` are those
    before that: what summaries are to tell. ``clean`` are the same without secrets, where these are taken out.
    """

    count: Count
    sizes: tuple[int, ...]
    layout: Layout
    trajectory: Trajectory
    earlier: Earlier | None = None
    earlier_tokens: int = 0
    unpruned: tuple[Turn, ...] | None = None
    clean: CleanRow | None = None

    @property
    def known(self) -> Known:
        """Texts of the row that were counted."""
        return self.count.known

    @property
    def assistant_tokens(self) -> int:
        """Tokens of the assistant's turns."""
        sizes = zip(self.sizes, self.trajectory.turns, strict=True)
        return sum(size for size, turn in sizes if turn.role == "assistant")


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
    metrics.input_invalid = _is_invalid(trajectory, count, rules)
    if count.tokens <= rules.target_max_tokens:
        metrics.outcome = "skipped_under_target"
        metrics.skipped_under_target = True
        return None
    if count.tokens < rules.min_tokens:  # it will be left out, so nothing is paid for it
        return None
    metrics.still_over_limit = True
    measured = take_apart(trajectory, count, counter, rules)
    if rules.redact:
        measured = replace(measured, clean=_clean(measured))
    middle = measured.layout.middle
    metrics.head_tokens = sum(measured.sizes[: middle.start])
    metrics.tail_tokens = sum(measured.sizes[middle.end :])
    metrics.assistant_tokens_original = metrics.assistant_tokens_kept = measured.assistant_tokens
    return measured


def _clean(measured: Measured) -> CleanRow:
    """Find the secrets of the whole row, so that none is known by its name alone."""
    trajectory, earlier = measured.trajectory, measured.earlier
    tools = [json_text(trajectory.tools)] if trajectory.tools else []
    return clean_row(trajectory.turns, [trajectory.system or "", earlier.text if earlier else "", *tools])


def take_apart(trajectory: Trajectory, count: Count, counter: TokenCounter, rules: Rules) -> Measured:
    """Measure the turns of a row that was counted, and lay them out. Raises as :func:`measure`."""
    turns = trajectory.turns
    sizes = turn_sizes(trajectory, counter, count)
    layout = lay_out(turns, rules.protection, sizes, target=rules.target)
    measured = Measured(count, tuple(sizes), layout, trajectory)
    earlier = find_earlier(turns, recorded_turn(trajectory), _where_summaries_stand(turns, layout, rules))
    return measured if earlier is None else _without(measured, earlier, counter, rules)


def _where_summaries_stand(turns: Sequence[Turn], layout: Layout, rules: Rules) -> Region:
    """Return where a turn may be a summary: after whoever spoke first, and before the tail."""
    spoke = (index for index, turn in enumerate(turns) if turn.role != "system")
    start = next(spoke, 0) + 1 if rules.protection.first_human else 0
    return Region(start, max(start, layout.middle.end))


def _without(measured: Measured, earlier: Earlier, counter: TokenCounter, rules: Rules) -> Measured:
    """Return the same without the earlier summary."""
    sizes = list(measured.sizes)
    if earlier.own_turn:
        tokens = sizes.pop(earlier.index)
    else:
        tokens = min(counter.count_text(earlier.text), sizes[earlier.index])
        sizes[earlier.index] -= tokens
    return replace(
        measured,
        sizes=tuple(sizes),
        layout=lay_out(earlier.turns, rules.protection, sizes, earlier.seam, rules.target),
        trajectory=replace(measured.trajectory, turns=earlier.turns),
        earlier=earlier,
        earlier_tokens=tokens,
    )


def _is_invalid(trajectory: Trajectory, count: Count, rules: Rules) -> bool:
    """Tell whether the target would refuse the row as it is."""
    if count.method == "content_template_refused":
        return True
    return bool(violations(trajectory.turns, rules.target, mapped_roles=rules.mapped_roles))
