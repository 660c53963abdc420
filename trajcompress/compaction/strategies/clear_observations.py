"""Clear old observations: of those that are not protected one line each is left, and long arguments are shortened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.text import Kind, Pruned, Step, prune, prune_steps, prune_until
from trajcompress.facts.ledger import FactLedger
from trajcompress.transcript.trajectory import Turn

CLEARED = "pruned"
"""The reason of a row that fits once its observations are cleared."""


def clear_observations(state: State, policy: Policy) -> Asking[State | Skip]:
    """Clear the middle of a row over its budget, no more than needed.

    Where not even everything is enough, results are cleared and arguments are not: these are words of the assistant,
    which a trainer learns from, and shortening them would save few of its turns from being summarised.
    """
    yield from ()
    ledger = FactLedger(state.turns)
    steps = _steps(state, ledger)

    def fits(after: tuple[Turn, ...]) -> bool:
        count = state.count_row(state.with_previous(after))
        return count.tokens <= policy.target_max_tokens and count.method == state.count.method

    if steps and fits(prune(state.turns, steps).turns):
        after = prune_until(state.turns, steps, fits)
    else:
        after = prune(state.turns, _of_results(steps))
    cleared = _cleared(state, after, ledger)
    if cleared is None:
        return NOTHING_TO_DO
    return replace(cleared, reason=CLEARED) if cleared.tokens <= policy.target_max_tokens else cleared


def clear_all(state: State) -> State | None:
    """Clear all observations of the middle, whether the row fits or not; None where that makes nothing shorter."""
    ledger = FactLedger(state.turns)
    cleared = _cleared(state, prune(state.turns, _of_results(_steps(state, ledger))), ledger)
    return cleared and replace(cleared, reason=CLEARED)


def _steps(state: State, ledger: FactLedger) -> list[Step]:
    turns, middle, shared = state.turns, state.layout.middle, state.shared_turn
    results = {index for index in range(middle.start, middle.end) if turns[index].answers}
    told = ledger.needed(results)

    def needed(index: int, kind: Kind) -> Sequence[str]:
        if kind != "arguments":
            return told.get(index, ())
        return ledger.needed_of(index, results)

    return [step for step in prune_steps(turns, middle, needed) if step.index != shared]


def _of_results(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if step.kind != "arguments"]


def _cleared(state: State, after: Pruned, ledger: FactLedger) -> State | None:
    """Count the whole row as a trainer sees it; None where it does not get smaller."""
    cleared = state.with_turns(after.turns)
    if cleared.tokens >= state.tokens or cleared.count.method != state.count.method:
        return None
    return replace(cleared, cleared=frozenset(after.changed), ledger=ledger)
