"""Counting each row once, however many targets it is planned for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trajcompress.settings.choices import Counting
from trajcompress.tokens.counter import Count, Known, TokenCounter
from trajcompress.tokens.tokenizer import LoadedTokenizer
from trajcompress.transcript.trajectory import Trajectory


class RowsCountedOnce(TokenCounter):
    """Remembers the tokens of rows, and with them what is known of their turns, for as long as it is asked to."""

    def __init__(self, tokenizer: LoadedTokenizer, method: Counting | None = None) -> None:
        super().__init__(tokenizer, method)
        self._counts: dict[int, Count | None] = {}

    @contextmanager
    def remembering(self, trajectory: Trajectory) -> Iterator[None]:
        """Within, count this trajectory and its turns at most once."""
        key = id(trajectory)
        self._counts[key] = None
        try:
            yield
        finally:
            del self._counts[key]

    def count(self, trajectory: Trajectory, known: Known | None = None) -> Count:
        """Return the tokens of a trajectory."""
        key = id(trajectory)
        if key not in self._counts:
            return super().count(trajectory, known)
        if (count := self._counts[key]) is None:
            count = self._counts[key] = super().count(trajectory, known)
        return count
