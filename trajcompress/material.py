"""What a summariser is given of a row: the turns that no summary tells yet, and the summary that tells the others."""

from __future__ import annotations

from dataclasses import dataclass

from trajcompress.clean import clean_turns
from trajcompress.facts import facts_needed
from trajcompress.measure import Measured
from trajcompress.trajectory import Region, Turn
from trajcompress.verify import Candidate


@dataclass(frozen=True, slots=True)
class Material:
    """What is to be read. ``redactions`` counts the secrets of what is read for the first time."""

    head: tuple[Turn, ...]
    region: tuple[Turn, ...]
    previous: str | None
    facts: tuple[str, ...]
    redactions: int


def material_for(measured: Measured, region: Region, told: Candidate | None, *, clean: bool, facts: bool) -> Material:
    """Choose what is to be read to summarise a region.

    Args:
        measured: the row.
        region: the turns to be replaced.
        told: has a summary of the first of them, which is to be updated; None at the first summary, which updates
            that of an earlier run if there is one.
        clean: whether secrets become marks.
        facts: whether to look up what the turns after the region need of it.
    """
    turns, earlier = measured.trajectory.turns, measured.earlier
    head, replaced, tail = turns[: region.start], turns[region.start : region.end], turns[region.end :]
    replaced = measured.unpruned[region.start : region.end] if measured.unpruned else replaced
    state: tuple[Turn, ...] = (Turn("user", earlier.text, {}),) if earlier else ()
    fresh_from = told.region.end - region.start if told else 0
    fresh, redactions = replaced[fresh_from:], 0
    if clean:
        cleaned_state, cleaned = clean_turns(state), clean_turns(fresh)
        redactions = cleaned.redactions + (0 if told else cleaned_state.redactions)
        state, head = cleaned_state.turns, clean_turns(head).turns
        replaced, fresh = (*clean_turns(replaced[:fresh_from]).turns, *cleaned.turns), cleaned.turns
    previous = told.summary if told else state[0].text if state else None
    needed = facts_needed(head, (*state, *replaced), tail) if facts else ()
    return Material(head, fresh, previous, needed, redactions)
