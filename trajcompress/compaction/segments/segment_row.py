"""An over-long row in segments: every assistant turn stands in exactly one, in full, behind what it answers.

The first segment is the head and as many turns as fit. Each one after it has the head, the running summary of all
that came before, what was last observed, and the next turns in full: so sees it an agent that compacts its context.
"""

from __future__ import annotations

from trajcompress.compaction.policy import Asking, Policy, Skip
from trajcompress.compaction.segments.filler import Filler
from trajcompress.compaction.segments.running_summary import running_room, update_summary
from trajcompress.compaction.segments.segment import Segment, SegmentSummary
from trajcompress.compaction.segments.summary_row import REQUEST, summary_row
from trajcompress.compaction.segments.what_follows import with_what_follows
from trajcompress.compaction.state import State
from trajcompress.transcript.trajectory import Region

_AROUND_SUMMARY = 32  # tokens that a template puts around a request to summarise and its answer, at most


def segment_row(state: State, policy: Policy) -> Asking[tuple[Segment, ...] | Skip]:
    """Write a row that is over the budget as segments that are not.

    A segment of one tool group that is over has its observations truncated, and is over where that is not enough.

    Returns:
        The segments in order, or why there are none.

    Raises:
        SummaryError: a running summary could not be had.
        TimeoutError: the time for the row is up.
    """
    filler = Filler(state, policy, _reserve(state, policy))
    if (skip := filler.no_room()) is not None:
        return skip
    last = filler.fill(None, None, None)
    segments = [with_what_follows(state, last.segment, filler.reached, policy)]
    summary: SegmentSummary | None = None
    while (cut := filler.reached) is not None:
        first = last.span.first
        summary = yield from update_summary(state, filler.builder.head, Region(first, cut.resume), summary, policy)
        if policy.train_summaries and (row := summary_row(filler.builder, last, cut, summary)) is not None:
            segments.append(row)
        last = filler.fill(cut, summary, filler.units_before(cut, policy.segment_overlap, first))
        segments.append(with_what_follows(state, last.segment, filler.reached, policy))
    if any(segment.count.method != "template" for segment in segments) and state.count.method == "template":
        return Skip("template_refuses_summary", "the chat template takes the row, but not its segments")
    return tuple(segments)


def _reserve(state: State, policy: Policy) -> int:
    """Return the tokens that a stretch of several tool groups leaves for the row that is to teach its summary."""
    if not policy.train_summaries:
        return 0
    return running_room(policy, state.tokens) + state.count_text(REQUEST) + _AROUND_SUMMARY
