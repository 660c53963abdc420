"""Which part of a row keeps it over its limit, whatever is summarised."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from trajcompress.compaction.measure import Measured
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Region

Part: TypeAlias = Literal["tools_schema", "single_turn", "head", "tail", "no_middle"]
OfSummaries: TypeAlias = Literal["passes_used_up", "summary"]
Cause: TypeAlias = Part | OfSummaries
OF_SUMMARIES: tuple[OfSummaries, ...] = get_args(OfSummaries)


def part_to_blame(
    measured: Measured, target_max_tokens: int, summary_tokens: int, protected: int | None = None
) -> Part | None:
    """Say which part of a row leaves no room; None where what is protected fits with the shortest of summaries.

    None too where nothing is protected, so that no part is there to blame.

    - ``tools_schema``: the tool definitions, a system prompt of a column, and what the template writes besides turns
      are over the limit alone, or have the largest share.
    - ``single_turn``: with them, one protected turn is over the limit, and is larger than they are.
    - ``head``, ``tail``: the protected first or last turns have the largest share.
    - ``no_middle``: none of these is over the limit with the tool definitions, and all turns are protected.

    Args:
        measured: the row.
        target_max_tokens: the limit.
        summary_tokens: what the shortest summary takes, where there is a middle.
        protected: tokens of what is protected, where that was counted; else they are estimated.
    """
    middle, sizes = measured.layout.middle, measured.sizes
    head, tail = sum(sizes[: middle.start]), sum(sizes[middle.end :])
    outside = _outside(measured)
    room = target_max_tokens - outside
    kept = outside + head + tail if protected is None else protected
    if kept + (summary_tokens if len(middle) else 0) <= target_max_tokens:
        return None
    longest_turn = max((*sizes[: middle.start], *sizes[middle.end :]), default=0)
    if room >= 0 and longest_turn > room and longest_turn >= outside:
        return "single_turn"
    if room >= max(head, tail) and not len(middle):
        return "no_middle"
    shares: dict[Part, int] = {"head": head, "tail": tail, "tools_schema": outside}
    largest = max(shares, key=shares.__getitem__)
    return largest if shares[largest] else None


def cause_over(
    measured: Measured, region: Region, target_max_tokens: int, summary_tokens: int, protected: int | None = None
) -> Cause:
    """Say what keeps a row over its limit in which a region was summarised; as :func:`part_to_blame`.

    Where no part of it is to blame, that is the summary, or that there were no passes left to take more turns.
    """
    part = part_to_blame(measured, target_max_tokens, summary_tokens, protected)
    return part or ("passes_used_up" if region.end < measured.layout.middle.end else "summary")


def count_protected(measured: Measured, counter: TokenCounter) -> int | None:
    """Count the row without its middle as a trainer sees it; None where the template does not take that."""
    trajectory, middle = measured.trajectory, measured.layout.middle
    kept = (*trajectory.turns[: middle.start], *trajectory.turns[middle.end :])
    if not kept:
        return _outside(measured)
    count = counter.count(replace(trajectory, turns=kept), measured.known)
    return count.tokens if count.method == measured.count.method else None


def _outside(measured: Measured) -> int:
    return max(0, measured.count.tokens - sum(measured.sizes) - measured.earlier_tokens)
