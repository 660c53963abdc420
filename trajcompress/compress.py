"""One trajectory, start to end: count, plan, summarise, assemble, verify."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

from trajcompress.deadline import Deadline
from trajcompress.errors import SummarizerUnusableError, SummaryError, UncountableTextError
from trajcompress.events import Tell, nobody
from trajcompress.measure import Rules, measure
from trajcompress.metrics import RowMetrics
from trajcompress.off_loop import OffLoop
from trajcompress.pruned import PrunedRow
from trajcompress.resorts import Resorts
from trajcompress.search import Search, Tools
from trajcompress.summarize.base import Summarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Trajectory, Turn
from trajcompress.verify import Candidate, Verifier

__all__ = ["Rules", "TrajectoryCompressor"]


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
        self._rules = rules
        self._off_loop = OffLoop(executor)
        verifier = Verifier(counter, rules)
        self._resorts = Resorts(counter, rules, verifier)
        self._tools = Tools(counter, summarizer, rules, verifier, self._resorts, self._off_loop, tell)

    async def compress(self, trajectory: Trajectory, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        """Return the turns of the compressed trajectory, or None to keep the row as it is; fill the metrics.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        metrics.describe(trajectory, self._counter.engine)
        search = Search(self._tools, metrics)
        try:
            measured = await self._off_loop(measure, trajectory, self._counter, self._rules, metrics)
            if measured is None:
                return await self._off_loop(self._resorts.prune_short, trajectory, metrics)
            whole = pruned = PrunedRow(trajectory.turns, measured)
            async with Deadline(self._rules.timeout_s) as deadline:
                if self._rules.prune_kept:
                    shortened = await self._off_loop(self._resorts.shorten, trajectory, measured, metrics)
                    if shortened.turns is not None:
                        return shortened.turns
                    pruned = shortened.row
                if pruned.measured.count.tokens > self._rules.target_max_tokens:
                    await _summarise(search, pruned, whole, deadline)
        except UncountableTextError as error:
            metrics.keep("uncountable_text", error)
            metrics.still_over_limit = True  # nobody can say that it is not
            return None
        except SummarizerUnusableError:
            raise
        except SummaryError as error:
            metrics.keep(error.reason, error)
            metrics.outcome = "failed"
            return None
        except TimeoutError:
            if not search.fits:
                metrics.keep("trajectory_timeout", f"no result within {self._rules.timeout_s:g} s")
                metrics.outcome = "failed"
                return None
        return await self._off_loop(self._settle, trajectory, search.row or pruned, search.best, metrics)

    def _settle(
        self, trajectory: Trajectory, pruned: PrunedRow, candidate: Candidate | None, metrics: RowMetrics
    ) -> tuple[Turn, ...] | None:
        if pruned.measured.count.tokens <= self._rules.target_max_tokens:
            return self._resorts.take_pruned(pruned, metrics)
        if pruned.uncut is not None:
            candidate = candidate and self._resorts.put_back(pruned.uncut, candidate)
            pruned = replace(pruned, measured=pruned.uncut, uncut=None)
        if candidate is None:
            return self._resorts.without_summary(trajectory, pruned, metrics)
        return self._accept(pruned, self._resorts.fit(pruned.measured, candidate, metrics), metrics)

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
        if self._rules.facts != "off":
            metrics.facts_needed, metrics.facts_kept = candidate.facts_needed, candidate.facts_kept
        pruned.describe(metrics, gone=region)
        metrics.summary_tokens = candidate.summary_tokens
        metrics.redactions += candidate.redactions
        return turns


async def _summarise(search: Search, pruned: PrunedRow, whole: PrunedRow, deadline: Deadline) -> None:
    """Search for a summary of the row as it was pruned, else as it was."""
    found = await search.run(pruned, deadline)
    if found is None and pruned.changed and not search.passes:
        await search.run(whole, deadline)
