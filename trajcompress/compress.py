"""One trajectory, start to end: count, plan, summarise, assemble, verify.

All work on a row is a generator, which yields what it wants summarised and is sent the summary. It waits for nothing,
so a thread does all that there is to do between two calls of a model in one go; what calls is a thin shell around it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

from trajcompress.deadline import Deadline
from trajcompress.errors import SummarizerUnusableError, SummaryError, UncountableTextError
from trajcompress.events import Tell, nobody
from trajcompress.measure import Rules, measure
from trajcompress.metrics import RowMetrics
from trajcompress.off_loop import OffLoop
from trajcompress.pruned import PrunedRow
from trajcompress.resorts import Resorts
from trajcompress.search import Asking, Search, Tools
from trajcompress.summarize.base import Summarizer, SummaryRequest, Usage
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Trajectory, Turn
from trajcompress.verify import Candidate, Verifier

__all__ = ["Rules", "TrajectoryCompressor"]


@dataclass(frozen=True, slots=True)
class _Done:
    """The turns of the compressed row, or None to keep it as it is."""

    turns: tuple[Turn, ...] | None


_Work = Asking[tuple[Turn, ...] | None]


class TrajectoryCompressor:
    """Compresses trajectories by fixed rules. All but calls runs in ``executor``, off the event loop."""

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
        self._write_here = summarizer.write if isinstance(summarizer, ExtractiveSummarizer) else None
        self._rules = rules
        self._off_loop = OffLoop(executor)
        verifier = Verifier(counter, rules)
        self._resorts = Resorts(counter, rules, verifier)
        self._tools = Tools(counter, rules, verifier, self._resorts, tell)

    async def compress(self, trajectory: Trajectory, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        """Return the turns of the compressed trajectory, or None to keep the row as it is; fill the metrics.

        Raises:
            SummarizerUnusableError: no row can be summarised; the run should stop.
            EngineMismatchError: counts of the whole run are in doubt.
        """
        metrics.describe(trajectory, self._counter.engine)
        deadline = Deadline(self._rules.timeout_s)
        work = self._work(trajectory, metrics, deadline)
        resume: Callable[[], SummaryRequest] = partial(next, work)
        while isinstance(step := await self._off_loop(self._until_a_call, work, resume), SummaryRequest):
            resume = await self._ask(step, work, deadline, metrics)
        return step.turns

    def _until_a_call(self, work: _Work, resume: Callable[[], SummaryRequest]) -> SummaryRequest | _Done:
        """Go on with the work until a model has to be called. The built-in summariser writes here."""
        try:
            request = resume()
            while self._write_here is not None:
                request = work.send(self._write_here(request))
        except StopIteration as ended:
            return _Done(ended.value)
        return request

    async def _ask(
        self, request: SummaryRequest, work: _Work, deadline: Deadline, metrics: RowMetrics
    ) -> Callable[[], SummaryRequest]:
        """Ask for a summary; return how the work resumes with it, or with the failure."""
        usage = Usage()
        try:
            async with deadline:
                summary = await self._summarizer.summarize(request, usage)
        except SummarizerUnusableError:
            raise
        except (SummaryError, TimeoutError) as error:
            return partial(work.throw, error)
        finally:
            metrics.charge(usage)
        return partial(work.send, summary)

    def _work(self, trajectory: Trajectory, metrics: RowMetrics, deadline: Deadline) -> _Work:
        """Do all that is to be done to a row.

        Raises:
            EngineMismatchError: counts of the whole run are in doubt.
        """
        search = Search(self._tools, metrics, deadline)
        try:
            measured = measure(trajectory, self._counter, self._rules, metrics)
            if measured is None:
                return self._resorts.prune_short(trajectory, metrics)
            whole = pruned = PrunedRow(trajectory.turns, measured)
            if self._rules.prune_kept:
                shortened = self._resorts.shorten(trajectory, measured, metrics)
                if shortened.turns is not None:
                    return shortened.turns
                pruned = shortened.row
            if pruned.measured.count.tokens > self._rules.target_max_tokens:
                yield from _summarise(search, pruned, whole)
        except UncountableTextError as error:
            metrics.keep("uncountable_text", error)
            metrics.still_over_limit = True  # nobody can say that it is not
            return None
        except SummaryError as error:
            metrics.keep(error.reason, error)
            metrics.outcome = "failed"
            return None
        except TimeoutError:
            if not search.fits:
                metrics.keep("trajectory_timeout", f"no result within {self._rules.timeout_s:g} s")
                metrics.outcome = "failed"
                return None
        return self._settle(trajectory, search.row or pruned, search.best, metrics)

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


def _summarise(search: Search, pruned: PrunedRow, whole: PrunedRow) -> Asking[None]:
    """Search for a summary of the row as it was pruned, else as it was."""
    found = yield from search.run(pruned)
    if found is None and pruned.changed and not search.passes:
        yield from search.run(whole)
