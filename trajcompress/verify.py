"""Verifying one compressed trajectory: assembled, rendered, and counted as the trainer will see it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trajcompress.assemble import Assembled, assemble
from trajcompress.facts import facts_kept, facts_note
from trajcompress.measure import Measured, Rules
from trajcompress.redact import Redacted, redact
from trajcompress.summarize.base import SUMMARY_END, Summary, SummaryRequest
from trajcompress.tokens.counter import TokenCounter
from trajcompress.trajectory import Region, Trajectory


@dataclass(frozen=True, slots=True)
class Candidate:
    """A compressed trajectory that was rendered and counted."""

    assembled: Assembled
    region: Region
    summary: str
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
        text = _with_missing_facts(summary.text, request) if self._rules.grounded else summary.text
        redacted = redact(text) if self._rules.redact else Redacted(text)
        text = redacted.text
        wanted = self._rules.placement
        for placement in ("auto", "fold") if wanted == "auto" else (wanted,):
            assembled = assemble(
                trajectory,
                region,
                text,
                placement,
                notice=self._rules.notice,
                target=self._rules.target,
                marks=self._rules.marks,
            )
            count = self._counter.count(replace(trajectory, turns=assembled.turns), measured.known)
            if measured.count.method != "template" or count.method == "template":
                return Candidate(
                    assembled,
                    region,
                    text,
                    summary.summarizer,
                    summary_tokens=self._counter.count_text(text),
                    redactions=redacted.count,
                    facts_needed=len(request.facts),
                    facts_kept=len(facts_kept(request.facts, text)),
                    tokens=count.tokens,
                )
        return None

    def rebuild(self, trajectory: Trajectory, measured: Measured, candidate: Candidate) -> Candidate:
        """Return a candidate with other turns around its summary, in as many places."""
        assembled = assemble(
            trajectory,
            candidate.region,
            candidate.summary,
            candidate.assembled.placed,
            notice=self._rules.notice,
            target=self._rules.target,
            marks=self._rules.marks,
        )
        count = self._counter.count(replace(trajectory, turns=assembled.turns), measured.known)
        return replace(candidate, assembled=assembled, tokens=count.tokens)

    def overhead(self, trajectory: Trajectory) -> int:
        """Return the tokens that assembling adds besides the summary."""
        notice = self._rules.notice
        system = next((turn for turn in trajectory.turns if turn.role == "system"), None)
        added = notice and system and notice not in system.text
        return sum(self._counter.count_texts([SUMMARY_END, notice] if notice and added else [SUMMARY_END]))


def _with_missing_facts(summary: str, request: SummaryRequest) -> str:
    """Add what the summary leaves out of the facts needed, as far as its room goes."""
    kept = frozenset(facts_kept(request.facts, summary))
    missing = [fact for fact in request.facts if fact not in kept]
    if not missing:
        return summary
    note = facts_note(missing, request.target_tokens - request.count(summary) - 1, request.count)
    return f"{summary}\n{note}" if note else summary
