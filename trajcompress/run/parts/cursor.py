"""Where parts stand in the input: how many rows and lines come before one, and how many it has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """What was read: rows, lines of a file of JSON lines, and how many of the rows were taken."""

    rows: int = 0
    lines: int = 0
    taken: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the input.

    ``index`` rows and ``line`` lines of its source come before it, ``position`` rows of the whole input, and of these
    ``taken`` were taken.
    """

    index: int = 0
    line: int = 0
    position: int = 0
    taken: int = 0

    def behind(self, counts: Counts, *, same_source: bool) -> Cursor:
        """Return the place behind what was counted from here, in the same source or at the beginning of another."""
        index, line = (self.index + counts.rows, self.line + counts.lines) if same_source else (0, 0)
        return Cursor(index, line, self.position + counts.rows, self.taken + counts.taken)
