"""The parts of a run: which are committed, which are still to be worked on, and where each begins in the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trajcompress.dataset.cutting import Part
from trajcompress.dataset.rows import Source
from trajcompress.run.assignment import Assignment
from trajcompress.run.committed import CommittedPart, PartKey
from trajcompress.run.cursor import Cursor
from trajcompress.run.progress import Progress


class Ledger:
    """Hands out what is missing, in input order, and takes note of what is committed.

    Args:
        parts: All parts of the input.
        committed: Those that are there already, pieces of them too.
        limit: How many rows are taken at most.
        again: Of which of them failed rows are tried again.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        committed: Mapping[PartKey, CommittedPart],
        limit: int | None = None,
        again: frozenset[PartKey] = frozenset(),
    ) -> None:
        self.committed = dict(committed)
        self._parts = parts
        self._limit = limit
        self._again = again
        self._ends: dict[int, Cursor] = {}
        for number, pieces in _by_number(committed).items():
            if pieces[-1].is_last:
                self._ends[number] = pieces[-1].start.behind(pieces[-1].read, same_source=True)

    def assignments(self) -> Iterator[Assignment]:
        """Yield what is to be done; each must have been :meth:`counted` before the next is asked for."""
        pieces = _by_number(self.committed)
        for part in self._parts:
            start = self.start_of(part)
            if self._limit is not None and start.taken >= self._limit:
                return
            yield from self._missing(part, start, pieces.get(part.number, []))

    def _missing(self, part: Part, start: Cursor, there: Sequence[CommittedPart]) -> Iterator[Assignment]:
        """Yield what is missing of one part, before, between and behind its pieces, and those to be done again."""
        piece = 0
        for each in there:
            if each.key.piece > piece:
                yield Assignment(part, start, piece, each.start.index, is_last=False)
            piece, start = each.key.piece + 1, each.start.behind(each.read, same_source=True)
            if each.key in self._again:
                yield Assignment(part, each.start, each.key.piece, start.index, each.is_last, each)
        if not there or not there[-1].is_last:
            yield Assignment(part, start, piece)

    def start_of(self, part: Part) -> Cursor:
        """Return where a part begins, which takes that what is before it was counted."""
        if part.number == 0:
            return Cursor()
        before, end = self._parts[part.number - 1], self._ends[part.number - 1]
        return end if part.goes_on_from(before) else Cursor(position=end.position, taken=end.taken)

    def counted(self, part: Part, end: Cursor) -> None:
        """Note the place behind a part that was read."""
        self._ends[part.number] = end

    def commit(self, part: CommittedPart) -> None:
        """Note that a part is committed."""
        self.committed[part.key] = part
        self._again -= {part.key}

    def in_order(self) -> list[CommittedPart]:
        """Return what is committed, in input order."""
        return [self.committed[key] for key in sorted(self.committed)]

    def progress(self) -> Progress:
        """Count the rows that stay as they are."""
        progress = Progress()
        for key, part in self.committed.items():
            if key not in self._again:
                progress.join(part.progress)
        return progress

    def bytes_done(self) -> int:
        """Return the size of the parts of which nothing is to be done."""
        done = self._ends.keys() - {key.number for key in self._again}
        return sum(self._parts[number].size or 0 for number in done)

    def reads_through(self, part: Part) -> list[Source]:
        """Return the sources of which a part is the end."""
        after = self._parts[part.number + 1] if part.number + 1 < len(self._parts) else None
        sources = [span.source for span in part.spans]
        return sources[:-1] if after and after.goes_on_from(part) else sources


def _by_number(committed: Mapping[PartKey, CommittedPart]) -> dict[int, list[CommittedPart]]:
    pieces: dict[int, list[CommittedPart]] = {}
    for key in sorted(committed):
        pieces.setdefault(key.number, []).append(committed[key])
    return pieces
