"""The search for a summary with which a row fits, and which tells what the kept turns rely on.

Each answer is assembled into the row and counted. Where the row is over, or something needed is missing:

1. The same summary is asked for once more, saying what was wrong, where a better answer would be enough: one as short
   as asked, or with what it left out. That is pointless where no model wrote it.
2. Else the next summary tells more of the middle, and updates the last; that makes room for what is missing, too.

This goes on until the row fits and nothing is missing, the middle is used up, or the passes are. The best of what was
found is taken: where that fits, a failure of a later request costs nothing; where nothing fits yet, the row fails.

A search is a generator: it yields what is to be summarised, and is sent the summary or thrown why there is none.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias, TypeVar

from trajcompress.compaction.material import material_for
from trajcompress.compaction.measure import Measured, Rules
from trajcompress.compaction.pruned import PrunedRow
from trajcompress.compaction.region import Compress, Keep, plan_region
from trajcompress.compaction.resorts import Resorts
from trajcompress.compaction.verify import Candidate, Verifier
from trajcompress.errors import SummaryError, UncountableTextError
from trajcompress.events import Tell
from trajcompress.facts import facts_line
from trajcompress.metrics.row import RowMetrics
from trajcompress.summarize.base import BUILT_IN, Summary, SummaryRequest
from trajcompress.tokens.counter import TokenCounter

T = TypeVar("T")
Asking: TypeAlias = Generator[SummaryRequest, Summary, T]


@dataclass(frozen=True, slots=True)
class Tools:
    """What a search works with; the same for all rows of a run."""

    counter: TokenCounter
    rules: Rules
    verifier: Verifier
    resorts: Resorts
    tell: Tell


class Search:
    """One row's search. ``best`` is what was found so far for ``row``; it may be over the limit."""

    def __init__(self, tools: Tools, metrics: RowMetrics) -> None:
        self.row: PrunedRow | None = None
        self.best: Candidate | None = None
        self._tools = tools
        self._metrics = metrics
        self._target = tools.rules.target_max_tokens

    @property
    def fits(self) -> bool:
        """Whether the best is within the limit."""
        return self.best is not None and self.best.tokens <= self._target

    @property
    def passes(self) -> int:
        """How many summaries were asked for."""
        return self._metrics.passes

    def run(self, row: PrunedRow) -> Asking[Candidate | None]:
        """Search, and return the best; None, with the reason in the metrics, where nothing is better than the row.

        Raises:
            SummaryError: there is no summary with which the row fits.
        """
        self.row, measured = row, row.measured
        try:
            yield from self._search(measured, whole_at_last=row.uncut is not None)
        except SummaryError:
            if not self.fits:
                raise
        if self.best is not None and self.best.tokens >= measured.count.tokens:
            self._metrics.keep("summary_saves_nothing")
            self.best = None
        return self.best

    def _search(self, measured: Measured, *, whole_at_last: bool) -> Asking[None]:
        """Search; with ``whole_at_last`` the last pass tells the whole middle, which leaves the most room."""
        tools, rules = self._tools, self._tools.rules
        excess = measured.count.tokens - self._target + tools.verifier.overhead(measured.trajectory)
        told: Candidate | None = None  # what the next summary updates
        request: SummaryRequest | None = None
        room = 0  # tokens that the last summary was to take
        for left in reversed(range(rules.max_passes)):
            if whole_at_last and not left and not self.fits:
                request, excess = None, sum(measured.sizes)
            if request is None:
                wanted = plan_region(
                    measured.sizes, measured.layout, excess, rules.summary_size, measured.earlier_tokens
                )
                if isinstance(wanted, Keep):
                    if self.best is None:
                        self._metrics.keep(wanted.reason)
                    return
                if told is not None and told.region == wanted.region and wanted.summary_tokens >= room:
                    return
                plan, room = wanted, wanted.summary_tokens
                request = self._request(measured, plan, told)
            candidate = yield from self._attempt(measured, plan, request)
            if candidate is None:
                if self.best is None:
                    self._metrics.keep(
                        "template_refuses_summary", "the chat template takes the row, but not with a summary in it"
                    )
                return
            self.best = candidate if self.best is None else min(self.best, candidate, key=self._demerits)
            if self.fits and self._is_complete(self.best, request):
                return
            told = candidate if told is None or told.region != candidate.region else min(told, candidate, key=_tokens)
            request = self._once_more(request, candidate)
            # What a turn frees is known by now: the template may write less, or more, than the turn holds.
            freed = max(1, measured.count.tokens - told.tokens + told.summary_tokens)
            short = told.tokens - self._target + (self._room_for(told.lost) if told.lost else 0)
            excess = plan.tokens - plan.summary_tokens + math.ceil(short * plan.tokens / freed)

    def _request(self, measured: Measured, plan: Compress, told: Candidate | None) -> SummaryRequest:
        tools, metrics = self._tools, self._metrics
        given = material_for(measured, plan.region, told, facts=tools.rules.facts != "off")
        metrics.redactions += given.redactions
        return SummaryRequest(
            row_id=f"{metrics.source_file}#{metrics.source_row}",
            head=given.head,
            region=tools.resorts.reading(measured, plan.region.end, given),
            facts=given.facts,
            target_tokens=plan.summary_tokens,
            count=tools.counter.count_text,
            tell=partial(tools.tell, source_file=metrics.source_file, source_row=metrics.source_row),
            previous=given.previous,
            focus=tools.rules.focus,
            special_tokens=tools.counter.special_tokens,
        )

    def _attempt(self, measured: Measured, plan: Compress, request: SummaryRequest) -> Asking[Candidate | None]:
        tools, metrics = self._tools, self._metrics
        metrics.passes += 1
        request.tell(
            "planned",
            tokens=metrics.original_tokens,
            region_start_idx=plan.region.start,
            region_end_idx=plan.region.end,
            region_tokens=plan.tokens,
            summary_target_tokens=request.target_tokens,
            attempt=metrics.passes,
        )
        summary = yield request if tools.rules.grounded else replace(request, facts=())
        try:
            return tools.verifier.verify(measured, plan.region, request, summary)
        except UncountableTextError as error:  # the row's own texts were all counted before
            raise SummaryError("uncountable_summary", str(error)) from error

    def _once_more(self, request: SummaryRequest, candidate: Candidate) -> SummaryRequest | None:
        """Ask for the same summary once more, where an answer that does as asked would be enough."""
        if request.answer is not None or candidate.summarizer == BUILT_IN:
            return None
        over = candidate.tokens - self._target
        beyond = candidate.summary_tokens - request.target_tokens
        return None if over > max(beyond, 0) else replace(request, answer=candidate.answer)

    def _is_complete(self, candidate: Candidate, request: SummaryRequest) -> bool:
        """Whether the summary holds what is needed, and nothing of it had to be added that could be asked for."""
        if not self._tools.rules.grounded:
            return True
        asked_all = request.answer is not None or candidate.summarizer == BUILT_IN or not candidate.missing
        return asked_all and not candidate.lost

    def _demerits(self, candidate: Candidate) -> tuple[int, bool, int, int]:
        """Return what speaks against a candidate: tokens over the limit, then facts lost, then facts only listed.

        Where a model fails at a later request and the built-in summariser steps in, what a model wrote before stands.
        """
        over = max(candidate.tokens - self._target, 0)
        return over, candidate.summarizer == BUILT_IN, len(candidate.lost), len(candidate.missing)

    def _room_for(self, facts: tuple[str, ...]) -> int:
        """Return the tokens that it takes to add facts to a summary."""
        return self._tools.counter.count_text(f"\n{facts_line(facts)}") if self._tools.rules.grounded else 0


def _tokens(candidate: Candidate) -> int:
    return candidate.tokens
