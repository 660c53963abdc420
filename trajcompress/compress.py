"""One trajectory, start to end: count, plan, summarise, assemble, verify."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Executor
from typing import ParamSpec, TypeVar

from trajcompress.clean import clean_turns
from trajcompress.deadline import Deadline
from trajcompress.errors import SummarizerUnusableError, SummaryError, UncountableTextError
from trajcompress.facts import facts_needed
from trajcompress.measure import Measured, Rules, measure
from trajcompress.metrics import RowMetrics
from trajcompress.plan import Compress, Keep, plan_region, summary_room
from trajcompress.summarize.base import Summarizer, SummaryRequest, Usage
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Region, Trajectory, Turn
from trajcompress.verify import Candidate, Verifier, largest_cause

__all__ = ["Rules", "TrajectoryCompressor"]

P = ParamSpec("P")
T = TypeVar("T")


class TrajectoryCompressor:
    """Compresses trajectories by fixed rules. Counting runs in ``executor``, off the event loop."""

    def __init__(
        self, counter: TokenCounter, summarizer: Summarizer, rules: Rules, executor: Executor | None = None
    ) -> None:
        self._counter = counter
        self._summarizer = summarizer
        self._rules = rules
        self._executor = executor
        self._verifier = Verifier(counter, rules)

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
                return None
            async with Deadline(self._rules.timeout_s) as deadline:
                candidate = await self._search(trajectory, measured, metrics, deadline)
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
            return self._accept(trajectory, measured, candidate, metrics) if candidate else None
        return None

    async def _search(
        self, trajectory: Trajectory, measured: Measured, metrics: RowMetrics, deadline: Deadline
    ) -> Candidate | None:
        """Summarise ever more of the middle until the result fits, the middle is used up or the passes are."""
        rules = self._rules
        excess = (
            measured.count.tokens
            - rules.target_max_tokens
            + await self._off_loop(self._verifier.overhead, trajectory)
        )
        best: Candidate | None = None
        region: Region | None = None
        for _ in range(rules.max_passes):
            plan = plan_region(measured.sizes, measured.layout, excess, rules.summary_size)
            if isinstance(plan, Keep):
                metrics.keep(plan.reason)
                return None
            if plan.region == region:
                break
            region = plan.region
            candidate = await self._attempt(trajectory, measured, plan, metrics, deadline=deadline)
            if candidate is None:
                break
            if best is None or candidate.tokens < best.tokens:
                best = candidate
            if best.tokens <= rules.target_max_tokens:
                break
            # What a turn frees is known by now: the template may write less, or more, than the turn holds.
            freed = max(1, measured.count.tokens - candidate.tokens + candidate.summary_tokens)
            more = math.ceil((candidate.tokens - rules.target_max_tokens) * plan.tokens / freed)
            excess = plan.tokens - summary_room(rules.summary_size, plan.tokens) + more
        if best is None:
            metrics.keep("template_refuses_summary", "the chat template takes the row, but not with a summary in it")
        elif best.tokens >= measured.count.tokens:
            metrics.keep("summary_saves_nothing")
            return None
        return best

    async def _attempt(
        self, trajectory: Trajectory, measured: Measured, plan: Compress, metrics: RowMetrics, *, deadline: Deadline
    ) -> Candidate | None:
        region = plan.region
        request = await self._off_loop(self._request, trajectory, plan, metrics, deadline)
        usage = Usage()
        metrics.passes += 1
        try:
            summary = await self._summarizer.summarize(request, usage)
        finally:
            metrics.charge(usage)
        try:
            return await self._off_loop(self._verifier.verify, trajectory, measured, region, request, summary)
        except UncountableTextError as error:  # the row's own texts were all counted before
            raise SummaryError("uncountable_summary", str(error)) from error

    def _request(
        self, trajectory: Trajectory, plan: Compress, metrics: RowMetrics, deadline: Deadline
    ) -> SummaryRequest:
        turns, region = trajectory.turns, plan.region
        head, replaced, tail = turns[: region.start], turns[region.start : region.end], turns[region.end :]
        if self._rules.redact:
            clean_head, clean_region = clean_turns(head), clean_turns(replaced)
            head, replaced = clean_head.turns, clean_region.turns
            if not metrics.passes:  # a second pass finds the same ones again
                metrics.redactions += clean_region.redactions
        return SummaryRequest(
            row_id=f"{metrics.source_file}#{metrics.source_row}",
            head=head,
            region=replaced,
            facts=facts_needed(head, replaced, tail),
            target_tokens=summary_room(self._rules.summary_size, plan.tokens),
            count=self._counter.count_text,
            waiting=deadline.stopped,
        )

    def _accept(
        self, trajectory: Trajectory, measured: Measured, candidate: Candidate, metrics: RowMetrics
    ) -> tuple[Turn, ...]:
        region = candidate.region
        turns = candidate.assembled.turns
        gone = sum(
            measured.sizes[index]
            for index in range(region.start, region.end)
            if trajectory.turns[index].role == "assistant"
        )
        metrics.assistant_tokens_kept = (metrics.assistant_tokens_original or 0) - gone
        metrics.outcome = "compressed"
        metrics.was_compressed = True
        metrics.compressed_tokens = candidate.tokens
        metrics.tokens_saved = measured.count.tokens - candidate.tokens
        metrics.compression_ratio = candidate.tokens / measured.count.tokens
        metrics.compressed_turns = len(turns)
        metrics.turns_removed = len(region)
        metrics.region_start_idx, metrics.region_end_idx, metrics.region_turns = region.start, region.end, len(region)
        metrics.still_over_limit = candidate.tokens > self._rules.target_max_tokens
        if metrics.still_over_limit:
            metrics.reason = largest_cause(measured, candidate)
        metrics.placement = candidate.assembled.placed
        metrics.summarizer = candidate.summarizer
        metrics.facts_needed, metrics.facts_kept = candidate.facts_needed, candidate.facts_kept
        metrics.summary_tokens = candidate.summary_tokens
        metrics.redactions += candidate.redactions
        return turns

    async def _off_loop(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))
