"""Columns that hold one value per turn, such as rewards or masks: kept in step with what is written. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from trajcompress.transcript.trajectory import Trajectory


def look_like_it(trajectory: Trajectory) -> frozenset[str]:
    """Return the columns whose value is a list as long as the turns, none of which holds messages."""
    turns, messages = len(trajectory.turns), trajectory.message_columns
    return frozenset(
        name
        for name, value in trajectory.row.items()
        if isinstance(value, list) and len(value) == turns and name not in messages
    )


def in_step(
    row: Mapping[str, Any], trajectory: Trajectory, columns: Collection[str], places: Sequence[int | None]
) -> dict[str, Any]:
    """Return a row whose per-turn columns have a value for each of its turns.

    Args:
        row: what is to be written.
        trajectory: what was read.
        columns: hold a value for each turn that was read; what is no such list in this row is left alone.
        places: where each turn of ``row`` stands in what was read; None for one that was made: its value is null.
    """
    turns = len(trajectory.turns)
    trimmed = trajectory.formed.trimmed if trajectory.formed else 0
    sliced = {
        name: [None if place is None else value[place] for place in places]
        for name in columns
        if isinstance(value := trajectory.row.get(name), list) and len(value) in {turns, turns + trimmed}
    }
    return {**row, **sliced}
