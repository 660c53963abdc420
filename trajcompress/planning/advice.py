"""What helps a row that is still over its limit: each remedy that bears on it is tried by planning with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from msgspec.structs import replace

from trajcompress.compaction.driver import RowDriver
from trajcompress.compaction.happened import FORM_UNFIT
from trajcompress.compaction.policy import Policy
from trajcompress.metrics.remedies import LargestTurn, Remedy, largest_turn, remedies
from trajcompress.metrics.row import RowMetrics
from trajcompress.planning.requests import StandInSummarizer
from trajcompress.run.build.components import build_policy
from trajcompress.settings import Settings, resolve
from trajcompress.summarize.off_loop import run_through
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import RowId, Trajectory


@dataclass(frozen=True, slots=True)
class Tried:
    """What a row would come to with a remedy, or with several together."""

    words: str
    tokens: int
    fits: bool


@dataclass(frozen=True, slots=True)
class Advice:
    """The largest turn of a row, what was tried, and what else its owner can do."""

    largest: LargestTurn | None
    tried: tuple[Tried, ...]
    elsewhere: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What helps, a sentence each: what fits with one change, else with all together, else what is left to do."""
        fitting = tuple(f"{each.words}: it then fits, in {each.tokens:,} tokens" for each in self.tried if each.fits)
        if fitting:
            return fitting
        failed: tuple[str, ...] = ()
        if self.tried:
            least = min(self.tried, key=lambda each: each.tokens)
            failed = (f"not enough: {least.words}, which leaves {least.tokens:,} tokens",)
        return (*failed, *self.elsewhere)


def advise(trajectory: Trajectory, row: RowMetrics, settings: Settings, counter: TokenCounter) -> Advice:
    """Try what may help a row that was planned or run with ``settings`` and is still over its limit."""
    found = remedies(row, settings.flat())
    able = [each for each in found if each.changes]
    tried = [_try(trajectory, row, [each], settings, counter) for each in able]
    if len(able) > 1 and not any(each.fits for each in tried):
        tried.append(_try(trajectory, row, able, settings, counter))
    elsewhere = [each.words for each in found if not each.changes]
    chosen = settings.processing
    if chosen.save_over_limit and (chosen.save_unfit or row.reason != FORM_UNFIT):
        elsewhere.append("--no-save-over-limit leaves the row out")
    return Advice(largest_turn(row), tuple(tried), tuple(elsewhere))


def _try(
    trajectory: Trajectory, row: RowMetrics, able: Sequence[Remedy], settings: Settings, counter: TokenCounter
) -> Tried:
    changes: Mapping[str, Any] = reduce(lambda all_, each: {**all_, **each.changes}, able, {})
    changed = resolve({**settings.flat(), **changes}, None, environ={}, dotenv=None).settings
    compactor = RowDriver(counter, StandInSummarizer({}), planning_policy(changed))
    happened = run_through(compactor.compact(trajectory, RowId(row.source_file, row.source_row)))
    return Tried(" with ".join(each.words for each in able), happened.tokens or 0, not happened.over_limit)


def planning_policy(settings: Settings) -> Policy:
    """Return the policy of a run, but for what costs much and changes next to nothing in a plan.

    Nothing is sent, so there is nothing to take secrets out of; a mark counts about what its secret does. Facts make
    a prompt longer by some hundred tokens at most, and cost about as much as the counting.
    """
    return replace(build_policy(settings), timeout_s=None, redact=False, facts="off")
