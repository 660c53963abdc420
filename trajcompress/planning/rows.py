"""Planning one row: the way of a run, with a stand-in for the summariser and nothing written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from trajcompress.compaction.compress import TrajectoryCompressor
from trajcompress.compaction.measure import Rules
from trajcompress.events import Tell
from trajcompress.metrics.row import RowMetrics
from trajcompress.planning.counting import RowsCountedOnce
from trajcompress.planning.requests import Requests
from trajcompress.planning.stand_in import StandInSummarizer
from trajcompress.run.build import build_counter, build_rules
from trajcompress.run.row import Accepted, Admission, Parsed, finish_row
from trajcompress.settings import Settings
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.chunks import ChunkingSummarizer
from trajcompress.summarize.off_loop import run_through
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.workers.wire import Answered, Handle


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """What is expected of a row for one target, and what its summaries take."""

    metrics: RowMetrics
    requests: Requests


class RowPlanner:
    """Plans rows for the targets of ``settings``, which differ in nothing else. Safe to use from several threads."""

    def __init__(self, settings: Sequence[Settings], counter: RowsCountedOnce) -> None:
        common = settings[0]
        self._counter = counter
        self._rules = [_build_rules(each) for each in settings]
        self._context_tokens = common.summarization.context_tokens
        self._admission = Admission(common.processing.save_over_limit, common.input.min_tokens)
        self._fillings: dict[int, str] = {}

    def plan(self, parsed: Parsed) -> list[PlannedRow]:
        """Return what becomes of a row for each target, one after the other: they share what is counted.

        Raises:
            EngineMismatchError: counts of the whole plan are in doubt.
        """
        made = parsed.made
        with self._counter.remembering(made.trajectory) if isinstance(made, Accepted) else nullcontext():
            return [self._plan(parsed, rules) for rules in self._rules]

    def _plan(self, parsed: Parsed, rules: Rules) -> PlannedRow:
        stand_in = StandInSummarizer(self._fillings)
        context = self._context_tokens
        summarizer: Summarizer = ChunkingSummarizer(stand_in, context) if context else stand_in
        compressor = TrajectoryCompressor(self._counter, summarizer, rules)
        finished = run_through(finish_row(parsed, compressor, self._admission))
        return PlannedRow(finished.metrics, stand_in.requests)


@dataclass(frozen=True, slots=True)
class PlanSetup:
    """How workers plan rows."""

    settings: Sequence[Settings]
    engine: EngineChoice

    def prepare(self, tell: Tell) -> Handle:  # noqa: ARG002 - there is nothing to tell
        """Load the tokenizer, and return what plans rows."""
        planner = RowPlanner(self.settings, build_plan_counter(self.settings[0], self.engine, processes=1))
        return lambda parsed: Answered(planner.plan(parsed))


def build_plan_counter(settings: Settings, engine: EngineChoice, processes: int | None = None) -> RowsCountedOnce:
    """Load the tokenizer, as :func:`~trajcompress.run.build.build_counter` does."""
    return RowsCountedOnce(build_counter(settings, engine, processes).tokenizer, settings.compression.count)


def _build_rules(settings: Settings) -> Rules:
    """Return the rules of a run, but for what costs much and changes next to nothing in a plan.

    Nothing is sent, so there is nothing to take secrets out of; a mark counts about what its secret does. Facts make
    a prompt longer by some hundred tokens at most, and cost about as much as the counting.
    """
    return replace(build_rules(settings), timeout_s=None, redact=False, facts="off")
