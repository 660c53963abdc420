"""Compressing one trajectory in a test, with real parts, and checking the figures that come with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.happened import Happened
from trajcompress.compaction.ladder import with_standard_ladder
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.segments.segment import Segment
from trajcompress.errors import INTERNAL
from trajcompress.metrics.row import RowMetrics
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX
from trajcompress.transcript.trajectory import RowId, Trajectory, Turn

CUT = {"pruned", "elided", "request_truncated"}
POLICY = Policy(target_max_tokens=1000, summary_size=100)


@dataclass
class Writer:
    """Writes what ``write`` makes of a request, for one API call each; remembers the requests."""

    write: Callable[[SummaryRequest], str]
    name: str = "writer"
    asked: list[SummaryRequest] = field(default_factory=list)

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        self.asked.append(request)
        usage.add(Usage(api_calls=1, prompt_tokens=50, completion_tokens=5, latency_s=0.25))
        return Summary(self.write(request), self.name)

    async def aclose(self) -> None:
        pass


@dataclass
class Closing(Writer):
    """Asks another, and closes it each time: a test has an event loop for each row."""

    inner: Summarizer | None = None

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        try:
            return await self.inner.summarize(request, usage)
        finally:
            await self.inner.aclose()


def raising(error: Exception) -> Writer:
    def write(request: SummaryRequest) -> str:
        raise error

    return Writer(write)


def words(count: int) -> str:
    return SUMMARY_PREFIX + " word" * count


class Compacted(NamedTuple):
    """What happened to a row, with its metrics."""

    happened: Happened
    metrics: RowMetrics

    @property
    def turns(self) -> tuple[Turn, ...] | None:
        return self.happened.turns

    @property
    def segments(self) -> tuple[Segment, ...]:
        return self.happened.segments


def compact(counter: TokenCounter, trajectory: Trajectory, summarizer: Summarizer, policy: Policy) -> Compacted:
    """Compact a row by a policy as it is."""
    driver, row = RowDriver(counter, summarizer, policy), RowId("a.jsonl", 7)
    happened = asyncio.run(driver.compact(trajectory, row))
    assert happened.reason != INTERNAL, happened.error
    return Compacted(happened, driver.metrics(row, trajectory, happened))


def run(
    counter: TokenCounter, trajectory: Trajectory, summarizer: Summarizer | None = None, policy: Policy = POLICY
) -> tuple[tuple[Turn, ...] | None, RowMetrics]:
    """Compact a row with the strategies that the policy's settings ask for."""
    done = compact(counter, trajectory, summarizer or ExtractiveSummarizer(), with_standard_ladder(policy))
    return done.turns, done.metrics


def assert_adds_up(
    counter: TokenCounter, trajectory: Trajectory, policy: Policy, turns: tuple[Turn, ...] | None, row: RowMetrics
) -> None:
    """Check what must be true of every row, whatever became of it."""
    kept = trajectory.turns if turns is None else turns
    fresh = counter.count(replace(trajectory, turns=kept))
    assert row.original_tokens == counter.count(trajectory).tokens
    assert row.compressed_tokens == fresh.tokens
    assert row.tokens_saved == row.original_tokens - row.compressed_tokens
    assert row.compression_ratio * row.original_tokens == pytest.approx(row.compressed_tokens)
    assert row.still_over_limit == (row.compressed_tokens > policy.target_max_tokens)
    if row.outcome == "compressed" and not row.still_over_limit:
        assert row.reason in {None, *CUT}
    fitted = row.original_tokens <= policy.target_max_tokens
    assert row.skipped_under_target == (fitted and turns is None)
    assert row.skipped_under_target == (row.outcome == "skipped_under_target")
    assert row.was_compressed == (row.outcome == "compressed") == (turns is not None)
    assert row.original_turns == len(trajectory.turns)
    assert row.compressed_turns == len(kept)
    assert row.turns_removed == row.original_turns - row.compressed_turns
    assert (row.assistant_tokens_kept or 0) <= (row.assistant_tokens_original or 0)
    cut = row.reason in CUT
    assert (row.reason is not None) == (row.outcome in {"unchanged", "failed"} or row.still_over_limit or cut)
    assert (row.facts_kept or 0) <= (row.facts_needed or 0)
    if turns is not None:
        assert row.tokens_saved > 0
        assert row.turns_removed == (row.region_turns or 0) - (row.placement == "human")
        assert (row.summarizer is None) == (row.region_turns is None)
        had_summary = any(SUMMARY_PREFIX in turn.text for turn in trajectory.turns)  # that alone may get shorter
        assert row.region_turns is None or row.region_end_idx - row.region_start_idx == row.region_turns
        assert row.region_turns is None or row.region_turns >= (not had_summary)
        assert cut or row.summarizer
