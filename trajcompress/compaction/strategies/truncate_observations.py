"""Truncate long observations of kept turns: they lose their middle, one after the other, each no more than needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from trajcompress.compaction.order import recent_observations, stays_over, truncation_order
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import Splice, State
from trajcompress.compaction.text import elide_results
from trajcompress.compaction.text.result_lines import all_lines
from trajcompress.compaction.text.truncate import name_in_marks, truncate_until
from trajcompress.compaction.verify import splice_again, with_all_facts
from trajcompress.facts.ledger import FactLedger

_GIANT_SHARE = 4  # of the budget
_GIANT_CHARS = 1_200  # that are left of one of which nothing is used

TRUNCATED = "elided"
"""The reason of a row that fits once its observations are truncated."""


def truncate_older(state: State, policy: Policy) -> Asking[State | Skip]:
    """Truncate as :func:`truncate_observations` does, but for the latest observations, oldest first."""
    yield from ()
    if stays_over(state, policy):  # nor would that be enough
        return NOTHING_TO_DO
    return _alone(state, policy, truncation_order(state, policy, with_last=False), brief=False) or NOTHING_TO_DO


def truncate_giants(state: State, policy: Policy) -> Asking[State | Skip]:
    """Truncate observations that take more than a quarter of the budget each, before others are cleared.

    What later turns use of one stays, with some of its beginning and its end; of most of it they use nothing. Where
    all old ones become lines they need not be truncated before.
    """
    yield from ()
    target, sizes = policy.target_max_tokens, state.sizes
    recent, order = recent_observations(state, policy), truncation_order(state, policy)
    may = [index for index in order if index in recent.last] if stays_over(state, policy) else order
    giants = [index for index in may if index not in recent.whole and sizes[index] > target // _GIANT_SHARE]
    if not giants or state.shared_turn in giants:
        return NOTHING_TO_DO
    ledger = FactLedger(state.turns)
    needed, clean = ledger.needed(giants), state.takes_secrets_out
    cut = elide_results(
        state.turns,
        giants,
        state.tokens - target,
        state.count_text,
        lambda index: ledger.wanted(index, needed.get(index, ())),
        least=_GIANT_CHARS,
        lines=cache(lambda: all_lines(ledger, needed, clean)),
        clean=clean,
    )
    turns = name_in_marks(cut, state.turns, needed, clean)
    changed = frozenset(index for index in giants if turns[index] is not state.turns[index])
    if not changed:
        return NOTHING_TO_DO
    shorter = state.with_turns(turns, target=target)
    if shorter.tokens >= state.tokens or shorter.count.method != state.count.method:
        return NOTHING_TO_DO
    reason = TRUNCATED if shorter.tokens <= target else state.reason
    return replace(shorter, cut_first=changed, ledger=ledger, reason=reason)


def truncate_observations(state: State, policy: Policy) -> Asking[State | Skip]:
    """Truncate until the row fits, around a summary where it has one.

    Where not even that makes it fit, nothing is truncated. With a summary that lost facts, the row is to fit with all
    of them if it can.
    """
    yield from ()
    return truncate_in_order(state, policy) or NOTHING_TO_DO


def truncate_in_order(state: State, policy: Policy, requests: Sequence[int] = ()) -> State | None:
    """Truncate observations, and at last the requests that are named; None where not even that is enough."""
    base, splice = state.unspliced, state.splice
    if splice is None:
        return _alone(state, policy, truncation_order(state, policy), requests, brief=True)
    tried = [splice]
    if policy.grounded and splice.lost:
        tried.insert(0, with_all_facts(base, splice, policy))
    return next(filter(None, (_around(base, each, policy, requests) for each in tried)), None)


def _alone(
    state: State, policy: Policy, order: Sequence[int], requests: Sequence[int] = (), *, brief: bool
) -> State | None:
    previous = state.previous
    shift = previous.index if previous is not None and previous.own_turn else len(state.turns)
    may = [index for index in order if index != state.shared_turn and index not in requests]
    truncated = truncate_until(
        state.written,
        [index + (index >= shift) for index in (*may, *requests)],
        tokens=state.tokens,
        room=policy.target_max_tokens,
        build=state.count_row,
        count=state.count_text,
        clean=state.takes_secrets_out,
        ledger=_ledger(state, requests) if previous is None else None,  # its places are those without such a summary
        cleared=state.cleared,
        requests=frozenset(index + (index >= shift) for index in requests),
        brief=brief,
    )
    if truncated is None:
        return None
    body = list(truncated.turns)
    if previous is not None and previous.own_turn:
        del body[previous.index]
    elif previous is not None:
        body[previous.index] = state.turns[previous.index]
    changed = frozenset(index - (index > shift) for index in truncated.changed)
    made = replace(state, turns=tuple(body), count=truncated.built, before=state)
    return replace(made, truncated=changed, truncated_facts=truncated.facts, reason=TRUNCATED)


def _around(state: State, splice: Splice, policy: Policy, requests: Sequence[int]) -> State | None:
    region = splice.region
    may = [index for index in truncation_order(state, policy) if index not in requests]
    truncated = truncate_until(
        state.turns,
        [index for index in (*may, *requests) if not region.start <= index < region.end],
        tokens=splice.tokens,
        room=policy.target_max_tokens,
        build=lambda turns: splice_again(state, turns, splice, policy),
        count=state.count_text,
        clean=state.takes_secrets_out,
        ledger=_ledger(state, requests),
        cleared=state.cleared,
        requests=requests,
        brief=True,
    )
    if truncated is None:
        return None
    made = state.with_splice(truncated.built)
    return replace(made, truncated=truncated.changed, truncated_facts=truncated.facts, reason=TRUNCATED)


def _ledger(state: State, requests: Sequence[int]) -> FactLedger | None:
    """Return the facts of the row before turns of it were cleared, where that was read, or requests may be cut."""
    return FactLedger(state.as_read, also=requests) if requests else state.ledger
