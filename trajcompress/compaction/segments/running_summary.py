"""The running summary: each is made of the one before it and of the stretch since, in one call."""

from __future__ import annotations

from dataclasses import replace

from trajcompress.compaction.policy import Asking, Policy
from trajcompress.compaction.reading import with_cleared
from trajcompress.compaction.region import summary_room
from trajcompress.compaction.segments.head import head_end
from trajcompress.compaction.segments.segment import SegmentSummary
from trajcompress.compaction.state import State
from trajcompress.compaction.trim import trim_summary_text
from trajcompress.errors import SummaryError, UncountableTextError
from trajcompress.facts import facts_missing, facts_needed, facts_note, words_around
from trajcompress.facts.count import FactCount
from trajcompress.redact import redact
from trajcompress.redact.turns import clean_turns
from trajcompress.summarize.base import BUILT_IN, Summary, SummaryRequest
from trajcompress.transcript.trajectory import Region, Turn

_MOST_OVER = 1.25  # of what was asked for; a longer answer is trimmed
_NOTES_SHARE = 4  # of what was asked for, which notes of facts may take besides
_SHARE = 4  # of the budget, which one that grows with the row leaves to the turns


def running_room(policy: Policy, told: int) -> int:
    """Return the tokens that a summary of all ``told`` tokens before a segment may take.

    One that is sized by what it tells grows from segment to segment, up to a quarter of the budget.
    """
    room = summary_room(policy.summary_size, told)
    return room if isinstance(policy.summary_size, int) else min(room, policy.target_max_tokens // _SHARE)


def longest_summary(policy: Policy, told: int) -> int:
    """Return the tokens that a summary of all ``told`` tokens may have, longer than asked and with notes of facts."""
    room = running_room(policy, told)
    return int(_MOST_OVER * room) + room // _NOTES_SHARE


def update_summary(
    state: State, head: tuple[Turn, ...], region: Region, last: SegmentSummary | None, policy: Policy
) -> Asking[SegmentSummary]:
    """Ask for the summary of all turns before the end of a region.

    Args:
        state: the row.
        head: what stands before every summary.
        region: the turns that no summary tells yet.
        last: tells those before them.
        policy: what a summary must be.

    Raises:
        SummaryError: there is none.
        TimeoutError: the time for the row is up.
    """
    request = _request(state, head, region, last, policy)
    state.emit(
        "planned",
        tokens=state.tokens,
        region_start_idx=region.start,
        region_end_idx=region.end,
        region_tokens=sum(state.sizes[region.start : region.end]),
        summary_target_tokens=request.target_tokens,
        attempt=1,
    )
    answer = yield request if policy.grounded else replace(request, facts=())
    try:
        return _accepted(state, request, answer, policy)
    except UncountableTextError as error:  # the row's own texts were all counted before
        raise SummaryError("uncountable_summary", str(error)) from error


def _request(
    state: State, head: tuple[Turn, ...], region: Region, last: SegmentSummary | None, policy: Policy
) -> SummaryRequest:
    turns, clean = state.turns, state.clean
    read, redactions = turns[region.start : region.end], 0
    if clean:
        cleaned = clean.cleaned(turns, region)
        read, redactions = cleaned.turns, cleaned.redactions
        head = clean_turns(head, clean.known).turns
    previous = (Turn("user", last.text, {}),) if last else ()
    needed = facts_needed(head, (*previous, *read), turns[region.end :]) if policy.facts != "off" else ()
    if policy.clear_read:
        read = with_cleared(turns, region, read, needed, clean.known if clean else None)
    told = sum(state.sizes[head_end(turns) : region.end])
    return SummaryRequest(
        row_id=state.row_id,
        head=head,
        region=read,
        facts=needed,
        target_tokens=running_room(policy, told),
        count=state.count_text,
        emit=state.emit,
        previous=last.text if last else None,
        focus=policy.focus,
        special_tokens=state.control_marks,
        redactions=redactions,
    )


def _accepted(state: State, request: SummaryRequest, answer: Summary, policy: Policy) -> SegmentSummary:
    """Return an answer as the summary: without secrets, as long as asked, with what later turns need of it."""
    text, redacted = answer.text, answer.redactions
    if state.clean:
        cleaned = redact(text, state.clean.known)
        text, redacted = cleaned.text, redacted + cleaned.count
    needed = request.facts
    if request.count(text) > _MOST_OVER * request.target_tokens and answer.summarizer != BUILT_IN:
        asked = needed if policy.grounded else ()
        text = trim_summary_text(text, request.target_tokens, asked, request.count, in_part=True) or text
    missing = facts_missing(needed, text)
    if policy.grounded and missing:
        notes = tuple(words_around(missing, request.region, [request.previous or ""]).values())
        room = max(request.target_tokens - request.count(text), request.target_tokens // _NOTES_SHARE)
        note = facts_note(notes, room, request.count)
        text = f"{text}\n{note}" if note else text
        missing = facts_missing(needed, text)
    facts = FactCount(len(needed), len(needed) - len(missing))
    return SegmentSummary(text, answer.summarizer, request.count(text), facts, redacted)
