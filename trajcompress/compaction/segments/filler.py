"""Filling segments: how many turns stand in each, counted as a trainer sees them."""

from __future__ import annotations

from msgspec import structs

from trajcompress.compaction.policy import Policy, Skip
from trajcompress.compaction.region import least_summary
from trajcompress.compaction.segments.builder import Builder, Built, Span
from trajcompress.compaction.segments.cuts import Cut, find_cuts
from trajcompress.compaction.segments.running_summary import longest_summary
from trajcompress.compaction.segments.segment import SegmentSummary
from trajcompress.compaction.segments.shorten import fit_one_group
from trajcompress.compaction.state import State
from trajcompress.transcript.targets import ends_with_what_follows

_OBSERVED_SHARE = 4  # of what is left for what the last turn was answered
_SLACK = 1.02  # sizes of turns are estimates: what is so little over may fit


class Filler:
    """Fills one segment after the other.

    ``reserve`` are tokens that each leaves for a row that teaches its summary, if it can: for the sake of such a row
    no turn is cut, nor put where it does not fit. ``reached`` is where the last segment ends, None once that is the
    end of the row.
    """

    def __init__(self, state: State, policy: Policy, reserve: int = 0) -> None:
        self.reached: Cut | None = None
        self.builder = Builder(state, policy)
        self._state = state
        self._policy = policy
        self._reserve = reserve
        self._cuts = find_cuts(state.turns, self.builder.start)
        self._next = 0  # the first of the cuts at which the next segment may end

    def no_room(self) -> Skip | None:
        """Say why a row cannot be segmented at all; None where it can."""
        state, policy = self._state, self._policy
        if all(turn.role != "assistant" for turn in state.turns):
            return Skip("no_assistant_turn")
        outside, held = self.builder.outside, self.builder.head_tokens()
        if outside + held + least_summary(policy.summary_size, state.tokens) > policy.target_max_tokens:
            return Skip("tools_schema" if outside > held else "head")
        return None

    def fill(self, begin: Cut | None, summary: SegmentSummary | None, first_again: int | None) -> Built:
        """Return the segment behind a cut, with as many turns as fit.

        Args:
            begin: the cut, None for the first segment.
            summary: tells all before it.
            first_again: where the turns begin that may stand once more before its stretch; the fewer the less fit.
        """
        at = self._next
        start = self.builder.start if begin is None else begin.resume
        for again in self._again(first_again, begin):
            best = self.builder.build(Span(begin, self._cuts[at], start, again, summary))
            if best.tokens <= self._room(at, self._reserve):
                at, best = self._grow(best)
                break
        else:
            best = fit_one_group(self.builder, best, max(self._room(at), self._policy.target_max_tokens // 2))
        if self._reserve:
            at, best = self._with_what_fits_here_alone(at, best)
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

    def _room(self, at: int, reserve: int = 0) -> int:
        """Return the tokens that a segment may have which ends at a cut: behind the last nothing follows."""
        target, cut = self._policy.target_max_tokens, self._cuts[at]
        if not (reserve or ends_with_what_follows(self._policy.target)) or at == len(self._cuts) - 1:
            return target
        observed = sum(self._state.sizes[cut.end : cut.resume])
        return target - reserve - min(observed, target // _OBSERVED_SHARE)  # it can be truncated

    def _grow(self, best: Built) -> tuple[int, Built]:
        """Return the last cut at which the segment ends within its room, and that segment."""
        cuts, sizes, least = self._cuts, self._state.sizes, self._next

        def added(at: int) -> int:
            return sum(sizes[cuts[least].end : cuts[at].end])

        at = least
        while at + 1 < len(cuts) and best.tokens + added(at + 1) <= _SLACK * self._policy.target_max_tokens:
            at += 1
        while at > least:
            made = self.builder.build(structs.replace(best.span, cut=cuts[at]))
            over = made.tokens - self._room(at, self._reserve)
            if over <= 0:
                return at, made
            most = added(at) - over
            while at > least and added(at) > most:
                at -= 1
        return least, best

    def _with_what_fits_here_alone(self, at: int, best: Built) -> tuple[int, Built]:
        """Take turns into the reserve that fit whole in this segment, and behind the next summary would not."""
        while at + 1 < len(self._cuts) and not self._fits_behind(at):
            more = self.builder.build(structs.replace(best.span, cut=self._cuts[at + 1]))
            if more.tokens > self._room(at + 1):
                break
            at, best = at + 1, more
        return at, best

    def _fits_behind(self, at: int) -> bool:
        """Tell whether what comes next behind a cut fits whole behind the longest summary of all before it."""
        begin, sizes = self._cuts[at], self._state.sizes
        summary = longest_summary(self._policy, sum(sizes[self.builder.start : begin.resume]))
        turns = sum(sizes[begin.end : self._cuts[at + 1].end])  # with what was observed, which the summary quotes
        held = self.builder.outside + self.builder.head_tokens() + summary + turns
        return held <= self._room(at + 1)
