"""Filling segments: how many turns stand in each, counted as a trainer sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from msgspec import Struct, structs

from trajcompress.compaction.policy import Policy, Skip
from trajcompress.compaction.region import least_summary
from trajcompress.compaction.segments.compose import Contents, Observed, Placing, compose
from trajcompress.compaction.segments.cuts import Cut, find_cuts
from trajcompress.compaction.segments.head import fitted_head, head_end, task_places
from trajcompress.compaction.segments.segment import Over, Segment, SegmentSummary
from trajcompress.compaction.state import State
from trajcompress.compaction.text.truncate import truncate_until
from trajcompress.transcript.targets import ends_with_what_follows
from trajcompress.transcript.tool_groups import match_results
from trajcompress.transcript.trajectory import ToolCall, Turn

_OBSERVED_SHARE = 4  # of what is left for what the last turn was answered
_SLACK = 1.02  # sizes of turns are estimates: what is so little over may fit


class _Span(Struct, frozen=True):
    """Which turns a segment holds: behind the cut ``begin`` (None at the start of the row), up to ``cut``.

    From ``again`` on turns of the stretch before stand once more, None where none do. ``excess`` are tokens that the
    head is to be shorter by.
    """

    begin: Cut | None
    cut: Cut
    first: int
    again: int | None
    summary: SegmentSummary | None
    excess: int | None = None


class Filler:
    """Fills one segment after the other; ``reserve`` are tokens that each leaves for a row that teaches its summary.

    ``reached`` is where the last one ends, None once that is the end of the row.
    """

    def __init__(self, state: State, policy: Policy, reserve: int = 0) -> None:
        turns = state.turns
        self.reached: Cut | None = None
        self._state = state
        self._policy = policy
        self._reserve = reserve
        self._start = head_end(turns)
        self._cuts = find_cuts(turns, self._start)
        self._next = 0  # the first of the cuts at which the next segment may end
        self._calls = _calls_of(turns)
        self._opening = fitted_head(state, range(self._start), policy)
        self._head = fitted_head(state, task_places(turns, self._start), policy)

    @property
    def head(self) -> tuple[Turn, ...]:
        """The turns that every segment but the first begins with."""
        return tuple(each.turn for each in self._head)

    def no_room(self) -> Skip | None:
        """Say why a row cannot be segmented at all; None where it can."""
        state, policy = self._state, self._policy
        if all(turn.role != "assistant" for turn in state.turns):
            return Skip("no_assistant_turn")
        outside = max(0, state.tokens - sum(state.sizes))
        held = sum(state.counter.count_turns(self.head, state.known))
        if outside + held + least_summary(policy.summary_size, state.tokens) > policy.target_max_tokens:
            return Skip("tools_schema" if outside > held else "head")
        return None

    def fill(self, begin: Cut | None, summary: SegmentSummary | None, first_again: int | None) -> Segment:
        """Return the segment behind a cut, with as many turns as fit.

        Args:
            begin: the cut, None for the first segment.
            summary: tells all before it.
            first_again: where the turns begin that may stand once more before its stretch; the fewer the less fit.
        """
        start = self._start if begin is None else begin.resume
        spans = [
            _Span(begin, self._cuts[self._next], start, again, summary) for again in self._again(first_again, begin)
        ]
        made = None
        for span in spans:
            made = self._build(span)
            if made.tokens <= self._room(self._next):
                at, best = self._grow(span, made)
                break
        else:
            at, best = self._next, self._truncated(spans[-1], made or self._build(spans[-1]))
        self._next = at + 1
        self.reached = self._cuts[at] if self._next < len(self._cuts) else None
        return best

    def _again(self, first: int | None, begin: Cut | None) -> list[int | None]:
        """Return from where turns may stand again: as many as asked, then ever fewer, at last none."""
        if first is None or begin is None:
            return [None]
        return [*(cut.resume for cut in self._cuts if first <= cut.resume < begin.resume), None]

    def units_before(self, cut: Cut, units: int, first: int) -> int | None:
        """Return where the last so many tool groups begin of the stretch from ``first`` on; None for no ``units``."""
        starts = [first, *(each.resume for each in self._cuts if first < each.resume < cut.resume)]
        return starts[max(0, len(starts) - units)] if units else None

    def _room(self, at: int) -> int:
        """Return the tokens that a segment may have which ends at a cut: behind the last nothing follows."""
        target, cut = self._policy.target_max_tokens, self._cuts[at]
        if not (self._reserve or ends_with_what_follows(self._policy.target)) or at == len(self._cuts) - 1:
            return target
        observed = sum(self._state.sizes[cut.end : cut.resume])
        return target - self._reserve - min(observed, target // _OBSERVED_SHARE)  # it can be truncated

    def _grow(self, span: _Span, best: Segment) -> tuple[int, Segment]:
        """Return the last cut at which the segment ends within its room, and that segment."""
        cuts, sizes, least = self._cuts, self._state.sizes, self._next

        def added(at: int) -> int:
            return sum(sizes[cuts[least].end : cuts[at].end])

        at = least
        while at + 1 < len(cuts) and best.tokens + added(at + 1) <= _SLACK * self._policy.target_max_tokens:
            at += 1
        while at > least:
            made = self._build(structs.replace(span, cut=cuts[at]))
            over = made.tokens - self._room(at)
            if over <= 0:
                return at, made
            most = added(at) - over
            while at > least and added(at) > most:
                at -= 1
        return least, best

    def _build(self, span: _Span, changed: Sequence[Turn] | None = None) -> Segment:
        """Put a segment together and count it; ``changed`` are the turns of the row, some of them truncated."""
        state, turns = self._state, changed or self._state.turns
        begin, stretch = span.begin, range(span.first, span.cut.end)
        again = range(span.again, span.first) if span.again is not None else range(0)
        observed = range(begin.end, begin.resume) if begin and not again else range(0)
        head = self._opening if begin is None else self._head
        if span.excess is not None:
            places = [each.place for each in head if each.place is not None]
            head = fitted_head(state, places, self._policy, span.excess)
        contents = Contents(
            head,
            span.summary.text if span.summary else None,
            [Observed(turns[place], place, self._calls.get(place)) for place in observed],
            [Placing(turns[place], place) for place in again],
            [Placing(turns[place], place) for place in stretch],
        )
        composed = compose(state.original, contents, self._policy)
        shorter = (each.place for each in head if each.place is not None and each.turn is not state.turns[each.place])
        return Segment(
            "stretch",
            composed,
            state.count_row(composed.turns),
            span.first,
            span.cut.end,
            self._said(stretch),
            span.summary,
            self._said(again),
            frozenset(shorter),
        )

    def _said(self, places: range) -> int:
        return sum(self._state.sizes[place] for place in places if self._state.turns[place].role == "assistant")

    def _truncated(self, span: _Span, whole: Segment) -> Segment:
        """Truncate what was observed in a segment of one tool group, so that it fits; else say why it is over."""
        turns, begin = self._state.turns, span.begin
        places = range(begin.end if begin else span.first, span.cut.end)
        room = max(self._room(self._next), self._policy.target_max_tokens // 2)

        def truncated(may_change: Sequence[int], requests: Sequence[int] = ()) -> Segment | None:
            done = truncate_until(
                turns[: span.cut.end],
                may_change,
                tokens=whole.tokens,
                room=room,
                build=partial(self._build, span),
                count=self._state.count_text,
                clean=self._state.takes_secrets_out,
                requests=requests,
            )
            return replace(done.built, truncated=done.built.truncated | done.changed) if done else None

        results = [place for place in places if turns[place].answers]
        if (shorter := truncated(results)) is not None:
            return shorter
        shorter = self._build(structs.replace(span, excess=whole.tokens - room))
        if shorter.tokens <= self._policy.target_max_tokens:
            return shorter
        requests = [place for place in places if turns[place].role == "user" and not turns[place].answers]
        if requests and self._policy.fit == "strict" and (shorter := truncated([*results, *requests], requests)):
            return shorter
        return replace(whole, over=self._why_over(whole)) if whole.tokens > self._policy.target_max_tokens else whole

    def _why_over(self, whole: Segment) -> Over:
        longest = max(self._state.sizes[whole.first : whole.end], default=0)
        return "single_turn" if whole.tokens - longest <= self._policy.target_max_tokens else "tool_group"


def _calls_of(turns: Sequence[Turn]) -> dict[int, ToolCall]:
    """Return the call that each turn of results answers, the first where it answers several."""
    calls: dict[int, ToolCall] = {}
    for (index, _), call, _ in match_results(turns):
        if call is not None and turns[call[0]].calls:
            calls.setdefault(index, turns[call[0]].calls[call[1]])
    return calls
