"""The ladder: one trajectory, from its count down the strategies of a policy until it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from trajcompress.compaction.happened import FORM_UNFIT, Happened
from trajcompress.compaction.measure import find_secrets, is_segmented, measure
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip, Strategy
from trajcompress.compaction.segments.segment_row import segment_row
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.clear_observations import (
    clear_all,
    clear_observations,
    leave_shortest_lines,
)
from trajcompress.compaction.strategies.cut_beside_requests import cut_beside_requests
from trajcompress.compaction.strategies.drop_bulk import drop_bulk
from trajcompress.compaction.strategies.leave_bare_lines import leave_bare_lines
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
from trajcompress.errors import OF_THE_RUN, SummaryError, UncountableTextError
from trajcompress.events import Emit, nobody
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.transcript.trajectory import RowId, Trajectory


def with_standard_ladder(policy: Policy) -> Policy:
    """Return the policy with the strategies that its settings ask for, in their order.

    Where observations are both cleared and truncated, bulk goes first, and those that cannot stay whole are truncated
    before others are cleared, and all but the last, with examples in requests, before lines get shorter. Then turns
    are summarised away, unless bare lines spare that; a summary is trimmed before the last are truncated. What a
    person wrote is truncated last, if at all.
    """
    clear, strict = policy.clear_observations, policy.fit == "strict"
    rungs: Sequence[tuple[Strategy, bool]] = (
        (drop_bulk, clear and strict),
        (truncate_giants, clear and strict),
        (clear_observations, clear),
        (truncate_older, clear and strict),
        (cut_beside_requests, clear and strict),
        (leave_shortest_lines, clear),
        (truncate_older, clear and strict),
        (leave_bare_lines, clear and strict),
        (summarize_region, True),
        (truncate_observations, strict and not clear),
        (trim_summary, True),
        (truncate_observations, strict),
        (truncate_requests, strict),
        (name_facts, True),
    )
    return structs.replace(
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
    stays = Happened(counted, over_limit=True)  # for all that anybody knows
    try:
        count = counted or counter.count(trajectory)
        stays = Happened(count, over_limit=count.tokens > policy.target_max_tokens)
        if unfit := _unfit(trajectory, count, policy, counter):
            return structs.replace(stays, reason=FORM_UNFIT, error=unfit)
        if not stays.over_limit or count.tokens < policy.min_tokens:
            return _fitting(trajectory, count, policy, counter)
        first = measure(trajectory, count, counter, policy)
        if policy.redact:
            first = find_secrets(first)
        first = replace(first, row_id=str(row), emit=emit)
        stays = structs.replace(stays, first=first)
        return (yield from _over_budget(stays, first, policy))
    except (UncountableTextError, SummaryError, TimeoutError) as error:
        return stays.given_up(error, policy.timeout_s)
    except OF_THE_RUN:
        raise
    except Exception as error:  # noqa: BLE001 - a mistake of ours: the row stays as it is, and the run goes on
        return stays.given_up(error)


def _unfit(trajectory: Trajectory, count: Count, policy: Policy, counter: TokenCounter) -> str | None:
    """Return why the target has no form for a row; None where it has. A row of text is rendered by no template."""
    if trajectory.formed and trajectory.formed.unfit:
        return trajectory.formed.unfit
    refused = policy.refused_is_unfit and count.method == "content_template_refused"
    if refused and not (trajectory.split and trajectory.split.has_text) and counter.refuses(trajectory):
        return f"template_refuses: {count.note}"
    return None


def _fitting(trajectory: Trajectory, count: Count, policy: Policy, counter: TokenCounter) -> Happened:
    """Leave a row that fits as it is, or clear its observations where that is asked for."""
    cleared = policy.clear_observations and not policy.skip_under_target and not is_segmented(trajectory, policy)
    last = clear_all(measure(trajectory, count, counter, policy), policy) if cleared else None
    return _changed(Happened(count), last, policy) if last else Happened(count)


def _over_budget(stays: Happened, first: State, policy: Policy) -> Asking[Happened]:
    """Bring a row that is over its budget down the ladder, or write it as segments."""
    if is_segmented(first.original, policy):
        segments = yield from segment_row(first, policy)
        if isinstance(segments, Skip):
            return structs.replace(stays, reason=segments.reason, error=segments.error)
        over = next((each.over for each in segments if each.kind == "stretch" and each.over), None)
        return structs.replace(stays, segments=segments, reason=over, over_limit=over is not None)
    last, skip = yield from _descend(first, policy)
    stays = structs.replace(stays, reason=skip.reason, error=skip.error)
    return _changed(stays, last, policy) if last else stays


def _changed(happened: Happened, last: State, policy: Policy) -> Happened:
    over, error = last.tokens > policy.target_max_tokens, None if last.splice else happened.error
    return structs.replace(happened, last=last, reason=last.reason, error=error, over_limit=over)


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
