"""What follows a stretch at its end, for targets that compare a row with its turns rendered one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import structs

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.compose import Placing
from trajcompress.compaction.segments.cuts import Cut
from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.state import State
from trajcompress.compaction.text.truncate import truncate_until
from trajcompress.transcript.targets import ends_with_what_follows
from trajcompress.transcript.trajectory import Turn


def with_what_follows(state: State, stretch: Segment, cut: Cut | None, policy: Policy) -> Segment:
    """Return a stretch with what its last turn was answered, where the target wants that and it fits.

    Nothing of it is trained. The next segment tells it again, in front of the turn that answers it.

    Args:
        state: the row.
        stretch: ends at the cut.
        cut: None at the end of the row.
        policy: names the target, and the limit.
    """
    if cut is None or stretch.over or not ends_with_what_follows(policy.target):
        return stretch
    places = range(cut.end, max(cut.resume, cut.end + 1))  # where there are no results, the next request
    if any(state.turns[place].role == "assistant" for place in places):
        return stretch

    def build(following: Sequence[Placing]) -> Segment:
        composed = structs.replace(stretch.composed, placings=(*stretch.composed.placings, *following))
        return replace(stretch, composed=composed, count=state.count_row(composed.turns))

    return fitted_to(state, places, policy, build) or stretch


def fitted_to(
    state: State, places: range, policy: Policy, build: Callable[[Sequence[Placing]], Segment]
) -> Segment | None:
    """Return what is built of the turns at these places, in full or truncated; None where it is over all the same."""

    def of_first(turns: Sequence[Turn]) -> Segment:
        return build([Placing(turns[place], place) for place in places])

    made = of_first(state.turns)
    if made.tokens <= policy.target_max_tokens:
        return made
    done = truncate_until(
        state.turns[: places.stop],
        places,
        tokens=made.tokens,
        room=policy.target_max_tokens,
        build=of_first,
        count=state.count_text,
        clean=state.takes_secrets_out,
        requests=[place for place in places if not state.turns[place].answers],
    )
    return done.built if done else None
