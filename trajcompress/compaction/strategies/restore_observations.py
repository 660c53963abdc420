"""Restore cleared observations where a row that fits has room for them: the latest first, the last one truncated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.text import elide_results
from trajcompress.compaction.text.truncate import name_in_marks
from trajcompress.compaction.verify import splice_again
from trajcompress.facts import facts_in
from trajcompress.formats.rewrite import result_texts
from trajcompress.transcript.trajectory import Turn

_WORTH_FILLING = 0.03  # of the target
_LEAST_ROOM = 100  # tokens; fewer tell next to nothing of an observation that is truncated
_TRIES = 3  # sizes are estimates


def restore_observations(state: State, policy: Policy) -> Asking[State | Skip]:
    """Restore what fits. Where observations were truncated around a summary there is no room: they were cut to it."""
    yield from ()
    if not state.cleared or (state.splice is not None and state.truncated):
        return NOTHING_TO_DO
    room = policy.target_max_tokens - state.tokens
    if room < policy.target_max_tokens * _WORTH_FILLING:
        return NOTHING_TO_DO
    for _ in range(_TRIES):
        if room < _LEAST_ROOM:
            break
        turns = _restored(state, room)
        made = _with_turns(state, turns, policy)
        if made.tokens <= state.tokens or made.count.method != state.count.method:
            break
        if made.tokens <= policy.target_max_tokens:
            return made
        room -= made.tokens - policy.target_max_tokens
    return NOTHING_TO_DO


def _restored(state: State, room: int) -> tuple[Turn, ...]:
    """Return the turns with as many observations restored as so many tokens hold, the last of them truncated."""
    base = state.unspliced
    whole = base.uncleared
    turns = list(base.turns)
    for index in _order(state, whole):
        more = whole.sizes[index] - base.sizes[index]
        if more <= room:
            turns[index] = whole.turns[index]
        elif room < _LEAST_ROOM or (shorter := _truncated(base, whole, index, room)) is None:
            continue
        else:
            turns[index] = shorter
            break
        room -= more
    return tuple(turns)


def _order(state: State, whole: State) -> Sequence[int]:
    """Return which cleared turns are still in the row, the latest first, but last those that a later turn repeats."""
    gone = range(state.splice.region.start, state.splice.region.end) if state.splice else ()
    seen: set[str] = set()
    fresh: list[int] = []
    repeated: list[int] = []
    for index in reversed(range(len(whole.turns))):
        turn = whole.turns[index]
        if not turn.answers or index in gone:
            continue
        texts = set(result_texts(turn))
        if index in state.cleared:
            (repeated if texts <= seen else fresh).append(index)
        seen |= texts
    return [*fresh, *repeated]


def _truncated(base: State, whole: State, index: int, room: int) -> Turn | None:
    """Truncate a whole observation to the room there is; None where it does not fit, or lacks what its line tells."""
    counter, turn, clean = base.counter, whole.turns[index], base.takes_secrets_out
    excess = whole.sizes[index] - base.sizes[index] - room
    ledger = base.ledger
    facts = {index: ledger.needed(base.cleared).get(index, ()) if ledger else ()}
    keep = cache(lambda index: ledger.wanted(index, facts[index])) if ledger else None

    def without(tokens: int) -> tuple[Turn, int]:
        cut = elide_results(whole.turns, [index], tokens, base.count_text, keep, clean=clean)
        shorter = name_in_marks(cut, whole.turns, facts, clean)[index]
        before, after = counter.count_turns([turn, shorter], base.known)
        return shorter, before - after

    shorter, freed = without(excess)
    if freed < excess:  # JSON, or what is named in the mark
        shorter, freed = without(2 * excess - freed)
    line = base.turns[index].text
    loses = not set(facts_in(facts[index], line)) <= set(facts_in(facts[index], shorter.text))
    return None if loses or freed < excess else shorter


def _with_turns(state: State, turns: tuple[Turn, ...], policy: Policy) -> State:
    base, splice = state.unspliced, state.splice
    whole = base.uncleared.turns
    cleared = frozenset(index for index in base.cleared if turns[index] is not whole[index])
    if splice is None:
        return replace(base.with_turns(turns), cleared=cleared)
    estimated = replace(base.estimate(turns), cleared=cleared)
    return estimated.with_splice(splice_again(estimated, turns, splice, policy))
