"""Summarise a region: the search for a summary with which a row fits, and which tells what the kept turns rely on.

Each answer is spliced into the row and counted. Where the row is over, or something needed is missing:

1. The same summary is asked for once more, saying what was wrong, where a better answer would be enough: one as short
   as asked, or with what it left out. That is pointless where no model wrote it.
2. Else the next summary tells more of the middle, and updates the last; that makes room for what is missing, too.

This goes on until the row fits and nothing is missing, the middle is used up, or the passes are. The best of what was
found is taken: where that fits, a failure of a later request costs nothing; where nothing fits yet, the row fails.
At last, where the built-in summariser wrote less than it might, another of its summaries tells fewer turns.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from msgspec import Struct, structs

from trajcompress.compaction.fit_summary import fit_summary
from trajcompress.compaction.order import truncation_order
from trajcompress.compaction.over_limit import part_over, part_too_long, truncated
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.reading import request_for
from trajcompress.compaction.region import Compress, Keep, Plan, plan_region
from trajcompress.compaction.state import Splice, State
from trajcompress.compaction.verify import overhead, splice_again, splice_in
from trajcompress.errors import SummaryError, UncountableTextError
from trajcompress.facts import facts_lines
from trajcompress.summarize.base import BUILT_IN, SummaryRequest


def summarize_region(state: State, policy: Policy) -> Asking[State | Skip]:
    """Replace a region by a summary with which the row fits; the shortest, or most complete, where none does.

    A row of which observations were cleared is summarised as it was before where it cannot be as it is now.

    Raises:
        SummaryError: there is no summary with which the row fits.
        TimeoutError: the time for the row is up, and none was found yet.
    """
    view = _planned_for(state, policy)
    if view is None:
        return NOTHING_TO_DO
    search = _Search(policy)
    found = yield from search.run(view, whole_at_last=view is not state)
    may_begin_again = found is None and state.cleared and not search.passes and not _fits_truncated(state, policy)
    if may_begin_again:
        view = state = state.whole
        found = yield from search.run(state, whole_at_last=False)
    if found is None:
        skip = search.skip
        return structs.replace(skip, reason=part_over(state, policy) or skip.reason)
    return state.with_splice(
        found if _is_around(state, view, found) else splice_again(state, state.turns, found, policy)
    )


def _is_around(state: State, view: State, splice: Splice) -> bool:
    """Whether the turns around a summary are those of the state, though it was planned for another view of it."""
    around = (*range(splice.region.start), *range(splice.region.end, len(state.turns)))
    return all(state.turns[index] is view.turns[index] for index in around)


def _planned_for(state: State, policy: Policy) -> State | None:
    """Return the state that the region is planned for; None where truncating the last observations is enough.

    Where observations are truncated before turns of the assistant are summarised away, that is the one with them as
    short as they may become, if a summary makes it fit then: so as few turns as possible go. The last ones stay whole
    if a summary makes it fit so.
    """
    if not (policy.clear_observations and policy.fit == "strict"):
        return state
    for with_last in (False, True):
        short = truncated(state, truncation_order(state, policy, with_last=with_last))
        if with_last and short.tokens <= policy.target_max_tokens:
            return None
        if part_too_long(short, policy) is None:
            return short
    return state


def _fits_truncated(state: State, policy: Policy) -> bool:
    strict = policy.clear_observations and policy.fit == "strict"
    return strict and truncated(state, truncation_order(state, policy)).tokens <= policy.target_max_tokens


class _Search(Struct):
    """One row's search; it may begin again with another state of it. ``best`` may be over the limit."""

    policy: Policy
    best: Splice | None = None
    passes: int = 0
    skip: Skip = NOTHING_TO_DO

    @property
    def fits(self) -> bool:
        """Whether the best is within the limit."""
        return self.best is not None and self.best.tokens <= self.policy.target_max_tokens

    def run(self, state: State, *, whole_at_last: bool) -> Asking[Splice | None]:
        """Search, and return the best; None, with the reason in ``skip``, where nothing is better than the row."""
        try:
            yield from self._search(state, whole_at_last=whole_at_last)
        except (SummaryError, TimeoutError):
            if not self.fits:
                raise
        if self.best is not None and self.best.tokens >= state.tokens:
            self.best = fit_summary(state, self.best, self.policy)
            if self.best is None:
                self.skip = Skip("summary_saves_nothing")
        return self.best

    def _search(self, state: State, *, whole_at_last: bool) -> Asking[None]:
        """Search; with ``whole_at_last`` the last pass tells the whole middle, which leaves the most room."""
        policy, target = self.policy, self.policy.target_max_tokens
        excess = state.tokens - target + overhead(state, policy)
        last: Splice | None = None  # what the next summary updates
        request: SummaryRequest | None = None
        room = 0  # tokens that the last summary was to take
        parting = state.ledger.parting() if state.ledger else ()
        for left in reversed(range(policy.max_passes)):
            if whole_at_last and not left and not self.fits:
                request, excess = None, sum(state.sizes)
            if request is None:
                update = None if last is None or last.summarizer == BUILT_IN else last  # that reads all again at once
                wanted = self._plan(state, excess, parting, update)
                if isinstance(wanted, Keep):
                    if self.best is None:
                        self.skip = Skip(wanted.reason)
                    return
                if last is not None and last.region == wanted.region and wanted.summary_tokens >= room:
                    return
                plan, room = wanted, wanted.summary_tokens
                is_update = update is not None and update.region.start == plan.region.start
                request = request_for(state, plan.region, plan.summary_tokens, update if is_update else None, policy)
            made = yield from self._attempt(state, plan, request)
            if made is None:
                if self.best is None:
                    self.skip = Skip(
                        "template_refuses_summary", "the chat template takes the row, but not with a summary in it"
                    )
                return
            self.best = made if self.best is None else min(self.best, made, key=self._demerits)
            if self.fits and self._is_complete(self.best, request):
                yield from self._with_fewer_turns(state, self.best, plan, parting)
                return
            last = made if last is None or last.region != made.region else min(last, made, key=_tokens)
            request = self._once_more(request, made)
            # What a turn frees is known by now: the template may write less, or more, than the turn holds.
            freed = max(1, state.tokens - last.tokens + last.summary_tokens)
            short = last.tokens - target + (self._room_for(state, last) if last.lost else 0)
            excess = plan.tokens - plan.summary_tokens + math.ceil(short * plan.tokens / freed)

    def _plan(self, state: State, excess: int, parting: Collection[int], update: Splice | None) -> Plan:
        sizes, layout, room = state.sizes, state.layout, self.policy.summary_size
        begin = update.region.start if update else None
        return plan_region(sizes, layout, excess, room, state.previous_tokens, parting=parting, begin=begin)

    def _with_fewer_turns(self, state: State, made: Splice, plan: Compress, parting: Collection[int]) -> Asking[None]:
        """Leave turns in the row that a summary shorter than it might be has room for, if that is free."""
        if made.summarizer != BUILT_IN or made.region != plan.region or self.passes >= self.policy.max_passes:
            return
        sizes, layout, written = state.sizes, state.layout, made.summary_tokens
        excess = plan.tokens - written - (self.policy.target_max_tokens - made.tokens)
        less = plan_region(sizes, layout, excess, written, state.previous_tokens, parting=parting)
        if isinstance(less, Keep) or less.tokens >= plan.tokens:
            return
        room = min(less.tokens - excess, plan.summary_tokens)  # other turns may have more to tell
        fewer = yield from self._attempt(state, less, request_for(state, less.region, room, None, self.policy))
        if fewer and fewer.tokens <= self.policy.target_max_tokens and len(fewer.lost) <= len(made.lost):
            self.best = fewer

    def _attempt(self, state: State, plan: Compress, request: SummaryRequest) -> Asking[Splice | None]:
        self.passes += 1
        state.emit(
            "planned",
            tokens=state.first.tokens,
            region_start_idx=plan.region.start,
            region_end_idx=plan.region.end,
            region_tokens=plan.tokens,
            summary_target_tokens=request.target_tokens,
            attempt=self.passes,
        )
        summary = yield request if self.policy.grounded else replace(request, facts=())
        try:
            return splice_in(state, plan.region, request, summary, self.policy)
        except UncountableTextError as error:  # the row's own texts were all counted before
            raise SummaryError("uncountable_summary", str(error)) from error

    def _once_more(self, request: SummaryRequest, made: Splice) -> SummaryRequest | None:
        """Ask for the same summary once more, where an answer that does as asked would be enough."""
        if request.answer is not None or made.summarizer == BUILT_IN:
            return None
        over = made.tokens - self.policy.target_max_tokens
        beyond = made.summary_tokens - request.target_tokens
        return None if over > max(beyond, 0) else replace(request, answer=made.answer, redactions=0)

    def _is_complete(self, made: Splice, request: SummaryRequest) -> bool:
        """Whether the summary holds what is needed, and nothing of it had to be added that could be asked for."""
        if not self.policy.grounded:
            return True
        asked_all = request.answer is not None or made.summarizer == BUILT_IN or not made.missing
        return asked_all and not made.lost

    def _demerits(self, made: Splice) -> tuple[int, bool, int, int]:
        """Return what speaks against a splice: tokens over the limit, then facts lost, then facts only listed.

        Where a model fails at a later request and the built-in summariser steps in, what a model wrote before stands.
        """
        over = max(made.tokens - self.policy.target_max_tokens, 0)
        return over, made.summarizer == BUILT_IN, len(made.lost), len(made.missing)

    def _room_for(self, state: State, made: Splice) -> int:
        """Return the tokens that it takes to add to a summary what it lost."""
        lost = [note for fact, note in zip(made.missing, made.notes, strict=True) if fact in made.lost]
        return state.count_text(f"\n{facts_lines(lost)}") if self.policy.grounded else 0


def _tokens(splice: Splice) -> int:
    return splice.tokens
