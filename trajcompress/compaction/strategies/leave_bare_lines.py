"""Leave next to nothing of cleared observations, where a summary would take much of the assistant's words."""

from __future__ import annotations

from trajcompress.compaction.order import truncation_order
from trajcompress.compaction.over_limit import truncated
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.region import Keep, plan_region
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import spared_by, take_steps
from trajcompress.compaction.strategies.truncate_observations import truncate_in_order
from trajcompress.compaction.text import bare_steps, prune
from trajcompress.compaction.verify import overhead

_MUCH = 0.25  # of what the assistant says; readers prefer a summary that takes less of it


def leave_bare_lines(state: State, policy: Policy) -> Asking[State | Skip]:
    """Leave next to nothing of cleared observations where no turn needs to be summarised then.

    The last ones are truncated for that, too, where they are long. A summary that takes few of the assistant's turns
    is better all the same: with what the others answer more of them can be understood.
    """
    yield from ()
    lines = state.lines
    if not state.cleared or lines is None or not _much_would_go(state, policy):
        return NOTHING_TO_DO
    steps = [*bare_steps(lines, state.turns, spared=spared_by(state.uncleared, policy))]
    least = state.estimate(prune(state.turns, steps).turns)
    if truncated(least, truncation_order(least, policy)).tokens > policy.target_max_tokens:
        return NOTHING_TO_DO
    bare = take_steps(state, steps, lines, policy)
    if isinstance(bare, Skip) or bare.tokens <= policy.target_max_tokens:
        return bare
    return truncate_in_order(bare, policy) or NOTHING_TO_DO


def _much_would_go(state: State, policy: Policy) -> bool:
    """Estimate whether a summary would take much of what the assistant says."""
    short = truncated(state, truncation_order(state, policy, with_last=False))
    excess = short.tokens - policy.target_max_tokens + overhead(short, policy)
    plan = plan_region(short.sizes, short.layout, excess, policy.summary_size, short.previous_tokens)
    if isinstance(plan, Keep):
        return True
    gone = range(plan.region.start, plan.region.end)
    said = sum(short.sizes[index] for index in gone if short.turns[index].role == "assistant")
    return said > _MUCH * short.assistant_tokens
