"""Texts of a row that no tokenizer can encode: those with half of a surrogate pair, as one cut in two leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajcompress.transcript.trajectory import Trajectory
from trajcompress.transcript.violation import Violation

_AROUND = 20
"""Characters shown before the surrogate."""


def lone_surrogates(trajectory: Trajectory) -> Iterator[Violation]:
    """Yield the first lone surrogate of each turn, of the system prompt of a column, and of the tools."""
    turns = [*trajectory.turns, *(trajectory.split.other_turns if trajectory.split else ())]
    for index, turn in enumerate(turns):
        if (found := _first(turn.raw)) is not None:
            yield Violation("lone_surrogate", index if index < len(trajectory.turns) else None, found)
    for column, value in (("system", trajectory.system), ("tools", trajectory.tools)):
        if (found := _first(value)) is not None:
            yield Violation("lone_surrogate", None, f"column {column}: {found}")


def _first(value: Any) -> str | None:
    """Return where the first lone surrogate of a value stands, with the characters before it."""
    left = [value]
    while left:  # rows may be nested deeper than the stack is
        each = left.pop()
        if isinstance(each, str):
            if not each.isascii() and (at := _place(each)) is not None:
                return f"character {at}: {each[max(0, at - _AROUND) : at + 1]!r}"
        elif isinstance(each, dict):
            left += reversed([part for item in each.items() for part in item])
        elif isinstance(each, list):
            left += reversed(each)
    return None


def _place(text: str) -> int | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None
