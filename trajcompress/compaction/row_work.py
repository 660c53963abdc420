"""One trajectory, start to end, but for calls of a model: count, plan, assemble, verify.

All work on a row is a generator, which yields what it wants summarised and is sent the summary. It waits for nothing,
so a thread or a process does all that there is to do between two calls of a model in one go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from trajcompress.compaction.measure import Rules, measure
from trajcompress.compaction.pruned import PrunedRow
from trajcompress.compaction.resorts import Resorts
from trajcompress.compaction.search import Asking, Search, Tools
from trajcompress.compaction.verify import Candidate, Verifier
from trajcompress.errors import SummaryError, UncountableTextError
from trajcompress.events import Tell, nobody
from trajcompress.metrics.row import RowMetrics
from trajcompress.summarize.base import Summary, SummaryRequest
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn


@dataclass(frozen=True, slots=True)
class Done:
    """The turns of the compressed row, or None to keep it as it is."""

    turns: tuple[Turn, ...] | None


Step: TypeAlias = SummaryRequest | Done
Answer: TypeAlias = Summary | SummaryError | TimeoutError
_Work: TypeAlias = Asking[tuple[Turn, ...] | None]


class RowWork:
    """The work on one row; ``write`` writes its summaries at once, None has them asked for."""

    def __init__(self, work: _Work, write: Callable[[SummaryRequest], Summary] | None) -> None:
        self._work = work
        self._write = write

    def step(self, answer: Answer | None) -> Step:
        """Go on with the answer to the last request, None at first, until a model has to be called.

        Raises:
            EngineMismatchError: counts of the whole run are in doubt.
        """
        try:
            request = self._resume(answer)
            while self._write is not None:
                request = self._work.send(self._write(request))
        except StopIteration as ended:
            return Done(ended.value)
        return request

    def _resume(self, answer: Answer | None) -> SummaryRequest:
        if answer is None:
            return next(self._work)
        return self._work.send(answer) if isinstance(answer, Summary) else self._work.throw(answer)


class RowCompressor:
    """Works on rows by fixed rules. ``write`` is the built-in summariser's, where that is the one."""

    def __init__(
        self,
        counter: TokenCounter,
        rules: Rules,
        write: Callable[[SummaryRequest], Summary] | None,
        tell: Tell = nobody,
    ) -> None:
        self._counter = counter
        self._rules = rules
        self._write = write
        verifier = Verifier(counter, rules)
        self._resorts = Resorts(counter, rules, verifier)
        self._tools = Tools(counter, rules, verifier, self._resorts, tell)

    def begin(self, trajectory: Trajectory, metrics: RowMetrics) -> RowWork:
        """Return the work on a row, which fills its metrics."""
        metrics.describe(trajectory, self._counter.engine)
        return RowWork(self._compress(trajectory, metrics), self._write)

    def _compress(self, trajectory: Trajectory, metrics: RowMetrics) -> _Work:
        """Do all that is to be done to a row.

        Raises:
            EngineMismatchError: counts of the whole run are in doubt.
        """
        search = Search(self._tools, metrics)
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
        metrics.reason = metrics.error = None  # of a search of the pruned row that found nothing
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
