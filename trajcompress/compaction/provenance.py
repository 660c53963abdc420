"""Provenance: what a summary replaces, where it stands and who wrote it, in a column of its row. Pure.

A later run finds the summary by it, and updates it. It also says what was changed for the form of a target.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from trajcompress.compaction.previous_summary import PreviousSummary, read_summary
from trajcompress.compaction.state import State
from trajcompress.dataset.shape import Columns, Scalar, Struct
from trajcompress.summarize.base import BUILT_IN
from trajcompress.summarize.prompt import PROMPT_VERSION
from trajcompress.transcript.summary_marks import PROVENANCE_COLUMN, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Trajectory, Turn

_FIELDS = {
    "turn": Scalar.BIG_INT,  # that is or holds the summary
    "start": Scalar.BIG_INT,  # of the turns that it replaces, counted in the row as it was before any summary
    "end": Scalar.BIG_INT,  # exclusive
    "digest": Scalar.STR,
    "placement": Scalar.STR,
    "summarizer": Scalar.STR,
    "prompt": Scalar.STR,  # its version; empty where there was none
    "updates": Scalar.BIG_INT,  # how often it was replaced by one that tells more
    "form": Scalar.STR,  # what was changed for the form of a target; in a row without a summary all else is null
}
_OF_SUMMARY = tuple(name for name in _FIELDS if name != "form")
PROVENANCE_TYPES: Columns = {PROVENANCE_COLUMN: Struct(tuple(_FIELDS.items()))}

Provenance: TypeAlias = dict[str, Any]
_MOST_TURNS = 10_000_000  # more than any row has, so that sums of what is written stay numbers that a column can hold
_MOST_CHARS = 1000


def provenance_in(row: Mapping[str, Any]) -> tuple[str, Provenance | None]:
    """Return the name of the column for the provenance, and what a previous run wrote there.

    A column of that name which holds something else is left alone, and another name is taken. Version 0.1 wrote
    no form.
    """
    name, number = PROVENANCE_COLUMN, 1
    while (value := row.get(name)) is not None and not _is_provenance(value):
        number += 1
        name = f"{PROVENANCE_COLUMN}_{number}"
    return name, value and {**value, "form": value.get("form", "")}


def known_summary_turn(trajectory: Trajectory) -> int | None:
    """Return the index of the turn that holds a previous run's summary, as its provenance says."""
    provenance = _borne_out(trajectory)
    return int(provenance["turn"]) if provenance else None


def _borne_out(trajectory: Trajectory) -> Provenance | None:
    """Return the provenance in a row, where the row bears it out: a summary stands in that turn, and in that way.

    Anyone can write such a column, and a row may have been edited since.
    """
    provenance = provenance_in(trajectory.row)[1]
    if provenance is None or provenance["turn"] is None:
        return None
    turn, start = int(provenance["turn"]), int(provenance["start"])
    found = read_summary(trajectory.turns, turn) if turn < len(trajectory.turns) else None
    if found is None or found.own_turn != (provenance["placement"] == "human") or start not in (turn, turn + 1):
        return None
    return provenance


def summary_turn(turns: Sequence[Turn], start: int) -> int:
    """Return which turn is, or holds, the summary of what stood from ``start`` on: that one, else the one before."""
    return start if start < len(turns) and turns[start].text.startswith(SUMMARY_PREFIX) else start - 1


def provenance_of(trajectory: Trajectory, last: State) -> Provenance | None:
    """Return the provenance of a summary; None where there is no new one.

    Of an updated summary, the turns are counted as in the row that the first one was written for, and the digest is
    of the previous digest and the turns that went now; otherwise it is of the turns that the summary replaces.

    Args:
        trajectory: the row as it was read.
        last: the state that is written; it says what was replaced.
    """
    splice, replaced = last.splice, last.replaced
    if splice is None or replaced is None:
        return None
    start, end = replaced.start, replaced.end
    before = _borne_out(trajectory)
    gone = json.dumps([turn.raw for turn in trajectory.turns[start:end]], sort_keys=True, default=str)
    digest = hashlib.sha256(f"{before['digest'] if before else ''}{gone}".encode("utf-8", "replace")).hexdigest()
    turn = summary_turn(splice.turns, start)
    if before:
        own_turn = before["placement"] == "human"
        end += int(before["end"]) - int(before["start"]) - own_turn
        start = min(start, int(before["start"]))
    return {
        "turn": turn,
        "start": start,
        "end": end,
        "digest": digest[:32],
        "placement": splice.placed,
        "summarizer": splice.summarizer,
        "prompt": "" if splice.summarizer == BUILT_IN else PROMPT_VERSION,
        "updates": int(before["updates"]) + 1 if before else 0,
        "form": before["form"] if before else "",
    }


def provenance_of_previous(previous: PreviousSummary, start: int, end: int) -> Provenance:
    """Return the provenance of a summary that a row is known to hold, where nothing is known of who wrote it.

    Args:
        previous: the summary, and where it stands.
        start: of the turns that it replaces, counted in the row as it was before any summary.
        end: of these turns, exclusive.
    """
    unknown = dict.fromkeys(("digest", "summarizer", "prompt", "form"), "")
    placement = "human" if previous.own_turn else "fold"
    return {
        **unknown,
        "turn": previous.index,
        "start": start,
        "end": end,
        "placement": placement,
        "updates": 0,
    }


def with_provenance(
    row: dict[str, Any], trajectory: Trajectory, last: State | None, *, wanted: bool
) -> dict[str, Any]:
    """Return a changed row with its provenance, if one is wanted or there is one already that must not grow stale.

    Args:
        row: what is written.
        trajectory: the row as it was read, in the form of the target.
        last: the state that is written; None where the row stayed as it was.
        wanted: whether rows that have no provenance get one.
    """
    name, before = provenance_in(row)
    if not wanted and before is None:
        return row
    provenance = provenance_of(trajectory, last) if last is not None else None
    changes = trajectory.formed.changes if trajectory.formed else ()
    if changes:
        provenance = {**(provenance or before or dict.fromkeys(_FIELDS)), "form": ", ".join(changes)}
    return {**row, name: provenance} if provenance else row


def with_column(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the column for a provenance, empty where it has none."""
    name, provenance = provenance_in(row)
    return {**row, name: provenance}


def with_provenance_beside(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its provenance in the next column, where the first is of another type in other rows."""
    name, provenance = provenance_in(row)
    if provenance is None or name != PROVENANCE_COLUMN:
        return row
    return {**row, name: None, f"{name}_2": provenance}


def _is_provenance(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() not in (set(_OF_SUMMARY), _FIELDS.keys()):
        return False
    if all(value[name] is None for name in _OF_SUMMARY):
        return bool(value.get("form")) and _is_text(value["form"])
    for name, field in value.items():
        if _FIELDS[name] is Scalar.STR:
            if not _is_text(field):
                return False
        elif type(field) is not int or not 0 <= field <= _MOST_TURNS:
            return False
    return bool(value["start"] < value["end"])


def _is_text(field: Any) -> bool:
    return type(field) is str and len(field) <= _MOST_CHARS and field.isprintable()
