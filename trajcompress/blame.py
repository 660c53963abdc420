"""Which part of a row keeps it over its limit, whatever is summarised."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from trajcompress.measure import Measured
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Region

Part: TypeAlias = Literal["tools_schema", "single_turn", "head", "tail", "no_middle"]
Cause: TypeAlias = Part | Literal["passes_used_up", "summary"]


def part_to_blame(measured: Measured, target_max_tokens: int, protected: int | None = None) -> Part | None:
    """Say which part of a row leaves no room, None where what is protected fits without any summary.

    - ``tools_schema``: the tool definitions, and what the template writes besides turns, are over the limit alone.
    - ``single_turn``: with them, one protected turn is.
    - ``head``, ``tail``: with them, the protected first or last turns are; or they have the largest share.
    - ``no_middle``: none of these, and all turns are protected.

    Args:
        measured: the row.
        target_max_tokens: the limit.
        protected: tokens of what is protected, where that was counted; else they are estimated.
    """
    middle, sizes = measured.layout.middle, measured.sizes
    head, tail = sum(sizes[: middle.start]), sum(sizes[middle.end :])
    outside = _outside(measured)
    room = target_max_tokens - outside
    if (outside + head + tail if protected is None else protected) <= target_max_tokens:
        return None
    shares: dict[Part, int] = {"head": head, "tail": tail, "tools_schema": outside}
    too_large: list[tuple[Part, bool]] = [
        ("tools_schema", room < 0),
        ("single_turn", max((*sizes[: middle.start], *sizes[middle.end :]), default=0) > room),
        ("head", head > room),
        ("tail", tail > room),
        ("no_middle", not len(middle)),
    ]
    largest = max(shares, key=shares.__getitem__)
    return next((part for part, is_too_large in too_large if is_too_large), largest)


def cause_over(measured: Measured, region: Region, target_max_tokens: int, protected: int | None = None) -> Cause:
    """Say what keeps a row over its limit in which a region was summarised; as :func:`part_to_blame`.

    Where no part of it is to blame, that is the summary, or that there were no passes left to take more turns.
    """
    part = part_to_blame(measured, target_max_tokens, protected)
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
