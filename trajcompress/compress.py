"""One trajectory, start to end: count, plan, summarise, assemble, verify."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from typing import ParamSpec, TypeVar

from trajcompress.deadline import Deadline
from trajcompress.errors import SummarizerUnusableError, SummaryError, UncountableTextError
from trajcompress.events import Tell, nobody
from trajcompress.material import material_for
from trajcompress.measure import Measured, Rules, measure
from trajcompress.metrics import RowMetrics
from trajcompress.plan import Compress, Keep, plan_region
from trajcompress.pruned import PrunedRow
from trajcompress.resorts import Resorts
from trajcompress.summarize.base import Summarizer, SummaryRequest, Usage
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Trajectory, Turn
from trajcompress.verify import Candidate, Verifier

__all__ = ["Rules", "TrajectoryCompressor"]

P = ParamSpec("P")
T = TypeVar("T")


class TrajectoryCompressor:
    """Compresses trajectories by fixed rules. Counting runs in ``executor``, off the event loop."""

    def __init__(
        self,
        counter: TokenCounter,
        summarizer: Summarizer,
        rules: Rules,
        executor: Executor | None = None,
        tell: Tell = nobody,
    ) -> None:
        self._counter = counter
        self._summarizer = summarizer
        self._rules = rules
        self._executor = executor
        self._tell = tell
        self._verifier = Verifier(counter, rules)
        self._resorts = Resorts(counter, rules, self._verifier)

    async def compress(self, trajectory: Trajectory, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        """Return the turns of the compressed trajectory, or None to keep the row as it is; fill the metrics.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        metrics.describe(trajectory, self._counter.engine)
        try:
            measured = await self._off_loop(measure, trajectory, self._counter, self._rules, metrics)
            if measured is None:
                return await self._off_loop(self._resorts.prune_short, trajectory, metrics)
            async with Deadline(self._rules.timeout_s) as deadline:
                pruned = await self._off_loop(self._resorts.prune, trajectory, measured)
                candidate = None
                if pruned.measured.count.tokens > self._rules.target_max_tokens:
                    candidate = await self._search(pruned.measured, metrics, deadline)
                    if candidate is None and pruned.changed and not metrics.passes:
                        pruned = PrunedRow(trajectory.turns, measured)
                        candidate = await self._search(measured, metrics, deadline)
        except UncountableTextError as error:
            metrics.keep("uncountable_text", error)
            metrics.still_over_limit = True  # nobody can say that it is not
        except SummarizerUnusableError:
            raise
        except SummaryError as error:
            metrics.keep(error.reason, error)
            metrics.outcome = "failed"
        except TimeoutError:
            metrics.keep("trajectory_timeout", f"no result within {self._rules.timeout_s:g} s")
            metrics.outcome = "failed"
        else:
            return await self._off_loop(self._settle, trajectory, pruned, candidate, metrics)
        return None

    def _settle(
        self, trajectory: Trajectory, pruned: PrunedRow, candidate: Candidate | None, metrics: RowMetrics
    ) -> tuple[Turn, ...] | None:
        if pruned.measured.count.tokens <= self._rules.target_max_tokens:
            return self._resorts.take_pruned(pruned, metrics)
        if candidate is None:
            return self._resorts.without_summary(trajectory, pruned, metrics)
        return self._accept(pruned, self._resorts.fit(pruned.measured, candidate, metrics), metrics)

    async def _search(self, measured: Measured, metrics: RowMetrics, deadline: Deadline) -> Candidate | None:
        """Summarise ever more of the middle until the result fits, the middle is used up or the passes are.

        A summary that is longer than asked is asked for once more where that may be enough. Else the next one tells
        more of the middle, and updates the last.
        """
        rules = self._rules
        excess = (
            measured.count.tokens
            - rules.target_max_tokens
            + await self._off_loop(self._verifier.overhead, measured.trajectory)
        )
        best: Candidate | None = None
        told: Candidate | None = None
        request: SummaryRequest | None = None
        room = 0  # tokens that the last summary was to take
        for _ in range(rules.max_passes):
            if request is None:
                wanted = plan_region(
                    measured.sizes, measured.layout, excess, rules.summary_size, measured.earlier_tokens
                )
                if isinstance(wanted, Keep):
                    metrics.keep(wanted.reason)
                    return None
                if told is not None and told.region == wanted.region and wanted.summary_tokens >= room:
                    break
                plan, room = wanted, wanted.summary_tokens
                request = await self._off_loop(self._request, measured, plan, told, metrics, deadline)
            candidate = await self._attempt(measured, plan, request, metrics)
            if candidate is None:
                break
            best = candidate if best is None else min(best, candidate, key=_tokens)
            if best.tokens <= rules.target_max_tokens:
                break
            told = candidate if told is None or told.region != candidate.region else min(told, candidate, key=_tokens)
            request = _shorter(request, candidate, candidate.tokens - rules.target_max_tokens)
            # What a turn frees is known by now: the template may write less, or more, than the turn holds.
            freed = max(1, measured.count.tokens - told.tokens + told.summary_tokens)
            more = math.ceil((told.tokens - rules.target_max_tokens) * plan.tokens / freed)
            excess = plan.tokens - plan.summary_tokens + more
        if best is None:
            metrics.keep("template_refuses_summary", "the chat template takes the row, but not with a summary in it")
        elif best.tokens >= measured.count.tokens:
            metrics.keep("summary_saves_nothing")
            return None
        return best

    async def _attempt(
        self, measured: Measured, plan: Compress, request: SummaryRequest, metrics: RowMetrics
    ) -> Candidate | None:
        region = plan.region
        usage = Usage()
        metrics.passes += 1
        request.tell(
            "planned",
            tokens=metrics.original_tokens,
            region_start_idx=region.start,
            region_end_idx=region.end,
            region_tokens=plan.tokens,
            summary_target_tokens=request.target_tokens,
            attempt=metrics.passes,
        )
        asked = request if self._rules.grounded else replace(request, facts=())
        try:
            summary = await self._summarizer.summarize(asked, usage)
        finally:
            metrics.charge(usage)
        try:
            return await self._off_loop(
                self._verifier.verify, measured.trajectory, measured, region, request, summary
            )
        except UncountableTextError as error:  # the row's own texts were all counted before
            raise SummaryError("uncountable_summary", str(error)) from error

    def _request(
        self,
        measured: Measured,
        plan: Compress,
        told: Candidate | None,
        metrics: RowMetrics,
        deadline: Deadline,
    ) -> SummaryRequest:
        given = material_for(measured, plan.region, told, clean=self._rules.redact)
        metrics.redactions += given.redactions
        return SummaryRequest(
            row_id=f"{metrics.source_file}#{metrics.source_row}",
            head=given.head,
            region=self._resorts.reading(measured, plan.region.end, given),
            facts=given.facts,
            target_tokens=plan.summary_tokens,
            count=self._counter.count_text,
            waiting=deadline.stopped,
            renew=deadline.renew,
            tell=partial(self._tell, source_file=metrics.source_file, source_row=metrics.source_row),
            previous=given.previous,
            focus=self._rules.focus,
            special_tokens=self._counter.special_tokens,
        )

    def _accept(self, pruned: PrunedRow, candidate: Candidate, metrics: RowMetrics) -> tuple[Turn, ...]:
        measured, region = pruned.measured, candidate.region
        turns = candidate.assembled.turns
        gone = sum(
            measured.sizes[index]
            for index in range(region.start, region.end)
            if measured.trajectory.turns[index].role == "assistant"
        )
        metrics.assistant_tokens_kept = (metrics.assistant_tokens_original or 0) - gone
        metrics.take(candidate.tokens)
        metrics.compressed_turns = len(turns)
        gone_from_row = measured.earlier.in_row(region) if measured.earlier else region
        metrics.turns_removed = metrics.region_turns = len(gone_from_row)
        metrics.region_start_idx, metrics.region_end_idx = gone_from_row.start, gone_from_row.end
        metrics.still_over_limit = candidate.tokens > self._rules.target_max_tokens
        metrics.placement = candidate.assembled.placed
        metrics.summarizer = candidate.summarizer
        metrics.facts_needed, metrics.facts_kept = candidate.facts_needed, candidate.facts_kept
        pruned.describe(metrics, gone=region)
        metrics.summary_tokens = candidate.summary_tokens
        metrics.redactions += candidate.redactions
        return turns

    async def _off_loop(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))


def _tokens(candidate: Candidate) -> int:
    return candidate.tokens


def _shorter(request: SummaryRequest, candidate: Candidate, over: int) -> SummaryRequest | None:
    """Ask for the same summary as short as it should have been, once, where that would be enough."""
    beyond = candidate.summary_tokens - request.target_tokens
    return None if request.overlong or over > beyond else replace(request, overlong=candidate.summary)
