"""Clear old observations: of those of the middle that are not among the last one line each is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from trajcompress.compaction.order import recent_observations, stays_over, summarised_anyway
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.text import Pruned, ResultLines, Step, prune, prune_steps, shorter_steps
from trajcompress.facts.ledger import FactLedger
from trajcompress.tokens.counter import Count

_CHARS_PER_TOKEN = 3  # of a line; what is really freed is counted once that may be enough

CLEARED = "pruned"
"""The reason of a row that fits once its observations are cleared."""


def clear_observations(state: State, policy: Policy) -> Asking[State | Skip]:
    """Clear the middle of a row over its budget, long results first and no more than needed.

    Where it would not even fit without any old result all lines are the shortest at once: they would get so later.
    Then those stay as they are that a summary takes anyway.
    """
    yield from ()
    lines = _lines(state, policy)
    if stays_over(state, policy):
        spared = summarised_anyway(state, policy).union(spared_by(state, policy))
        steps = shorter_steps(lines, state.turns, spared=spared)
        cleared = _cleared(state, prune(state.turns, steps), None, lines)
        return replace(cleared, lines=None) if cleared else NOTHING_TO_DO
    return take_steps(state, _steps(state, lines, policy), lines, policy)


def leave_shortest_lines(state: State, policy: Policy) -> Asking[State | Skip]:
    """Leave in the lines of cleared observations what later turns need, and little else."""
    yield from ()
    lines = state.lines
    if not state.cleared or lines is None:
        return NOTHING_TO_DO
    steps = shorter_steps(lines, state.turns, spared=spared_by(state.uncleared, policy))
    return take_steps(state, steps, lines, policy)


def take_steps(state: State, steps: Iterable[Step], lines: ResultLines, policy: Policy) -> State | Skip:
    """Take as few steps as make the row fit, all where that is not enough."""
    cleared = _cleared(state, *_until_it_fits(state, steps, policy.target_max_tokens), lines)
    if cleared is None:
        return NOTHING_TO_DO
    return replace(cleared, reason=CLEARED) if cleared.tokens <= policy.target_max_tokens else cleared


def _until_it_fits(state: State, steps: Iterable[Step], target: int) -> tuple[Pruned, Count | None]:
    """Take as few steps as make the row fit, all where that is not enough; with its count, where that is known."""
    taken: list[Step] = []

    def count() -> Count:
        return state.count_row(state.with_previous(prune(state.turns, taken).turns))

    excess = state.tokens - target
    for step in steps:
        taken.append(step)
        excess -= _frees(state, step)
        if excess > 0:
            continue
        counted = count()
        excess = counted.tokens - target
        if excess > 0 or counted.method != state.count.method:
            continue
        while len(taken) > 1 and counted.tokens + _frees(state, taken[-1]) * 3 // 4 <= target:
            last = taken.pop()
            fewer = count()
            if fewer.tokens > target:
                taken.append(last)
                break
            counted = fewer
        return prune(state.turns, taken), counted
    return prune(state.turns, taken), None


def _frees(state: State, step: Step) -> int:
    """Estimate what a step frees."""
    return state.sizes[step.index] - len(step.turn.text) // _CHARS_PER_TOKEN


def clear_all(state: State, policy: Policy) -> State | None:
    """Clear all old observations of the middle, whether the row fits or not; None where nothing gets shorter."""
    lines = _lines(state, policy)
    cleared = _cleared(state, prune(state.turns, _steps(state, lines, policy)), None, lines)
    return cleared and replace(cleared, reason=CLEARED)


def _steps(state: State, lines: ResultLines, policy: Policy) -> Iterator[Step]:
    cut = None if state.turns is lines.turns else state.turns
    return prune_steps(lines, spared=spared_by(state, policy), arguments=False, cut=cut)


def _lines(state: State, policy: Policy) -> ResultLines:
    """Return the lines of a row that was not cleared yet, made of its turns before any giant was cut."""
    ledger = state.ledger or FactLedger(state.turns)
    turns, middle, spared = ledger.turns, state.layout.middle, spared_by(state, policy)
    results = {index for index in range(middle.start, middle.end) if turns[index].answers and index not in spared}
    needed = cache(lambda: ledger.needed(results))  # where no result is long, nobody asks
    clean, read = state.takes_secrets_out, state.as_read
    return ResultLines(turns, middle, lambda index: needed().get(index, ()), clean=clean, ledger=ledger, read=read)


def spared_by(state: State, policy: Policy) -> set[int]:
    """Return the turns that are not cleared: the last observations, and one that several rows share."""
    spared = set(recent_observations(state, policy).last)
    return spared if state.shared_turn is None else {*spared, state.shared_turn}


def _cleared(state: State, after: Pruned, count: Count | None, lines: ResultLines) -> State | None:
    """Count the whole row as a trainer sees it; None where it does not get smaller."""
    if not after.changed:
        return None
    cleared = state.with_turns(after.turns, count)
    if cleared.tokens >= state.tokens or cleared.count.method != state.count.method:
        return None
    return replace(cleared, cleared=state.cleared.union(after.changed), ledger=lines.ledger, lines=lines)
