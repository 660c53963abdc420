"""Verifying one compressed trajectory: assembled, rendered, and counted as the trainer will see it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trajcompress.assemble import SUMMARY_END, Assembled, assemble
from trajcompress.facts import facts_kept, facts_note
from trajcompress.measure import Measured, Rules
from trajcompress.redact import Redacted, redact
from trajcompress.summarize.base import Summary, SummaryRequest
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Region, Trajectory


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


class Verifier:
    """Assembles and counts by fixed rules."""

    def __init__(self, counter: TokenCounter, rules: Rules) -> None:
        self._counter = counter
        self._rules = rules

    def verify(
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

    def overhead(self, trajectory: Trajectory) -> int:
        """Return the tokens that assembling adds besides the summary."""
        notice = self._rules.notice
        has_system = any(turn.role == "system" for turn in trajectory.turns)
        return sum(self._counter.count_texts([SUMMARY_END, notice] if notice and has_system else [SUMMARY_END]))


def _with_missing_facts(summary: str, request: SummaryRequest) -> str:
    """Add what the summary leaves out of the facts needed, as far as its room goes."""
    kept = frozenset(facts_kept(request.facts, summary))
    missing = [fact for fact in request.facts if fact not in kept]
    if not missing:
        return summary
    note = facts_note(missing, request.target_tokens - request.count(summary) - 1, request.count)
    return f"{summary}\n{note}" if note else summary


def largest_cause(measured: Measured, candidate: Candidate) -> str:
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
