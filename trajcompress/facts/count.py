"""How many facts are needed, and how many of them are told."""

from __future__ import annotations

from msgspec import Struct


class FactCount(Struct, frozen=True):
    """How many facts later turns need of what went, and how many of them are still told."""

    needed: int = 0
    kept: int = 0

    def __add__(self, other: FactCount) -> FactCount:
        """Add both counts."""
        return FactCount(self.needed + other.needed, self.kept + other.kept)


NO_FACTS = FactCount()
