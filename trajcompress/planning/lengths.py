"""The lengths of rows: quantiles, and a histogram in which every target is an edge. Pure."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

_FINEST = 5  # halvings below the smallest target


@dataclass(frozen=True, slots=True)
class Bin:
    """Rows of more than ``over`` and up to ``up_to`` tokens."""

    over: int
    up_to: int
    rows: int


class Lengths:
    """Tokens of rows, eight bytes each."""

    def __init__(self) -> None:
        self._tokens = array("Q")

    def add(self, tokens: int) -> None:
        """Add a row."""
        self._tokens.append(tokens)

    def join(self, others: Lengths) -> None:
        """Add other rows."""
        self._tokens.extend(others._tokens)

    def quantiles(self, shares: Sequence[float]) -> dict[float, int]:
        """Return for each share of the rows the least length that so many do not exceed; nothing without rows."""
        ordered = sorted(self._tokens)
        last = len(ordered) - 1
        return {share: ordered[min(last, int(share * len(ordered)))] for share in shares} if ordered else {}

    def bins(self, targets: Sequence[int]) -> list[Bin]:
        """Return bins that double in width around the smallest target, with all targets among their edges.

        Where no row is as short, or as long, as a target, there is one empty bin up to it.
        """
        if not self._tokens:
            return []
        base, longest = min(targets), max(self._tokens)
        edges = {*targets, *(base >> halved for halved in range(_FINEST + 1) if base >> halved)}
        edge = base
        while edge < longest:
            edge *= 2
            edges.add(edge)
        ordered = sorted(edges)
        rows = [0] * len(ordered)
        for tokens in self._tokens:
            rows[bisect_left(ordered, tokens)] += 1
        filled = [index for index, count in enumerate(rows) if count]
        within = range(filled[0], filled[-1] + 1)
        shown = [index for index, edge in enumerate(ordered) if index in within or edge in targets]
        lows = [ordered[shown[0] - 1] if shown[0] else 0, *(ordered[index] for index in shown)]
        return [Bin(low, ordered[index], rows[index]) for low, index in zip(lows, shown, strict=False)]
