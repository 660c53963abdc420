"""What a summariser is given to read: the turns that no summary tells yet, and the summary that tells the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import Splice, State
from trajcompress.compaction.text import ResultLines, prune_steps
from trajcompress.facts import facts_needed
from trajcompress.facts.parts import Wanted
from trajcompress.facts.taken import words_used
from trajcompress.redact import Known
from trajcompress.redact.turns import clean_turns
from trajcompress.summarize.base import SummaryRequest
from trajcompress.transcript.trajectory import Region, Turn


@dataclass(frozen=True, slots=True)
class Reading:
    """What is to be read, the ``facts`` that must survive, and what says what is ``taken`` from each turn.

    ``redactions`` counts the secrets of what is read for the first time.
    """

    head: tuple[Turn, ...]
    region: tuple[Turn, ...]
    previous: str | None
    facts: tuple[str, ...]
    redactions: int
    taken: Callable[[], Mapping[int, Wanted]]


def request_for(state: State, region: Region, tokens: int, last: Splice | None, policy: Policy) -> SummaryRequest:
    """Ask for a summary of a region in so many tokens; arguments are those of :func:`read_region`."""
    given = read_region(state, region, last, facts=policy.facts != "off", clear=policy.clear_read)
    return SummaryRequest(
        row_id=state.row_id,
        head=given.head,
        region=given.region,
        facts=given.facts,
        target_tokens=tokens,
        count=state.counter.count_text,
        emit=state.emit,
        previous=given.previous,
        focus=policy.focus,
        special_tokens=state.counter.special_tokens,
        redactions=given.redactions,
        taken=given.taken,
    )


def read_region(state: State, region: Region, last: Splice | None, *, facts: bool, clear: bool) -> Reading:
    """Choose what is to be read to summarise a region, without secrets where these are to be taken out.

    Args:
        state: the row.
        region: the turns to be replaced.
        last: has a summary of the first of them, which is to be updated; None at the first summary, which updates
            that of a previous run if there is one.
        facts: whether to look up what the turns after the region need of it.
        clear: whether old observations are cleared in what is read.
    """
    turns, as_read, clean, previous = state.turns, state.as_read, state.clean, state.previous
    head, tail = turns[: region.start], turns[region.end :]
    replaced = as_read[region.start : region.end]
    summarised: tuple[Turn, ...] = (Turn("user", previous.text, {}),) if previous else ()
    fresh_from = last.region.end - region.start if last else 0
    redactions = 0
    if clean:
        cleaned_summary = clean_turns(summarised, clean.known)
        cleaned = clean.cleaned(as_read, Region(region.start + fresh_from, region.end))
        redactions = cleaned.redactions + (0 if last else cleaned_summary.redactions)
        summarised = cleaned_summary.turns
        head = clean.cleaned(turns, Region(0, region.start)).turns
        replaced = clean.cleaned(as_read, region).turns
    text = last.summary if last else summarised[0].text if summarised else None
    needed = facts_needed(head, (*summarised, *replaced), tail) if facts else ()
    fresh = replaced[fresh_from:]
    reading = Reading(
        head, fresh, text, needed, redactions, partial(words_used, head, fresh, tail) if facts else dict
    )
    return _cleared(state, region.end, reading) if clear else reading


def _cleared(state: State, end: int, reading: Reading) -> Reading:
    region = Region(end - len(reading.region), end)
    known = state.clean.known if state.clean else None
    return replace(reading, region=with_cleared(state.as_read, region, reading.region, reading.facts, known))


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
