"""Verifying a splice: assembled, rendered, and counted as the trainer will see it."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct, structs

from trajcompress.compaction.assemble import Assembled, assemble
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import Splice, State
from trajcompress.facts import facts_lines, facts_missing, facts_note, without_note, words_around
from trajcompress.facts.count import FactCount
from trajcompress.redact import Redacted, redact
from trajcompress.settings.choices import Placement
from trajcompress.summarize.base import Summary, SummaryRequest
from trajcompress.transcript.summary_marks import SUMMARY_END
from trajcompress.transcript.trajectory import Region, Turn


def splice_in(
    state: State, region: Region, request: SummaryRequest, summary: Summary, policy: Policy
) -> Splice | None:
    """Put a summary in the place of a region, and count what the trainer will see.

    Facts needed that the summary leaves out are added where the summary has room for them, or the row has.

    Returns:
        The splice, counted; None where a template that took the row refuses the result.

    Raises:
        UncountableTextError: the summary holds lone surrogates.
        EngineMismatchError: the fast engine was caught miscounting.
    """
    missing = facts_missing(request.facts, summary.text)
    notes = tuple(words_around(missing, request.region, [request.previous or ""]).values())
    attempt = _Attempt(state, region, request, summary, missing, notes, policy)
    if not policy.grounded or not missing:
        return attempt.with_text(summary.text)
    size = request.count(summary.text)
    noted = _with_note(summary.text, notes, request, request.target_tokens - size - 1)
    made = attempt.with_text(noted)
    if made is None or not made.lost:
        return made
    spare = policy.target_max_tokens - made.tokens
    more = _with_note(summary.text, notes, request, request.count(noted) - size - 1 + spare)
    if spare <= 0 or more == noted:
        return made
    fuller = attempt.with_text(more)
    return fuller if fuller and fuller.tokens <= policy.target_max_tokens else made


class _Attempt(Struct, frozen=True):
    """One answer, to be tried with more or fewer facts added."""

    state: State
    region: Region
    request: SummaryRequest
    answer: Summary
    missing: tuple[str, ...]
    notes: tuple[str, ...]
    policy: Policy

    def with_text(self, text: str) -> Splice | None:
        """Assemble and count a summary as it is.

        Some templates take no user turn after a tool result, so ``auto`` then tries to fold the summary into it.
        """
        state, request = self.state, self.request
        redacted = redact(text, state.clean.known) if state.clean else Redacted(text)
        text = redacted.text
        wanted = self.policy.placement
        for placement in ("auto", "fold") if wanted == "auto" else (wanted,):
            assembled = _assemble(state, self.region, text, placement, self.policy)
            count = state.count_row(assembled.turns)
            if state.count.method != "template" or count.method == "template":
                needed = len(request.facts)
                lost = facts_missing(request.facts if redacted.count else self.missing, text)
                return Splice(
                    self.region,
                    assembled.turns,
                    assembled.placed,
                    self.answer.text,
                    text,
                    self.answer.summarizer,
                    request.facts,
                    self.missing,
                    lost,
                    self.notes,
                    summary_tokens=state.count_text(text),
                    redactions=self.answer.redactions + redacted.count,
                    facts=FactCount(needed, needed - len(lost)),
                    count=count,
                    in_loss=assembled.in_loss,
                )
        return None


def splice_again(state: State, turns: tuple[Turn, ...], splice: Splice, policy: Policy) -> Splice:
    """Put a summary into a state again, with other turns of as many around it."""
    other = replace(state, turns=turns)
    assembled = _assemble(other, splice.region, splice.summary, splice.placed, policy)
    count = state.count_row(assembled.turns)
    return replace(splice, turns=assembled.turns, placed=assembled.placed, in_loss=assembled.in_loss, count=count)


def _assemble(state: State, region: Region, summary: str, placement: Placement, policy: Policy) -> Assembled:
    row, request = structs.replace(state.original, turns=state.turns), state.layout.request
    return assemble(row, region, summary, policy, placement=placement, request=request)


def with_all_facts(state: State, splice: Splice, policy: Policy) -> Splice:
    """Put a summary into a state again with all facts needed in it, however long that makes it."""
    text = f"{without_note(splice.summary)}\n{facts_lines(splice.notes)}"
    return with_summary(state, splice, text, policy)


def with_summary(state: State, splice: Splice, text: str, policy: Policy) -> Splice:
    """Put another summary into a state, in the place of the same region."""
    lost = facts_missing(splice.needed, text)
    changed = replace(
        splice,
        summary=text,
        lost=lost,
        summary_tokens=state.count_text(text),
        facts=FactCount(splice.facts.needed, splice.facts.needed - len(lost)),
    )
    return splice_again(state, state.turns, changed, policy)


def overhead(state: State, policy: Policy) -> int:
    """Return the tokens that a splice adds besides the summary."""
    notice = policy.notice
    system = next((turn for turn in state.turns if turn.role == "system"), None)
    added = notice if notice and system and notice not in system.text else None
    return state.count_text(SUMMARY_END) + (state.count_text(added) if added else 0)


def _with_note(text: str, notes: tuple[str, ...], request: SummaryRequest, room: int) -> str:
    """Add what a summary leaves out of the facts needed, as far as so many tokens go."""
    note = facts_note(notes, room, request.count)
    return f"{text}\n{note}" if note else text
