"""The parts of a run: which are committed, which are still to be worked on, and where each begins in the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.parts.committed import CommittedPart, PartKey
from trajcompress.run.parts.cursor import Cursor
from trajcompress.run.parts.selection import Selection
from trajcompress.run.progress.progress import Progress

_ALL = Selection()


class Ledger:
    """Hands out what is missing, in input order, and takes note of what is committed.

    Args:
        parts: All parts of the input.
        committed: Those that are there already, pieces of them too.
        selection: Which rows are taken; all unless given.
        again: Of which of them failed rows are tried again.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        committed: Mapping[PartKey, CommittedPart],
        selection: Selection = _ALL,
        again: frozenset[PartKey] = frozenset(),
    ) -> None:
        self.parts = parts
        self._pieces: dict[int, dict[int, CommittedPart]] = {}
        self._selection = selection
        self._again = again
        self._ends: dict[int, Cursor] = {}
        for key in sorted(committed):
            part = committed[key]
            self._pieces.setdefault(key.number, {})[key.piece] = part
            if part.is_last:
                self._ends[key.number] = part.start.behind(part.read, same_source=True)

    def assignments(self) -> Iterator[Assignment]:
        """Yield what is to be done; each must have been :meth:`counted` before the next is asked for."""
        for part in self.parts:
            if self.is_past_limit(self.start_of(part)):
                return
            for missing in self.missing(part):
                yield missing if missing.piece else replace(missing, start=self.start_of(part))

    def missing(self, part: Part) -> list[Assignment]:
        """Return what is missing of one part, before, between and behind its pieces, and what is to be done again.

        Where the part begins is left to :meth:`start_of`.
        """
        there = [piece for _, piece in sorted(self._pieces.get(part.number, {}).items())]
        missing = []
        piece, start = 0, Cursor()
        for each in there:
            if each.key.piece > piece:
                missing.append(Assignment(part, start, piece, each.start.index, is_last=False))
            piece, start = each.key.piece + 1, each.start.behind(each.read, same_source=True)
            if each.key in self._again:
                missing.append(Assignment(part, each.start, each.key.piece, start.index, each.is_last, each))
        if not there or not there[-1].is_last:
            missing.append(Assignment(part, start, piece))
        return missing

    def is_past_limit(self, start: Cursor) -> bool:
        """Tell whether nothing is taken from a place on."""
        return self._selection.limit is not None and start.taken >= self._selection.limit

    def knows_start_of(self, part: Part) -> bool:
        """Tell whether it is known where a part begins, or does not matter."""
        return part.number == 0 or part.number - 1 in self._ends or not self._matters(part)

    def _matters(self, part: Part) -> bool:
        """Tell whether it matters what comes before a part, which is not the first."""
        goes_on = part.source.kind == "jsonl" and part.goes_on_from(self.parts[part.number - 1])
        return goes_on or self._selection.needs_position

    def start_of(self, part: Part) -> Cursor:
        """Return where a part begins; what is before it must have been counted where that matters."""
        if part.number == 0 or not self.knows_start_of(part):
            return Cursor()
        before, end = self.parts[part.number - 1], self._ends.get(part.number - 1, Cursor())
        return end if part.goes_on_from(before) else Cursor(position=end.position, taken=end.taken)

    def is_waited_for(self, part: Part) -> bool:
        """Tell whether the part after one begins where nobody knows before this one is counted."""
        after = part.number + 1
        return after < len(self.parts) and part.number not in self._ends and self._matters(self.parts[after])

    def counted(self, part: Part, end: Cursor) -> None:
        """Note the place behind a part that was read."""
        self._ends[part.number] = end

    def commit(self, part: CommittedPart) -> None:
        """Note that a part is committed."""
        self._pieces.setdefault(part.key.number, {})[part.key.piece] = part
        self._again -= {part.key}

    def in_order(self) -> list[CommittedPart]:
        """Return what is committed, in input order."""
        numbers = sorted(self._pieces)
        return [self._pieces[number][piece] for number in numbers for piece in sorted(self._pieces[number])]

    def progress(self) -> Progress:
        """Count the rows that stay as they are."""
        progress = Progress()
        for part in self.in_order():
            if part.key not in self._again:
                progress.join(part.progress)
        return progress

    def bytes_done(self) -> int:
        """Return the size of the parts of which nothing is to be done."""
        return sum(self.parts[number].size or 0 for number in self._pieces if not self.missing(self.parts[number]))

    def reads_through(self, part: Part) -> list[Source]:
        """Return the sources of which a part is the end."""
        after = self.parts[part.number + 1] if part.number + 1 < len(self.parts) else None
        sources = [span.source for span in part.spans]
        return sources[:-1] if after and after.goes_on_from(part) else sources
