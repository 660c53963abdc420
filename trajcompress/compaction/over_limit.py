"""Which part of a row keeps it over its budget, whatever is summarised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import least_summary
from trajcompress.compaction.state import State
from trajcompress.compaction.text import elide_results
from trajcompress.compaction.verify import overhead
from trajcompress.transcript.trajectory import Region

Part: TypeAlias = Literal["tools_schema", "single_turn", "head", "tail", "no_middle"]
OfSummaries: TypeAlias = Literal["passes_used_up", "summary"]
Cause: TypeAlias = Part | OfSummaries
OF_SUMMARIES: tuple[OfSummaries, ...] = get_args(OfSummaries)

_EVERYTHING = 10**12  # tokens; more than any row has


def shortest(state: State, policy: Policy) -> State:
    """Return the state with its protected observations as short as the policy lets them become."""
    if policy.fit != "strict":
        return state
    middle = state.layout.middle
    return truncated(state, [*range(middle.start), *range(middle.end, len(state.turns))])


def truncated(state: State, indexes: Iterable[int]) -> State:
    """Return the state with the observations of such turns as short as truncation can make them."""
    return state.estimate(
        elide_results(state.turns, indexes, _EVERYTHING, state.count_text, clean=state.takes_secrets_out)
    )


def part_over(state: State, policy: Policy) -> Part | None:
    """Say which part of a row leaves no room; None where what is protected fits with the shortest of summaries.

    None too where nothing is protected, so that no part is over.

    - ``tools_schema``: the tool definitions, a system prompt of a column, and what the template writes besides turns
      are over the limit alone, or have the largest share.
    - ``single_turn``: with them, one protected turn is over the limit, and is larger than they are.
    - ``head``, ``tail``: the protected first or last turns have the largest share.
    - ``no_middle``: none of these is over the limit with the tool definitions, and all turns are protected.
    """
    return part_too_long(shortest(state, policy), policy)


def part_too_long(state: State, policy: Policy) -> Part | None:
    """Say as :func:`part_over` which part leaves no room where no observation is truncated any more."""
    middle, sizes = state.layout.middle, state.sizes
    head, tail = sum(sizes[: middle.start]), sum(sizes[index] for index in _last(state))
    outside = _outside(state)
    room = policy.target_max_tokens - outside
    protected = _count_protected(state)
    kept = outside + head + tail if protected is None else protected
    if kept + (_least_summary(state, policy) if len(middle) else 0) <= policy.target_max_tokens:
        return None
    longest_turn = max((*sizes[: middle.start], *(sizes[index] for index in _last(state))), default=0)
    if room >= 0 and longest_turn > room and longest_turn >= outside:
        return "single_turn"
    if room >= max(head, tail) and not len(middle):
        return "no_middle"
    shares: dict[Part, int] = {"head": head, "tail": tail, "tools_schema": outside}
    largest = max(shares, key=shares.__getitem__)
    return largest if shares[largest] else None


def cause_over(state: State, region: Region, policy: Policy) -> Cause:
    """Say what keeps a row over its limit in which a region was summarised; as :func:`part_over`.

    Where no part of it does, that is the summary, or that there were no passes left to take more turns.
    """
    part = part_over(state, policy)
    return part or ("passes_used_up" if region.end < state.layout.middle.end else "summary")


def _least_summary(state: State, policy: Policy) -> int:
    middle = state.layout.middle
    least = least_summary(policy.summary_size, sum(state.sizes[middle.start : middle.end]))
    return least + overhead(state, policy)


def _count_protected(state: State) -> int | None:
    """Count the row without its middle as a trainer sees it; None where the template does not take that."""
    middle = state.layout.middle
    kept = (*state.turns[: middle.start], *(state.turns[index] for index in _last(state)))
    if not kept:
        return _outside(state)
    count = state.count_row(kept)
    return count.tokens if count.method == state.count.method else None


def _last(state: State) -> list[int]:
    """Return the turns that stay behind a summary of the whole middle."""
    layout = state.layout
    request = [] if layout.request is None else [layout.request]
    return [*request, *range(layout.middle.end, len(state.turns))]


def _outside(state: State) -> int:
    return max(0, state.tokens - sum(state.sizes) - state.previous_tokens)
