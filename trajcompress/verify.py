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

        Facts needed that the summary leaves out are added where the summary has room for them, or the row has.
        """
        if not self._rules.grounded:
            return self._assemble(trajectory, measured, region, request, summary)
        size = request.count(summary.text)
        noted = _with_missing_facts(summary, request, request.target_tokens - size - 1)
        candidate = self._assemble(trajectory, measured, region, request, noted)
        if candidate is None or candidate.facts_kept == candidate.facts_needed:
            return candidate
        spare = self._rules.target_max_tokens - candidate.tokens
        more = _with_missing_facts(summary, request, request.count(noted.text) - size - 1 + spare)
        if spare <= 0 or more.text == noted.text:
            return candidate
        fuller = self._assemble(trajectory, measured, region, request, more)
        return fuller if fuller and fuller.tokens <= self._rules.target_max_tokens else candidate

    def _assemble(
        self, trajectory: Trajectory, measured: Measured, region: Region, request: SummaryRequest, summary: Summary
    ) -> Candidate | None:
        """Assemble and count a summary as it is.

        Some templates take no user turn after a tool result, so ``auto`` then tries to fold the summary into it.
        """
        text = summary.text
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


def _with_missing_facts(summary: Summary, request: SummaryRequest, room: int) -> Summary:
    """Add what the summary leaves out of the facts needed, as far as so many tokens go."""
    kept = frozenset(facts_kept(request.facts, summary.text))
    missing = [fact for fact in request.facts if fact not in kept]
    note = facts_note(missing, room, request.count) if missing else ""
    return replace(summary, text=f"{summary.text}\n{note}") if note else summary
