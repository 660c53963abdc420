"""The ``loop`` of chat templates where it goes over a list: what is next is looked up, not fetched ahead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from jinja2.runtime import LoopContext, Undefined
from jinja2.utils import missing

Steps: TypeAlias = Iterable[tuple[Any, LoopContext]]

INLINE = {
    "first": "not {0}.index0",
    "index": "{0}.index0 + 1",
    "index0": "{0}.index0",
    "last": "{0}.index0 == {0}.index_of_last",
    "previtem": "{0}.previtem",
}
"""Code of what is asked of a :class:`QuickLoop`, the loop being ``{0}``."""


class QuickLoop(LoopContext):
    """A loop over a list."""

    def __init__(self, items: list[Any], *more: Any) -> None:
        super().__init__(items, *more)
        self.index_of_last = len(items) - 1

    def steps(self) -> Iterator[tuple[Any, LoopContext]]:
        """Yield each item, with the loop."""
        for item in self._iterator:
            self.index0 += 1
            yield item, self

    def __next__(self) -> tuple[Any, LoopContext]:
        item = next(self._iterator)
        self.index0 += 1
        return item, self

    def _peek_next(self) -> Any:
        return self._iterable[self.index0 + 1] if self.index0 < self.index_of_last else missing  # type: ignore[index] # it is a list

    @property
    def previtem(self) -> Any | Undefined:
        """The item before this one."""
        return self._iterable[self.index0 - 1] if self.index0 else self._undefined("there is no previous item")  # type: ignore[index] # as above


def quick_loop(items: Any, undefined: type[Undefined], *more: Callable[..., str] | int) -> Steps:
    """Return what ``LoopContext`` does, to go over once. Takes what that takes."""
    if type(items) is list:
        return QuickLoop(items, undefined, *more).steps()
    return LoopContext(items, undefined, *more)  # type: ignore[arg-type] # generated code passes what it passes on
