"""The row that teaches to write a running summary: what it was made of, a request to summarise, and the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.builder import Builder, Built, Span
from trajcompress.compaction.segments.compose import Composed, Placing, out_of_loss
from trajcompress.compaction.segments.cuts import Cut
from trajcompress.compaction.segments.segment import Segment, SegmentSummary
from trajcompress.compaction.segments.shorten import Shortener
from trajcompress.compaction.state import State
from trajcompress.formats.turns import add_text, new_assistant_turn, new_user_turn
from trajcompress.transcript.targets import takes_user_after_tool
from trajcompress.transcript.trajectory import Turn

REQUEST = (
    "The context is almost full. Summarise all that has happened so far, so that the task can be continued from your "
    "summary alone: what was asked, what was done and what came of it, and every name, path, id and figure that is "
    "still needed."
)


def summary_row(builder: Builder, stretch: Built, cut: Cut, summary: SegmentSummary) -> Segment | None:
    """Return the row behind a stretch whose last turn is the summary of all up to there; None where it cannot fit.

    The turns of the stretch are context here: marks leave them out of the loss where the target reads such, and where
    there is no room for all of them some are cut as in a stretch that is too long.
    """
    if stretch.segment.over:
        return None
    state, policy = builder.state, builder.policy
    answer = new_assistant_turn(state.original, summary.text)
    following = range(cut.end, cut.resume)

    def build(span: Span, turns: Sequence[Turn]) -> Segment:
        context = builder.build(span, turns).segment
        observed = [Placing(turns[place], place) for place in following]
        placings = _asking(state, [*context.composed.placings, *observed], policy)
        composed = Composed((*(out_of_loss(each, policy) for each in placings), Placing(answer, None)))
        shorter = {place for place in following if turns[place] is not state.turns[place]}
        return replace(
            context,
            kind="summary",
            composed=composed,
            count=state.count_row(composed.turns),
            end=cut.resume,
            assistant_tokens=summary.tokens,
            context_tokens=context.context_tokens + context.assistant_tokens,
            summary=summary,
            truncated=context.truncated | shorter,
        )

    # The summary is one of the turns that use what results tell, so that what it says of them stays in them. What
    # follows the stretch is cut first: the next segment tells it in full.
    turns = (*stretch.turns[: cut.end], *state.turns[cut.end : cut.resume], answer)
    places = [*following, *range(stretch.span.start, cut.end)]
    return Shortener(builder, stretch.span, turns, places, build).within(policy.target_max_tokens)


def _asking(state: State, placings: Sequence[Placing], policy: Policy) -> list[Placing]:
    """Add the request: a user turn, or in the last turn where the target takes none behind it."""
    last = placings[-1]
    if last.turn.role == "assistant" or (last.turn.role == "tool" and takes_user_after_tool(policy.target)):
        return [*placings, Placing(new_user_turn(state.original, REQUEST), None)]
    return [*placings[:-1], Placing(add_text(last.turn, after=f"\n\n{REQUEST}"), last.place)]
