"""Truncate long observations of kept turns: they lose their middle, oldest first, each no more than needed."""

from __future__ import annotations

from dataclasses import replace

from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import Splice, State
from trajcompress.compaction.text.truncate import truncate_until
from trajcompress.compaction.verify import splice_again, with_all_facts
from trajcompress.tokens.counter import Count
from trajcompress.transcript.trajectory import Turn

TRUNCATED = "elided"
"""The reason of a row that fits once its observations are truncated."""


def truncate_observations(state: State, policy: Policy) -> Asking[State | Skip]:
    """Truncate until the row fits, around a summary where it has one.

    Where not even that makes it fit, nothing is truncated. With a summary that lost facts, the row is to fit with all
    of them if it can.
    """
    yield from ()
    base, splice = state.unspliced, state.splice
    if splice is None:
        return _alone(state, policy) or NOTHING_TO_DO
    tried = [splice]
    if policy.grounded and splice.lost:
        tried.insert(0, with_all_facts(base, splice, policy))
    return next(filter(None, (_around(base, each, policy) for each in tried)), None) or NOTHING_TO_DO


def _alone(state: State, policy: Policy) -> State | None:
    def build(turns: tuple[Turn, ...]) -> tuple[Count, int]:
        count = state.count_row(turns)
        return count, count.tokens - policy.target_max_tokens

    turns = state.written
    truncated = truncate_until(
        turns,
        [index for index in range(len(turns)) if index != state.shared_turn],
        excess=state.tokens - policy.target_max_tokens,
        build=build,
        count=state.counter.count_text,
    )
    if truncated is None:
        return None
    previous, body = state.previous, list(truncated.turns)
    if previous is not None and previous.own_turn:
        del body[previous.index]
    elif previous is not None:
        body[previous.index] = state.turns[previous.index]
    return replace(
        state,
        turns=tuple(body),
        count=truncated.built,
        truncated=truncated.changed,
        truncated_facts=truncated.facts,
        reason=TRUNCATED,
        before=state,
    )


def _around(state: State, splice: Splice, policy: Policy) -> State | None:
    def build(turns: tuple[Turn, ...]) -> tuple[Splice, int]:
        built = splice_again(state, turns, splice, policy)
        return built, built.tokens - policy.target_max_tokens

    truncated = truncate_until(
        state.turns,
        [*range(splice.region.start), *range(splice.region.end, len(state.turns))],
        excess=splice.tokens - policy.target_max_tokens,
        build=build,
        count=state.counter.count_text,
    )
    if truncated is None:
        return None
    return replace(
        state.with_splice(truncated.built),
        truncated=truncated.changed,
        truncated_facts=truncated.facts,
        reason=TRUNCATED,
    )
