"""Verifying one compressed trajectory: assembled, rendered, and counted as the trainer will see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

from trajcompress.compaction.assemble import Assembled, assemble
from trajcompress.compaction.measure import Measured, Rules
from trajcompress.facts import facts_line, facts_missing, facts_note
from trajcompress.redact import Redacted, redact
from trajcompress.summarize.base import SUMMARY_END, Summary, SummaryRequest
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Region, Trajectory


@dataclass(frozen=True, slots=True)
class Candidate:
    """A compressed trajectory that was rendered and counted.

    ``answer`` is what the summariser wrote, ``missing`` the facts needed that it left out, ``summary`` what stands in
    the row, with those of them that were added, and ``lost`` the others.
    """

    assembled: Assembled
    region: Region
    answer: str
    summary: str
    summarizer: str
    missing: tuple[str, ...]
    lost: tuple[str, ...]
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
        self, measured: Measured, region: Region, request: SummaryRequest, summary: Summary
    ) -> Candidate | None:
        """Assemble, and count what the trainer will see; None where a template that took the row refuses the result.

        Facts needed that the summary leaves out are added where the summary has room for them, or the row has.
        """
        missing = facts_missing(request.facts, summary.text)
        build = partial(self._assemble, measured, region, request, summary, missing=missing)
        if not self._rules.grounded or not missing:
            return build(text=summary.text)
        size = request.count(summary.text)
        noted = _with_note(summary.text, missing, request, request.target_tokens - size - 1)
        candidate = build(text=noted)
        if candidate is None or not candidate.lost:
            return candidate
        spare = self._rules.target_max_tokens - candidate.tokens
        more = _with_note(summary.text, missing, request, request.count(noted) - size - 1 + spare)
        if spare <= 0 or more == noted:
            return candidate
        fuller = build(text=more)
        return fuller if fuller and fuller.tokens <= self._rules.target_max_tokens else candidate

    def complete(self, measured: Measured, candidate: Candidate) -> Candidate:
        """Return a candidate with all facts needed in its summary, however long that makes it."""
        if not self._rules.grounded or not candidate.lost:
            return candidate
        added = facts_line([fact for fact in candidate.missing if fact not in candidate.lost])
        text = f"{candidate.summary.removesuffix(added).rstrip()}\n{facts_line(candidate.missing)}"
        lost = facts_missing(candidate.lost, text)
        complete = replace(
            candidate,
            summary=text,
            lost=lost,
            summary_tokens=self._counter.count_text(text),
            facts_kept=candidate.facts_needed - len(lost),
        )
        return self.rebuild(measured.trajectory, measured, complete)

    def _assemble(
        self,
        measured: Measured,
        region: Region,
        request: SummaryRequest,
        answer: Summary,
        *,
        missing: tuple[str, ...],
        text: str,
    ) -> Candidate | None:
        """Assemble and count a summary as it is.

        Some templates take no user turn after a tool result, so ``auto`` then tries to fold the summary into it.
        """
        redacted = redact(text, measured.clean.known) if measured.clean else Redacted(text)
        text = redacted.text
        wanted = self._rules.placement
        for placement in ("auto", "fold") if wanted == "auto" else (wanted,):
            assembled = assemble(
                measured.trajectory,
                region,
                text,
                placement,
                notice=self._rules.notice,
                target=self._rules.target,
                marks=self._rules.marks,
            )
            count = self._counter.count(replace(measured.trajectory, turns=assembled.turns), measured.known)
            if measured.count.method != "template" or count.method == "template":
                lost = facts_missing(request.facts if redacted.count else missing, text)
                return Candidate(
                    assembled,
                    region,
                    answer.text,
                    text,
                    answer.summarizer,
                    missing,
                    lost,
                    summary_tokens=self._counter.count_text(text),
                    redactions=redacted.count,
                    facts_needed=len(request.facts),
                    facts_kept=len(request.facts) - len(lost),
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
        return self._end_tokens + (self._notice_tokens if added else 0)

    @cached_property
    def _end_tokens(self) -> int:
        return self._counter.count_text(SUMMARY_END)

    @cached_property
    def _notice_tokens(self) -> int:
        return self._counter.count_text(self._rules.notice or "")


def _with_note(text: str, missing: tuple[str, ...], request: SummaryRequest, room: int) -> str:
    """Add what a summary leaves out of the facts needed, as far as so many tokens go."""
    note = facts_note(missing, room, request.count)
    return f"{text}\n{note}" if note else text
