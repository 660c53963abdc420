"""One trajectory, start to end: count, plan, summarise, assemble, verify."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import ParamSpec, TypeVar

from trajcompress.assemble import SUMMARY_END, Assembled, Placement, assemble
from trajcompress.deadline import Deadline
from trajcompress.errors import SummarizerUnusableError, SummaryError, UncountableTextError
from trajcompress.facts import facts_kept, facts_needed, facts_note
from trajcompress.metrics import RowMetrics
from trajcompress.plan import Compress, Keep, Layout, Protection, SummaryShare, lay_out, plan_region, summary_room
from trajcompress.redact import Redacted, redact
from trajcompress.rules import Target
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.trajectory import Region, Trajectory, Turn

P = ParamSpec("P")
T = TypeVar("T")

_PER_TURN_OVERHEAD_LIMIT = 64
"""No chat template spends more than this on the marks around one turn; a larger estimate is another thing's cost."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a compressed trajectory must be. Sizes are tokens."""

    target_max_tokens: int = 15250
    summary_size: int | SummaryShare = 750
    protection: Protection = field(default_factory=Protection)
    placement: Placement = "auto"
    target: Target = "template"
    notice: str | None = None
    max_passes: int = 3
    redact: bool = True
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A trajectory over budget: its size, the sizes of its turns, and where it may be cut."""

    count: Count
    sizes: tuple[int, ...]
    layout: Layout


@dataclass(frozen=True, slots=True)
class Candidate:
    """A compressed trajectory that was rendered and counted."""

    assembled: Assembled
    region: Region
    summarizer: str
    summary_tokens: int
    redactions: int
    facts_needed: int
    facts_kept: int
    tokens: int


class TrajectoryCompressor:
    """Compresses trajectories by fixed rules. Counting runs in ``executor``, off the event loop."""

    def __init__(
        self, counter: TokenCounter, summarizer: Summarizer, rules: Rules, executor: Executor | None = None
    ) -> None:
        self._counter = counter
        self._summarizer = summarizer
        self._rules = rules
        self._executor = executor

    async def compress(self, trajectory: Trajectory, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        """Return the turns of the compressed trajectory, or None to keep the row as it is; fill the metrics.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        metrics.describe(trajectory, self._counter.engine)
        try:
            measured = await self._off_loop(self._measure, trajectory, metrics)
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

    def _measure(self, trajectory: Trajectory, metrics: RowMetrics) -> Measured | None:
        """Count, and lay out what is over budget; None where there is nothing to compress."""
        count = self._counter.count(trajectory)
        metrics.original_tokens = metrics.compressed_tokens = count.tokens
        metrics.tokens_saved = 0
        metrics.compression_ratio = 1.0
        metrics.count_method = count.method
        metrics.count_note = count.note
        if count.tokens <= self._rules.target_max_tokens:
            metrics.outcome = "skipped_under_target"
            metrics.skipped_under_target = True
            return None
        metrics.still_over_limit = True
        turns = trajectory.turns
        sizes = self._turn_sizes(trajectory, count)
        layout = lay_out(turns, self._rules.protection, sizes)
        metrics.head_tokens = sum(sizes[: layout.middle.start])
        metrics.tail_tokens = sum(sizes[layout.middle.end :])
        assistant = sum(size for size, turn in zip(sizes, turns, strict=True) if turn.role == "assistant")
        metrics.assistant_tokens_original = metrics.assistant_tokens_kept = assistant
        return Measured(count, tuple(sizes), layout)

    def _turn_sizes(self, trajectory: Trajectory, count: Count) -> Sequence[int]:
        """Return what each turn holds, with an even share of what the template writes around turns.

        An estimate, and enough for planning: what is assembled is rendered and counted whole.
        """
        if count.by_turn is not None:
            return count.by_turn
        sizes = self._counter.count_turns(trajectory.turns)
        tools = self._counter.count_text(json.dumps(trajectory.tools)) if trajectory.tools else 0
        share = (count.tokens - sum(sizes) - tools) // len(sizes)
        overhead = min(max(share, 0), _PER_TURN_OVERHEAD_LIMIT)
        return [size + overhead for size in sizes]

    async def _search(
        self, trajectory: Trajectory, measured: Measured, metrics: RowMetrics, deadline: Deadline
    ) -> Candidate | None:
        """Summarise ever more of the middle until the result fits, the middle is used up or the passes are."""
        rules = self._rules
        excess = measured.count.tokens - rules.target_max_tokens + await self._off_loop(self._overhead, trajectory)
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

    def _overhead(self, trajectory: Trajectory) -> int:
        """Return the tokens that assembling adds besides the summary."""
        notice = self._rules.notice
        has_system = any(turn.role == "system" for turn in trajectory.turns)
        return sum(self._counter.count_texts([SUMMARY_END, notice] if notice and has_system else [SUMMARY_END]))

    async def _attempt(
        self, trajectory: Trajectory, measured: Measured, plan: Compress, metrics: RowMetrics, *, deadline: Deadline
    ) -> Candidate | None:
        region, turns = plan.region, trajectory.turns
        head, replaced, tail = turns[: region.start], turns[region.start : region.end], turns[region.end :]
        request = SummaryRequest(
            row_id=f"{metrics.source_file}#{metrics.source_row}",
            head=head,
            region=replaced,
            facts=await self._off_loop(facts_needed, head, replaced, tail),
            target_tokens=summary_room(self._rules.summary_size, plan.tokens),
            count=self._counter.count_text,
            waiting=deadline.stopped,
        )
        usage = Usage()
        metrics.passes += 1
        try:
            summary = await self._summarizer.summarize(request, usage)
        finally:
            metrics.charge(usage)
        try:
            return await self._off_loop(self._verify, trajectory, measured, region, request, summary)
        except UncountableTextError as error:  # the row's own texts were all counted before
            raise SummaryError("uncountable_summary", str(error)) from error

    def _verify(
        self, trajectory: Trajectory, measured: Measured, region: Region, request: SummaryRequest, summary: Summary
    ) -> Candidate | None:
        """Assemble, and count what the trainer will see; None where a template that took the row refuses the result.

        Some templates take no user turn after a tool result, so ``auto`` then tries to fold the summary into it.
        """
        text = _with_missing_facts(summary.text, request)
        redacted = redact(text) if self._rules.redact else Redacted(text)
        text = redacted.text
        wanted = self._rules.placement
        known = dict(zip(map(id, trajectory.turns), measured.count.by_turn or (), strict=False))
        for placement in ("auto", "fold") if wanted == "auto" else (wanted,):
            assembled = assemble(
                trajectory, region, text, placement, notice=self._rules.notice, target=self._rules.target
            )
            count = self._counter.count(replace(trajectory, turns=assembled.turns), known)
            if measured.count.method != "template" or count.method == "template":
                return Candidate(
                    assembled,
                    region,
                    summary.summarizer,
                    summary_tokens=self._counter.count_text(text),
                    redactions=redacted.count,
                    facts_needed=len(request.facts),
                    facts_kept=len(facts_kept(request.facts, text)),
                    tokens=count.tokens,
                )
        return None

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
            metrics.reason = _largest_cause(measured, candidate)
        metrics.placement = candidate.assembled.placed
        metrics.summarizer = candidate.summarizer
        metrics.facts_needed, metrics.facts_kept = candidate.facts_needed, candidate.facts_kept
        metrics.summary_tokens = candidate.summary_tokens
        metrics.redactions += candidate.redactions
        return turns

    async def _off_loop(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))


def _with_missing_facts(summary: str, request: SummaryRequest) -> str:
    """Add what the summary leaves out of the facts needed, as far as its room goes."""
    kept = frozenset(facts_kept(request.facts, summary))
    missing = [fact for fact in request.facts if fact not in kept]
    if not missing:
        return summary
    note = facts_note(missing, request.target_tokens - request.count(summary) - 1, request.count)
    return f"{summary}\n{note}" if note else summary


def _largest_cause(measured: Measured, candidate: Candidate) -> str:
    """Say what keeps a compressed trajectory over its limit."""
    middle = measured.layout.middle
    if candidate.region.end < middle.end:
        return "passes_used_up"
    kept = {
        "head": sum(measured.sizes[: middle.start]),
        "tail": sum(measured.sizes[middle.end :]),
        "summary": candidate.summary_tokens,
    }
    kept["tools"] = candidate.tokens - sum(kept.values())  # and whatever else the template writes outside turns
    return max(kept, key=kept.__getitem__)
