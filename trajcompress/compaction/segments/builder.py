"""Building segments: the turns of a span put together, and counted as a trainer sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.compose import Contents, Observed, Placing, compose
from trajcompress.compaction.segments.cuts import Cut
from trajcompress.compaction.segments.head import fitted_head, head_end, task_places
from trajcompress.compaction.segments.segment import Segment, SegmentSummary
from trajcompress.compaction.state import State
from trajcompress.transcript.tool_groups import match_results
from trajcompress.transcript.trajectory import ToolCall, Turn


class Span(Struct, frozen=True):
    """Which turns a segment holds: behind the cut ``begin`` (None at the start of the row), up to ``cut``.

    From ``again`` on turns of the stretch before stand once more, None where none do. ``excess`` are tokens that the
    head is to be shorter by.
    """

    begin: Cut | None
    cut: Cut
    first: int
    again: int | None
    summary: SegmentSummary | None
    excess: int = 0

    @property
    def start(self) -> int:
        """The first turn behind the head that stands in the segment, or is quoted at the end of its summary."""
        if self.again is not None:
            return self.again
        return self.first if self.begin is None else self.begin.end


@dataclass(frozen=True, slots=True)
class Built:
    """A segment, and what it was built of: ``turns`` are those of the row, some of them truncated."""

    segment: Segment
    span: Span
    turns: tuple[Turn, ...]

    @property
    def tokens(self) -> int:
        """Tokens of the segment."""
        return self.segment.tokens


class Builder:
    """Builds the segments of one row. ``start`` is where its head ends."""

    def __init__(self, state: State, policy: Policy) -> None:
        self.state = state
        self.policy = policy
        self.start = head_end(state.turns)
        self._task = task_places(state.turns, self.start)
        self._calls = _calls_of(state.turns)
        self._opening = fitted_head(state, range(self.start), policy)
        self._head = fitted_head(state, self._task, policy)

    @property
    def head(self) -> tuple[Turn, ...]:
        """The turns that every segment but the first begins with."""
        return tuple(each.turn for each in self._head)

    @property
    def outside(self) -> int:
        """Tokens of what stands in each row besides its turns, such as tool definitions."""
        return max(0, self.state.tokens - sum(self.state.sizes))

    def head_tokens(self) -> int:
        """Count the head of every segment but the first."""
        return sum(self.state.counter.count_turns(self.head, self.state.known))

    def build(self, span: Span, changed: Sequence[Turn] | None = None) -> Built:
        """Put a segment together and count it; ``changed`` are the turns of the row, some of them truncated."""
        state, turns = self.state, tuple(changed or self.state.turns)
        begin, stretch = span.begin, range(span.first, span.cut.end)
        again = range(span.again, span.first) if span.again is not None else range(0)
        observed = range(begin.end, begin.resume) if begin and not again else range(0)
        head = self._opening if begin is None else self._head
        if span.excess:
            head = fitted_head(state, range(self.start) if begin is None else self._task, self.policy, span.excess)
        contents = Contents(
            head,
            span.summary.text if span.summary else None,
            [Observed(turns[place], place, self._calls.get(place)) for place in observed],
            [Placing(turns[place], place) for place in again],
            [Placing(turns[place], place) for place in stretch],
        )
        composed = compose(state.original, contents, self.policy)
        standing = [*head, *(Placing(turns[place], place) for place in (*observed, *again, *stretch))]
        segment = Segment(
            "stretch",
            composed,
            state.count_row(composed.turns),
            span.first,
            span.cut.end,
            self._said(stretch),
            span.summary,
            self._said(again),
            frozenset(
                each.place for each in standing if each.place is not None and each.turn is not state.turns[each.place]
            ),
        )
        return Built(segment, span, turns)

    def _said(self, places: range) -> int:
        return sum(self.state.sizes[place] for place in places if self.state.turns[place].role == "assistant")


def _calls_of(turns: Sequence[Turn]) -> dict[int, ToolCall]:
    """Return the call that each turn of results answers, the first where it answers several."""
    calls: dict[int, ToolCall] = {}
    for (index, _), call, _ in match_results(turns):
        if call is not None and turns[call[0]].calls:
            calls.setdefault(index, turns[call[0]].calls[call[1]])
    return calls
