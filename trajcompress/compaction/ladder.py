"""The ladder: one trajectory, from its count down the strategies of a policy until it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajcompress.compaction.happened import FORM_UNFIT, Happened
from trajcompress.compaction.measure import is_segmented, measure, without_secrets
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip, Strategy
from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.segments.segment_row import segment_row
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import clear_all, clear_observations, shorten_lines
from trajcompress.compaction.strategies.drop_bulk import drop_bulk
from trajcompress.compaction.strategies.name_facts import name_facts
from trajcompress.compaction.strategies.restore_observations import restore_observations
from trajcompress.compaction.strategies.summarize_region import summarize_region
from trajcompress.compaction.strategies.trim_summary import trim_summary
from trajcompress.compaction.strategies.truncate_observations import (
    truncate_giants,
    truncate_observations,
    truncate_older,
)
from trajcompress.compaction.strategies.truncate_requests import truncate_requests
from trajcompress.errors import SummaryError, UncountableTextError
from trajcompress.events import Emit, nobody
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.transcript.trajectory import RowId, Trajectory


def with_standard_ladder(policy: Policy) -> Policy:
    """Return the policy with the strategies that its settings ask for, in their order.

    Where observations are both cleared and truncated, bulk goes first, and those that cannot stay whole are truncated
    before others are cleared, and all but the last before lines get shorter, and then any turn is summarised away; a
    summary is trimmed before the last are truncated. What a person wrote is truncated last, if at all.
    """
    clear, strict = policy.clear_observations, policy.fit == "strict"
    rungs: Sequence[tuple[Strategy, bool]] = (
        (drop_bulk, clear and strict),
        (truncate_giants, clear and strict),
        (clear_observations, clear),
        (truncate_older, clear and strict),
        (shorten_lines, clear),
        (truncate_older, clear and strict),
        (summarize_region, True),
        (truncate_observations, strict and not clear),
        (trim_summary, True),
        (truncate_observations, strict),
        (truncate_requests, strict),
        (name_facts, True),
    )
    return replace(
        policy,
        strategies=tuple(strategy for strategy, wanted in rungs if wanted),
        finishing=(restore_observations,) if clear else (),
    )


def compact(
    trajectory: Trajectory,
    row: RowId,
    policy: Policy,
    counter: TokenCounter,
    *,
    emit: Emit = nobody,
    counted: Count | None = None,
) -> Asking[Happened]:
    """Do all that is to be done to a row: count, and where it is over its budget bring it down the ladder.

    It waits for nothing: it yields what it wants summarised, and is sent the summary or thrown why there is none. So
    whoever drives it does all there is to do between two calls of a model in one go.

    Args:
        trajectory: what was read.
        row: where it stands.
        policy: what it must be, and the strategies.
        counter: counts tokens.
        emit: sink of events.
        counted: its count, where that is known.

    Raises:
        EngineMismatchError: counts of the whole run are in doubt.
    """
    count = counted
    unfit = trajectory.formed.unfit if trajectory.formed else None
    try:
        count = count or counter.count(trajectory)
        if unfit or count.tokens <= policy.target_max_tokens or count.tokens < policy.min_tokens:
            stays = unfit or is_segmented(trajectory, policy)
            last = None if stays else _clear_fitting(trajectory, count, policy, counter)
            return Happened(count, last=last, reason=FORM_UNFIT if unfit else None, error=unfit)
        first = measure(trajectory, count, counter, policy)
    except UncountableTextError as error:
        return Happened(count, reason="uncountable_text", error=str(error))
    if policy.redact:
        first = without_secrets(first)
    first = replace(first, row_id=str(row), emit=emit)
    segments: tuple[Segment, ...] = ()
    try:
        if is_segmented(trajectory, policy):
            last, made = None, (yield from segment_row(first, policy))
            segments, skip = ((), made) if isinstance(made, Skip) else (made, NOTHING_TO_DO)
        else:
            last, skip = yield from _descend(first, policy)
    except UncountableTextError as error:
        return Happened(count, first, reason="uncountable_text", error=str(error))
    except SummaryError as error:
        return Happened(count, first, reason=error.reason, error=str(error), failed=True)
    except TimeoutError:
        error_text = f"no result within {policy.timeout_s:g} s"
        return Happened(count, first, reason="trajectory_timeout", error=error_text, failed=True)
    return Happened(count, first, last, skip.reason, skip.error, segments=segments)


def _descend(first: State, policy: Policy) -> Asking[tuple[State | None, Skip]]:
    """Apply one strategy after the other until the row fits.

    Returns:
        The last state, None where what was done does not make up for being done, and the last reason of a strategy
        to do nothing.
    """
    state, why = first, NOTHING_TO_DO
    for strategy in policy.strategies:
        if state.tokens <= policy.target_max_tokens:
            break
        made = yield from strategy(state, policy)
        if isinstance(made, State):
            state = made
        elif made.reason is not None:
            why = made
    fits = state.tokens <= policy.target_max_tokens
    for strategy in policy.finishing if fits else ():
        made = yield from strategy(state, policy)
        state = made if isinstance(made, State) else state
    is_done = fits or state.splice is not None
    return (state if is_done else None), why


def _clear_fitting(trajectory: Trajectory, count: Count, policy: Policy, counter: TokenCounter) -> State | None:
    """Clear the observations of a row that fits, where that is asked for."""
    if not policy.clear_observations or policy.skip_under_target:
        return None
    return clear_all(measure(trajectory, count, counter, policy), policy)
