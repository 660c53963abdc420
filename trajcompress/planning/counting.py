"""Counting each row once, however many targets it is planned for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.tokens.tokenizer import LoadedTokenizer
from trajcompress.trajectory import Trajectory, Turn


class RowsCountedOnce(TokenCounter):
    """Remembers the tokens of rows, and of their turns, for as long as it is asked to."""

    def __init__(self, tokenizer: LoadedTokenizer, method: Literal["template", "content"] | None = None) -> None:
        super().__init__(tokenizer, method)
        self._counts: dict[int, Count | None] = {}
        self._turns: dict[int, list[int] | None] = {}

    @contextmanager
    def remembering(self, trajectory: Trajectory) -> Iterator[None]:
        """Within, count this trajectory and its turns at most once."""
        row, turns = id(trajectory), id(trajectory.turns)
        self._counts[row] = self._turns[turns] = None
        try:
            yield
        finally:
            del self._counts[row], self._turns[turns]

    def count(self, trajectory: Trajectory, known: Mapping[int, int] | None = None) -> Count:
        """Return the tokens of a trajectory."""
        key = id(trajectory)
        if key not in self._counts:
            return super().count(trajectory, known or {})
        if (count := self._counts[key]) is None:
            count = self._counts[key] = super().count(trajectory)
        return count

    def count_turns(self, turns: Sequence[Turn]) -> list[int]:
        """Return the tokens of each turn."""
        key = id(turns)
        if key not in self._turns:
            return super().count_turns(turns)
        if (counts := self._turns[key]) is None:
            counts = self._turns[key] = super().count_turns(turns)
        return counts
