"""Which turns of a row may be cleared or truncated, in which order: the last observations stay whole the longest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate

from msgspec import Struct

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Keep, Plan, last_request, plan_region
from trajcompress.compaction.state import State
from trajcompress.transcript.observations import is_request
from trajcompress.transcript.trajectory import Turn

_SHARE = 4  # the last observations stay whole as far as they take no more than the target divided by this
_LONG_SHARE = 2  # a request that takes more than the target divided by this is long: most of it was pasted
_LEAST_LINE = 14  # tokens, with what a template puts around a turn
_LINE = 45  # tokens; most of the shortest lines have more
_MAY_STAY = 0.1  # of a region that is planned, and as much as its longest turn: those that come first in it


class Recent(Struct, frozen=True):
    """The ``last`` observations of a row, none of which is cleared, and those of them that are to stay ``whole``.

    Of these the ``latest`` stay whole even where turns of the assistant go.
    """

    last: frozenset[int]
    whole: frozenset[int]
    latest: frozenset[int]


def recent_observations(state: State, policy: Policy) -> Recent:
    """Return the last observations; from the newest backwards they stay whole, up to a quarter of the target.

    Turns of the assistant go before these are truncated to what the policy says of the latest.
    """
    sizes, target = state.whole.sizes, policy.target_max_tokens
    last = _last_turns(state.turns, policy.keep_observations)
    held = list(accumulate(sizes[index] for index in last))
    whole, latest = (
        frozenset(index for index, tokens in zip(last, held, strict=True) if tokens <= target // share)
        for share in (_SHARE, policy.latest_share)
    )
    return Recent(frozenset(last), whole, latest)


def _last_turns(turns: Sequence[Turn], most: int) -> Sequence[int]:
    """Return the turns that hold the last results, up to so many, the newest first; one may hold several of them."""
    observed = [index for index in reversed(range(len(turns))) if turns[index].answers]
    newer = accumulate((len(turns[index].answers) for index in observed), initial=0)
    return [index for index, results in zip(observed, newer, strict=False) if results < most]


def _is_shown(turn: Turn) -> bool:
    """Whether a turn is an observation, or shows one: a worked example may go as well."""
    return bool(turn.answers or turn.example)


def stays_over(state: State, policy: Policy) -> bool:
    """Tell whether a row is over its budget though nothing but lines were left of old observations and examples."""
    latest = recent_observations(state, policy).latest
    turns = zip(state.turns, state.sizes, strict=True)
    old = (size for at, (turn, size) in enumerate(turns) if _is_shown(turn) and at not in latest)
    return state.tokens - sum(max(size - _LEAST_LINE, 0) for size in old) > policy.target_max_tokens


def summarised_anyway(state: State, policy: Policy) -> frozenset[int]:
    """Return the observations that a summary will replace, however little is left of all others.

    To shorten them would be wasted, as a summary tells of turns as they were read. This is an estimate, with a short
    line for each observation: where the summary replaces fewer turns, the others stay as they are.
    """
    if state.previous is not None or not stays_over(state, policy):
        return frozenset()
    latest = recent_observations(state, policy).latest
    plan = _plan_with_lines(state, policy, latest)
    if isinstance(plan, Keep) or plan.region.end == state.layout.middle.end:  # those may have to be truncated, too
        plan = _plan_with_lines(state, policy, frozenset())
    if isinstance(plan, Keep):
        return frozenset()
    start, end = plan.region.start, plan.region.end
    sizes = _with_lines(state, latest)[start:end]
    may_stay = _MAY_STAY * plan.tokens + max(sizes)
    gone = (at for at, held in zip(range(start, end), accumulate(sizes), strict=True) if held > may_stay)
    return frozenset(at for at in gone if _is_shown(state.turns[at]))


def _plan_with_lines(state: State, policy: Policy, whole: Collection[int]) -> Plan:
    sizes = _with_lines(state, whole)
    excess = state.tokens - sum(state.sizes) + sum(sizes) - policy.target_max_tokens
    return plan_region(sizes, state.layout, excess, policy.summary_size)


def _with_lines(state: State, whole: Collection[int]) -> list[int]:
    """Estimate the sizes of turns with a line in the place of each observation that does not stay whole."""
    turns = zip(state.turns, state.sizes, strict=True)
    return [
        min(size, _LINE) if _is_shown(turn) and at not in whole else size for at, (turn, size) in enumerate(turns)
    ]


def truncation_order(state: State, policy: Policy, *, with_last: bool = True) -> Sequence[int]:
    """Return the turns that may be truncated, worked examples too, in order: all, where old ones are not cleared.

    Else the cleared ones have nothing to cut, and the last ones come last, if at all. What takes more than the room
    that all else leaves comes first: it cannot stay whole, so cutting that may be enough. Those that must stay as
    they are do, and without ``with_last`` the latest.
    """
    sizes = state.sizes
    free = len(state.turns) - state.original.fixed_turns
    if not policy.clear_observations:
        return range(free)
    recent = recent_observations(state, policy)
    turns = enumerate(state.turns[:free])
    may = [i for i, turn in turns if _is_shown(turn) and i not in state.cleared]
    older = [index for index in may if index not in recent.whole]
    room = policy.target_max_tokens - state.tokens + sum(sizes[index] for index in older)
    order = [*(i for i in older if sizes[i] > room), *(i for i in older if sizes[i] <= room)]
    return [*order, *(i for i in may if i in recent.whole and (with_last or i not in recent.latest))]


def long_requests(state: State, policy: Policy) -> Sequence[int]:
    """Return the requests that take more than half of the target each and may be cut, the longest first."""
    sizes = state.sizes
    least = policy.target_max_tokens // _LONG_SHARE
    free = enumerate(state.turns[: len(state.turns) - state.original.fixed_turns])
    found = [i for i, turn in free if sizes[i] > least and is_request(turn) and not turn.answers]
    kept = {state.shared_turn, last_request(state.turns) if policy.protection.last_request else None}
    return sorted((i for i in found if i not in kept), key=lambda index: -sizes[index])
