"""What is done to a row besides summarising it: pruning before, eliding after, and saying what is to blame."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trajcompress.compaction.material import Material
from trajcompress.compaction.measure import Measured, Rules, take_apart
from trajcompress.compaction.over_limit import OF_SUMMARIES, Cause, Part, cause_over, count_protected, part_to_blame
from trajcompress.compaction.pruned import PrunedRow, prune_reading, prune_results, prune_row
from trajcompress.compaction.region import least_summary
from trajcompress.compaction.shortened import shared_turn, shorten
from trajcompress.compaction.strict import elide_until
from trajcompress.compaction.text import elide_results
from trajcompress.compaction.verify import Candidate, Verifier
from trajcompress.metrics.row import RowMetrics
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Region, Trajectory, Turn

_EVERYTHING = 10**12  # tokens; more than any row has


@dataclass(frozen=True, slots=True)
class Shortened:
    """A row over its limit as far as it is shortened before anything is summarised; ``turns`` where it fits so."""

    row: PrunedRow
    turns: tuple[Turn, ...] | None = None


class Resorts:
    """Does it by fixed rules."""

    def __init__(self, counter: TokenCounter, rules: Rules, verifier: Verifier) -> None:
        self._counter = counter
        self._rules = rules
        self._verifier = verifier
        self._target = rules.target_max_tokens

    def shorten(self, trajectory: Trajectory, measured: Measured, metrics: RowMetrics) -> Shortened:
        """Shorten a row over its limit before anything is summarised.

        Its results are pruned. What is still over loses the middle of protected results, where that is allowed,
        before any turn of the assistant is summarised away: these stay as they are, or as many of them as may be.
        """
        row = prune_row(trajectory, measured, self._counter, self._target)
        if self._rules.fit != "strict" or row.measured.count.tokens <= self._target:
            return Shortened(row)
        elided = self._elide_alone(trajectory, row, metrics)
        return Shortened(row, elided) if elided else Shortened(self._with_room(row))

    def prune_short(self, trajectory: Trajectory, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        """Prune a row that fits, where that is asked for; None where there is nothing to prune."""
        if not self._rules.prune_kept or self._rules.skip_under_target:
            return None
        measured = take_apart(trajectory, self._counter.count(trajectory), self._counter, self._rules)
        pruned = prune_results(trajectory, measured, self._counter)
        return self.take_pruned(pruned, metrics) if pruned.changed else None

    def reading(self, measured: Measured, end: int, given: Material) -> tuple[Turn, ...]:
        """Return what a summariser reads of turns that end before ``end``."""
        if not self._rules.prune_read:
            return given.region
        region = Region(end - len(given.region), end)
        turns = measured.unpruned or measured.trajectory.turns
        return prune_reading(
            turns, region, given.region, given.facts, measured.clean.known if measured.clean else None
        )

    def take_pruned(self, pruned: PrunedRow, metrics: RowMetrics) -> tuple[Turn, ...]:
        """Take a row that fits as it was pruned."""
        self._take(pruned, pruned.measured.count.tokens, "pruned", metrics)
        return pruned.turns

    def put_back(self, uncut: Measured, candidate: Candidate) -> Candidate:
        """Return a candidate for a row that was cut for planning with the protected results as they were."""
        return self._verifier.rebuild(uncut.trajectory, uncut, candidate)

    def without_summary(
        self, trajectory: Trajectory, pruned: PrunedRow, metrics: RowMetrics
    ) -> tuple[Turn, ...] | None:
        """Take a row that cannot be summarised: cut where that is asked for and makes it fit, else as it is."""
        metrics.reason = self._part_to_blame(pruned.measured) or metrics.reason
        return self._elide_alone(trajectory, pruned, metrics) if self._rules.fit == "strict" else None

    def fit(self, measured: Measured, candidate: Candidate, metrics: RowMetrics) -> Candidate:
        """Cut what a summary leaves too long, where that is asked for and helps; else say what is to blame.

        A row that no summary could make fit is not made to lose facts besides.
        """
        if candidate.tokens <= self._target:
            return candidate
        metrics.reason = cause = self._cause(measured, candidate)
        complete = self._verifier.complete(measured, candidate)
        if self._rules.fit == "strict":
            for tried in (complete, candidate) if candidate.lost else (candidate,):
                if elided := self._elide(measured, tried, metrics):
                    return elided
        saves = complete.tokens < measured.count.tokens
        return complete if saves and cause not in OF_SUMMARIES else candidate

    def _elide_alone(self, trajectory: Trajectory, pruned: PrunedRow, metrics: RowMetrics) -> tuple[Turn, ...] | None:
        def build(turns: tuple[Turn, ...]) -> tuple[int, int]:
            tokens = self._counter.count(replace(trajectory, turns=turns)).tokens
            return tokens, tokens - self._target

        shared = shared_turn(pruned.measured)
        elided = elide_until(
            pruned.turns,
            [index for index in range(len(pruned.turns)) if index != shared],
            excess=pruned.measured.count.tokens - self._target,
            build=build,
            count=self._counter.count_text,
        )
        if elided is None:
            return None
        self._take(pruned, elided.built, "elided", metrics)
        metrics.turns_elided = len(elided.changed)
        metrics.facts_needed = (metrics.facts_needed or 0) + elided.facts_needed
        metrics.facts_kept = (metrics.facts_kept or 0) + elided.facts_kept
        return elided.turns

    def _with_room(self, pruned: PrunedRow) -> PrunedRow:
        """Return the row with its protected results as short as they may become, if a summary makes it fit then."""
        cut = self._as_short_as_allowed(pruned.measured)
        if cut.count.tokens <= self._target or self._part_to_blame(pruned.measured) is not None:
            return pruned
        return replace(pruned, measured=cut, uncut=pruned.measured)

    def _elide(self, measured: Measured, candidate: Candidate, metrics: RowMetrics) -> Candidate | None:
        region = candidate.region

        def build(turns: tuple[Turn, ...]) -> tuple[Candidate, int]:
            built = self._verifier.rebuild(replace(measured.trajectory, turns=turns), measured, candidate)
            return built, built.tokens - self._target

        turns = measured.trajectory.turns
        elided = elide_until(
            turns,
            [*range(region.start), *range(region.end, len(turns))],
            excess=candidate.tokens - self._target,
            build=build,
            count=self._counter.count_text,
        )
        if elided is None:
            return None
        metrics.reason = "elided"
        metrics.turns_elided = len(elided.changed)
        return replace(
            elided.built,
            facts_needed=candidate.facts_needed + elided.facts_needed,
            facts_kept=candidate.facts_kept + elided.facts_kept,
        )

    def _take(self, pruned: PrunedRow, tokens: int, reason: str, metrics: RowMetrics) -> None:
        metrics.take(tokens)
        metrics.reason = reason
        metrics.still_over_limit = False
        pruned.describe(metrics)
        if metrics.assistant_tokens_original is not None:
            metrics.assistant_tokens_kept = pruned.measured.assistant_tokens

    def _cause(self, measured: Measured, candidate: Candidate) -> Cause:
        shortest = self._as_short_as_allowed(measured)
        protected = count_protected(shortest, self._counter)
        return cause_over(shortest, candidate.region, self._target, self._least_summary(shortest), protected)

    def _part_to_blame(self, measured: Measured) -> Part | None:
        shortest = self._as_short_as_allowed(measured)
        protected = count_protected(shortest, self._counter)
        return part_to_blame(shortest, self._target, self._least_summary(shortest), protected)

    def _least_summary(self, measured: Measured) -> int:
        middle = measured.layout.middle
        least = least_summary(self._rules.summary_size, sum(measured.sizes[middle.start : middle.end]))
        return least + self._verifier.overhead(measured.trajectory)

    def _as_short_as_allowed(self, measured: Measured) -> Measured:
        """Return the row with its protected results as short as they may become."""
        if self._rules.fit != "strict":
            return measured
        turns, middle = measured.trajectory.turns, measured.layout.middle
        protected = [*range(middle.start), *range(middle.end, len(turns))]
        return shorten(
            measured, elide_results(turns, protected, _EVERYTHING, self._counter.count_text), self._counter
        )
