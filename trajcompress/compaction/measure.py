"""Measuring a counted trajectory: the tokens of its turns, and where it may be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.previous_summary import PreviousSummary, find_previous
from trajcompress.compaction.provenance import known_summary_turn
from trajcompress.compaction.region import Layout, lay_out
from trajcompress.compaction.state import State
from trajcompress.formats.content import json_text
from trajcompress.redact.turns import clean_row
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.tokens.turn_sizes import turn_sizes
from trajcompress.transcript.trajectory import Region, Trajectory, Turn


def is_segmented(trajectory: Trajectory, policy: Policy) -> bool:
    """Tell whether a row that is over its budget becomes segments; one with its turns in several columns cannot."""
    return policy.mode == "segments" and trajectory.split is None


def measure(trajectory: Trajectory, count: Count, counter: TokenCounter, policy: Policy) -> State:
    """Measure the turns of a row that was counted, and lay them out.

    Raises:
        UncountableTextError: the template leaves text out that holds lone surrogates.
        EngineMismatchError: the fast engine was caught miscounting.
    """
    turns = trajectory.turns
    sizes = turn_sizes(trajectory, counter, count)
    layout = lay_out(
        turns,
        policy.protection,
        sizes,
        target=policy.target,
        fixed=trajectory.fixed_turns,
        may_fold=policy.placement == "auto",
    )
    state = State(trajectory, counter, turns, count, tuple(sizes), layout)
    if is_segmented(trajectory, policy):  # where it stands a summary of before is a turn like others
        return state
    within = _where_summaries_stand(turns, layout, policy)
    previous = find_previous(turns, known_summary_turn(trajectory), within)
    return state if previous is None else _without(state, previous, policy)


def find_secrets(state: State) -> State:
    """Find the secrets of the whole row, so that none is known by its name alone."""
    original, previous = state.original, state.previous
    tools = [json_text(original.tools)] if original.tools else []
    others = [original.system or "", previous.text if previous else "", *tools]
    return replace(state, clean=clean_row(state.turns, others))


def _where_summaries_stand(turns: Sequence[Turn], layout: Layout, policy: Policy) -> Region:
    """Return where a turn may be a summary: after whoever spoke first, and up to that with which the tail begins.

    There one stands where the tail was shorter when it was written; but the last turn of a person is theirs.
    """
    spoke = (index for index, turn in enumerate(turns) if turn.role != "system")
    start = next(spoke, 0) + 1 if policy.protection.first_human else 0
    end = layout.middle.end
    ends_later = any(turn.role == "user" and not turn.answers for turn in turns[end + 1 :])
    return Region(start, max(start, end + ends_later))


def _without(state: State, previous: PreviousSummary, policy: Policy) -> State:
    """Return the state without the summary of a previous run."""
    sizes = list(state.sizes)
    if previous.own_turn:
        tokens = sizes.pop(previous.index)
    else:
        tokens = min(state.count_text(previous.text), sizes[previous.index])
        sizes[previous.index] -= tokens
    return replace(
        state,
        sizes=tuple(sizes),
        layout=lay_out(
            previous.turns,
            policy.protection,
            sizes,
            previous.seam,
            target=policy.target,
            fixed=state.original.fixed_turns,
            may_fold=policy.placement == "auto",
        ),
        turns=previous.turns,
        previous=previous,
        previous_tokens=tokens,
    )
