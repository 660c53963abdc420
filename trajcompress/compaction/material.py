"""What a summariser is given of a row: the turns that no summary tells yet, and the summary that tells the others."""

from __future__ import annotations

from dataclasses import dataclass

from trajcompress.compaction.measure import Measured
from trajcompress.compaction.verify import Candidate
from trajcompress.facts import facts_needed
from trajcompress.redact.turns import clean_turns
from trajcompress.transcript.trajectory import Region, Turn


@dataclass(frozen=True, slots=True)
class Material:
    """What is to be read. ``redactions`` counts the secrets of what is read for the first time."""

    head: tuple[Turn, ...]
    region: tuple[Turn, ...]
    previous: str | None
    facts: tuple[str, ...]
    redactions: int


def material_for(measured: Measured, region: Region, told: Candidate | None, *, facts: bool) -> Material:
    """Choose what is to be read to summarise a region, without secrets where these are to be taken out.

    Args:
        measured: the row.
        region: the turns to be replaced.
        told: has a summary of the first of them, which is to be updated; None at the first summary, which updates
            that of an earlier run if there is one.
        facts: whether to look up what the turns after the region need of it.
    """
    turns, earlier, clean = measured.trajectory.turns, measured.earlier, measured.clean
    head, tail = turns[: region.start], turns[region.end :]
    told_turns = measured.unpruned or turns
    replaced = told_turns[region.start : region.end]
    state: tuple[Turn, ...] = (Turn("user", earlier.text, {}),) if earlier else ()
    fresh_from = told.region.end - region.start if told else 0
    redactions = 0
    if clean:
        cleaned_state = clean_turns(state, clean.known)
        cleaned = clean.cleaned(told_turns, Region(region.start + fresh_from, region.end))
        redactions = cleaned.redactions + (0 if told else cleaned_state.redactions)
        state = cleaned_state.turns
        head = clean.cleaned(turns, Region(0, region.start)).turns
        replaced = clean.cleaned(told_turns, region).turns
    previous = told.summary if told else state[0].text if state else None
    needed = facts_needed(head, (*state, *replaced), tail) if facts else ()
    return Material(head, replaced[fresh_from:], previous, needed, redactions)
