"""Planning one row: the way of a run, with a stand-in for the summariser and nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.policy import Policy
from trajcompress.metrics.row import RowMetrics
from trajcompress.planning.advice import planning_policy
from trajcompress.planning.requests import Requests, StandInSummarizer, Tries
from trajcompress.run.build.components import build_admission
from trajcompress.run.rows.row import Accepted, Parsed, finish_row
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.chunks import ChunkingSummarizer
from trajcompress.summarize.off_loop import run_through
from trajcompress.tokens.counter import Count, TokenCounter


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """What is expected of a row for one target, and what its summaries take."""

    metrics: RowMetrics
    requests: Requests


class RowPlanner:
    """Plans rows for the targets of ``settings``, which differ in nothing else. Safe to use from several threads."""

    def __init__(self, settings: Sequence[Settings], counter: TokenCounter) -> None:
        self.settings = settings
        common = settings[0]
        self.counter = counter
        self._policies = [planning_policy(each) for each in settings]
        self._context_tokens = common.summarization.context_tokens
        self._admission = build_admission(common)
        self._tries = Tries.of(common)
        self._fillings: dict[int, str] = {}

    def plan(self, parsed: Parsed) -> list[PlannedRow]:
        """Return what becomes of a row for each target, one after the other: they share what is counted.

        Raises:
            EngineMismatchError: counts of the whole plan are in doubt.
        """
        counted = self._count(parsed)
        return [self._plan(parsed, policy, counted) for policy in self._policies]

    def _count(self, parsed: Parsed) -> Count | None:
        if isinstance(parsed.made, Accepted):
            with suppress(Exception):  # each plan meets it again, and says so of the row
                return self.counter.count(parsed.made.trajectory)
        return None

    def _plan(self, parsed: Parsed, policy: Policy, counted: Count | None) -> PlannedRow:
        stand_in = StandInSummarizer(self._fillings, self._tries, counted.tokens if counted else 0)
        context = self._context_tokens
        summarizer: Summarizer = ChunkingSummarizer(stand_in, context) if context else stand_in
        compactor = RowDriver(self.counter, summarizer, policy)
        finished = run_through(finish_row(parsed, compactor, self._admission, counted=counted))
        return PlannedRow(finished.metrics, stand_in.requests)
