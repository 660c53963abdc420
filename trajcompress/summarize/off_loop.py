"""Work that would hold up the event loop, done in an executor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class OffLoop:
    """Runs work in ``executor``; None is the event loop's own. Where no event loop runs, none is held up."""

    def __init__(self, executor: Executor | None = None) -> None:
        self._executor = executor

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``work`` returns."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return work(*args, **kwargs)
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))


def run_through(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing but work off the loop, in this thread and without a loop.

    A row that is worked on in one go crosses between threads once, not once for each piece of work.

    Raises:
        RuntimeError: it waits for something else.
    """
    try:
        coroutine.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    coroutine.close()
    raise RuntimeError("this coroutine needs an event loop")
