"""What there is to say of parts that workers have read, in whichever order: how, and that a source is through."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from trajcompress.dataset.rows import Source
from trajcompress.run.parts.assignment import Assignment
from trajcompress.run.rows.explainer import Explainer, HowRead


class PartsRead:
    """Explains how rows were read in the order of ``todo``; ``read_through`` gets each source that has no more."""

    def __init__(
        self,
        todo: Iterable[Assignment],
        explainer: Explainer,
        read_through: Callable[[Source], None],
    ) -> None:
        self._order: deque[tuple[int, int]] = deque()
        self._known: dict[tuple[int, int], Sequence[HowRead]] = {}
        self._explainer = explainer
        self._read_through = read_through
        self._unread: dict[Source, set[int]] = {}
        for each in todo:
            self._order.append((each.part.number, each.piece))
            for span in each.part.spans:
                self._unread.setdefault(span.source, set()).add(each.part.number)

    def add(self, assignment: Assignment, how: Sequence[HowRead]) -> None:
        """Take how the rows of a part were read, all of which were."""
        number = assignment.part.number
        self._known.setdefault((number, assignment.piece), how)
        while self._order and self._order[0] in self._known:
            self._explain(self._order.popleft())
        for span in assignment.part.spans:
            unread = self._unread.get(span.source, set())
            unread.discard(number)
            if not unread:
                self._read_through(span.source)

    def end(self) -> None:
        """Explain what is left."""
        for place in self._order:
            self._explain(place)
        self._explainer.end_source()

    def _explain(self, place: tuple[int, int]) -> None:
        for how in self._known.get(place, ()):
            self._explainer.add(how)
