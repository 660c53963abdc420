"""How much of what the assistant said is kept, of rows over the target: by their length and by their input."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

BANDS = ((1, 2, "up to 2 × the target"), (2, 4, "2 to 4 ×"), (4, 8, "4 to 8 ×"), (8, 2**40, "over 8 ×"))
"""Lengths of rows before, in targets: more than the first number, up to the second."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows over the target that have something in common: their assistant tokens before, and those still there."""

    name: str
    rows: int
    original: int
    kept: int

    @property
    def share(self) -> float:
        """Share of the tokens that is kept."""
        return self.kept / self.original if self.original else 1.0


def band_of(tokens: int, target: int) -> int:
    """Return which of :data:`BANDS` a row over the target lies in."""
    return next(at for at, (_, most, _) in enumerate(BANDS) if tokens <= most * target)


def added(groups: Iterable[Kept]) -> list[Kept]:
    """Add up those of one name, in the order in which the names first come."""
    sums: dict[str, Kept] = {}
    for each in groups:
        one = sums.get(each.name, Kept(each.name, 0, 0, 0))
        sums[each.name] = Kept(each.name, one.rows + each.rows, one.original + each.original, one.kept + each.kept)
    return list(sums.values())


def in_bands(groups: Iterable[Kept]) -> list[Kept]:
    """Order by length, the shortest first."""
    names = [name for _, _, name in BANDS]
    return sorted(groups, key=lambda each: names.index(each.name))


def least_first(groups: Iterable[Kept]) -> list[Kept]:
    """Order by the share that is kept."""
    return sorted(groups, key=lambda each: (each.share, -each.original, each.name))
