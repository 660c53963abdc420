"""What a summariser is given to read: the turns that no summary tells yet, and the summary that tells the others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import Splice, State
from trajcompress.compaction.text import ResultLines, prune_steps
from trajcompress.facts import facts_needed
from trajcompress.facts.taken import words_used
from trajcompress.redact import Known
from trajcompress.redact.turns import clean_turns
from trajcompress.summarize.base import SummaryRequest
from trajcompress.transcript.trajectory import Region, Turn


def request_for(state: State, region: Region, tokens: int, last: Splice | None, policy: Policy) -> SummaryRequest:
    """Ask for a summary of a region, and choose what is read for it, without secrets where these are to be taken out.

    Args:
        state: the row.
        region: the turns to be replaced.
        tokens: what the summary may take.
        last: has a summary of the first of them, which is to be updated; None at the first summary, which updates
            that of a previous run if there is one.
        policy: whether to look up what the turns after the region need of it, and to clear old observations of it.
    """
    turns, as_read, clean, previous = state.turns, state.as_read, state.clean, state.previous
    head, tail = turns[: region.start], turns[region.end :]
    replaced = as_read[region.start : region.end]
    summarised: tuple[Turn, ...] = (Turn("user", previous.text, {}),) if previous else ()
    unread = Region(last.region.end if last else region.start, region.end)
    redactions = 0
    if clean:
        cleaned_summary = clean_turns(summarised, clean.known)
        redactions = clean.cleaned(as_read, unread).redactions + (0 if last else cleaned_summary.redactions)
        summarised = cleaned_summary.turns
        head = clean.cleaned(turns, Region(0, region.start)).turns
        replaced = clean.cleaned(as_read, region).turns
    told = summarised[0].text if summarised else None
    reader = state.ledger.reader if state.ledger else None
    facts = facts_needed(head, (*summarised, *replaced), tail, turns=reader) if policy.facts != "off" else ()
    fresh = replaced[unread.start - region.start :]
    taken = partial(words_used, head, fresh, tail) if policy.facts != "off" else dict
    if policy.clear_read:
        fresh = with_cleared(as_read, unread, fresh, facts, clean.known if clean else None)
    return SummaryRequest(
        row_id=state.row_id,
        head=head,
        region=fresh,
        facts=facts,
        target_tokens=tokens,
        count=state.count_text,
        emit=state.emit,
        previous=last.summary if last else told,
        focus=policy.focus,
        special_tokens=state.control_marks,
        redactions=redactions,
        taken=taken,
    )


def with_cleared(
    turns: Sequence[Turn], region: Region, cleaned: Sequence[Turn], facts: Sequence[str], known: Known | None
) -> tuple[Turn, ...]:
    """Clear old observations of a region, but for facts that must be in the summary.

    Args:
        turns: all turns of the row.
        region: which of them are summarised.
        cleaned: the region without its secrets.
        facts: what stays in a cleared turn that tells it.
        known: the secrets of the row, where cleared turns are to be without secrets, too.
    """
    read = list(cleaned)
    for step in prune_steps(ResultLines(turns[: region.end], region, lambda _index: facts)):
        read[step.index - region.start] = step.turn if known is None else clean_turns([step.turn], known).turns[0]
    return tuple(read)
