"""The row that teaches to write a running summary: what it was made of, a request to summarise, and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.compose import Composed, Placing, out_of_loss
from trajcompress.compaction.segments.cuts import Cut
from trajcompress.compaction.segments.segment import Segment, SegmentSummary
from trajcompress.compaction.segments.what_follows import fitted_to
from trajcompress.compaction.state import State
from trajcompress.formats.turns import add_text, new_assistant_turn, new_user_turn
from trajcompress.transcript.targets import takes_user_after_tool

REQUEST = (
    "The context is almost full. Summarise all that has happened so far, so that the task can be continued from your "
    "summary alone: what was asked, what was done and what came of it, and every name, path, id and figure that is "
    "still needed."
)


def summary_row(state: State, stretch: Segment, cut: Cut, summary: SegmentSummary, policy: Policy) -> Segment | None:
    """Return the row behind a stretch whose last turn is the summary of all up to there; None where it cannot fit.

    The turns of the stretch are context here: marks leave them out of the loss where the target reads such.
    """

    def build(observed: Sequence[Placing]) -> Segment:
        placings = _asking(state, [*stretch.composed.placings, *observed], policy)
        context = [out_of_loss(each, policy) for each in placings]
        answer = Placing(new_assistant_turn(state.original, summary.text), None)
        composed = Composed((*context, answer))
        return replace(
            stretch,
            kind="summary",
            composed=composed,
            count=state.count_row(composed.turns),
            end=cut.resume,
            assistant_tokens=summary.tokens,
            context_tokens=stretch.context_tokens + stretch.assistant_tokens,
            summary=summary,
        )

    return fitted_to(state, range(cut.end, cut.resume), policy, build)


def _asking(state: State, placings: list[Placing], policy: Policy) -> list[Placing]:
    """Add the request: a user turn, or in the last turn where the target takes none behind it."""
    last = placings[-1]
    if last.turn.role == "assistant" or (last.turn.role == "tool" and takes_user_after_tool(policy.target)):
        return [*placings, Placing(new_user_turn(state.original, REQUEST), None)]
    return [*placings[:-1], Placing(add_text(last.turn, after=f"\n\n{REQUEST}"), last.place)]
