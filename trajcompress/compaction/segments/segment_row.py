"""An over-long row in segments: every assistant turn stands in exactly one, in full, behind what it answers.

The first segment is the head and as many turns as fit. Each one after it has the head, the running summary of all that
came before, what was last observed, and the next turns in full, as a live agent that compacts its context sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajcompress.compaction.policy import Asking, Policy, Skip
from trajcompress.compaction.region import least_summary
from trajcompress.compaction.segments.compose import Composed, Observed, Placing, compose
from trajcompress.compaction.segments.cuts import Cut, find_cuts, head_end
from trajcompress.compaction.segments.running_summary import update_summary
from trajcompress.compaction.segments.segment import Over, RunningSummary, Segment
from trajcompress.compaction.state import State
from trajcompress.compaction.text.truncate import truncate_until
from trajcompress.tokens.counter import Count
from trajcompress.transcript.tool_groups import match_results
from trajcompress.transcript.trajectory import Region, ToolCall, Turn

_SLACK = 1.02  # sizes of turns are estimates: what is so little over may fit


def segment_row(state: State, policy: Policy) -> Asking[tuple[Segment, ...] | Skip]:
    """Write a row that is over the budget as segments that are not.

    A segment of one tool group that is over has its observations truncated, and is over where that is not enough.

    Returns:
        The segments in order, or why there are none.

    Raises:
        SummaryError: a running summary could not be had.
        TimeoutError: the time for the row is up.
    """
    filler = _Filler(state, policy)
    if (skip := filler.no_room()) is not None:
        return skip
    segments = [filler.fill(None, None)]
    summary: RunningSummary | None = None
    while (cut := filler.reached) is not None:
        last = segments[-1]
        summary = yield from update_summary(state, filler.head, Region(last.first, cut.resume), summary, policy)
        segments.append(filler.fill(cut, summary))
    if segments[-1].count.method != state.count.method == "template":
        return Skip("template_refuses_summary", "the chat template takes the row, but not its segments")
    return tuple(segments)


class _Filler:
    """Fills one segment after the other. ``reached`` is where the last one ends, None once that is the row's end."""

    def __init__(self, state: State, policy: Policy) -> None:
        turns = state.turns
        self.reached: Cut | None = None
        self._state = state
        self._policy = policy
        self._start = head_end(turns)
        self._cuts = find_cuts(turns, self._start)
        self._next = 0  # the first of the cuts at which the next segment may end
        self._calls = _calls_of(turns)
        self._opening = [Placing(turn, place) for place, turn in enumerate(turns[: self._start])]
        tasks = [each for each in self._opening if not each.turn.example]
        self._head = tasks if any(each.turn.role == "user" for each in tasks) else self._opening

    @property
    def head(self) -> tuple[Turn, ...]:
        """The turns that every segment but the first begins with."""
        return tuple(each.turn for each in self._head)

    def no_room(self) -> Skip | None:
        """Say why a row cannot be segmented at all; None where it can."""
        state, policy = self._state, self._policy
        if all(turn.role != "assistant" for turn in state.turns):
            return Skip("no_assistant_turn", "no turn of an assistant, so nothing to be learnt in segments")
        outside = max(0, state.tokens - sum(state.sizes))
        if outside > policy.target_max_tokens:
            return Skip("tools_schema")
        held = sum(state.sizes[each.place] for each in self._head if each.place is not None)
        if outside + held + least_summary(policy.summary_size, state.tokens) > policy.target_max_tokens:
            return Skip("tools_schema" if outside > held else "head")
        return None

    def fill(self, begin: Cut | None, summary: RunningSummary | None) -> Segment:
        """Return the segment behind a cut, with as many turns as fit."""
        first = begin.resume if begin else self._start
        at = self._next
        best = self._build(begin, summary, at)
        if best.tokens > self._policy.target_max_tokens:
            best = self._truncated(begin, summary, at, best)
        else:
            at, best = self._grow(begin, summary, at, best)
        cut = self._cuts[at]
        self._next = at + 1
        self.reached = cut if self._next < len(self._cuts) else None
        return replace(best, first=first, end=cut.end)

    def _grow(self, begin: Cut | None, summary: RunningSummary | None, at: int, best: Segment) -> tuple[int, Segment]:
        """Return the last cut at which the segment ends within the budget, and that segment."""
        target, cuts, sizes = self._policy.target_max_tokens, self._cuts, self._state.sizes

        def added(cut: int) -> int:
            return sum(sizes[cuts[at].end : cuts[cut].end])

        fits, most = at, at
        while most + 1 < len(cuts) and best.tokens + added(most + 1) <= _SLACK * target:
            most += 1
        base = best.tokens
        while most > fits:
            made = self._build(begin, summary, most)
            if made.tokens <= target:
                return most, made
            over = made.tokens - target
            tried = most
            while most > fits and base + added(tried) - over < base + added(most):
                most -= 1
        return fits, best

    def _build(
        self, begin: Cut | None, summary: RunningSummary | None, at: int, changed: Sequence[Turn] | None = None
    ) -> Segment:
        """Put the segment that ends at a cut together, and count it; ``changed`` are all turns of the row, truncated."""
        turns = changed or self._state.turns
        first, end = begin.resume if begin else self._start, self._cuts[at].end
        observed = [
            Observed(turns[place], place, self._calls.get(place))
            for place in (range(begin.end, begin.resume) if begin else ())
        ]
        stretch = [Placing(turns[place], place) for place in range(first, end)]
        head = self._head if begin else self._opening
        text = summary.text if summary else None
        composed = compose(self._state.original, head, text, observed, stretch, self._policy)
        said = sum(self._state.sizes[i] for i in range(first, end) if turns[i].role == "assistant")
        return Segment("stretch", composed, self._count(composed), first, end, said, summary)

    def _count(self, composed: Composed) -> Count:
        return self._state.count_row(composed.turns)

    def _truncated(self, begin: Cut | None, summary: RunningSummary | None, at: int, whole: Segment) -> Segment:
        """Truncate what was observed in a segment of one tool group, so that it fits; else say why it is over."""
        target, turns = self._policy.target_max_tokens, self._state.turns
        places = [*(range(begin.end, begin.resume) if begin else ()), *range(whole.first, whole.end)]

        def build(changed: tuple[Turn, ...]) -> tuple[Segment, int]:
            made = self._build(begin, summary, at, changed)
            return made, made.tokens - target

        done = truncate_until(
            turns[: self._cuts[at].end],
            [place for place in places if turns[place].answers],
            excess=whole.tokens - target,
            build=build,
            count=self._state.counter.count_text,
        )
        if done is not None:
            return replace(done.built, truncated=done.changed)
        return replace(whole, over=self._why_over(whole))

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
