"""What there is to say of how rows were read, in the order of the parts, whichever is done first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence

from trajcompress.run.explainer import Explainer, HowRead
from trajcompress.settings.choices import Role


class ExplainedInOrder:
    """Explains how rows were read.

    Args:
        order: the parts and pieces, in order.
        note: takes a line for people.
        role_map: the roles that settings map.
    """

    def __init__(
        self, order: Sequence[tuple[int, int]], note: Callable[[str], None], role_map: Mapping[str, Role]
    ) -> None:
        self._order = deque(order)
        self._known: dict[tuple[int, int], Sequence[HowRead]] = {}
        self._explainer = Explainer(note, role_map)

    def add(self, place: tuple[int, int], how: Sequence[HowRead]) -> None:
        """Take how the rows of a part were read."""
        self._known.setdefault(place, how)
        while self._order and self._order[0] in self._known:
            self._explain(self._order.popleft())

    def end(self) -> None:
        """Explain what is left."""
        for place in self._order:
            self._explain(place)
        self._explainer.end_source()

    def _explain(self, place: tuple[int, int]) -> None:
        for how in self._known.get(place, ()):
            self._explainer.add(how)
