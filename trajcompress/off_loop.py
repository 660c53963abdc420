"""Work that would hold up the event loop, done in an executor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class OffLoop:
    """Runs work in ``executor``; None is the event loop's own."""

    def __init__(self, executor: Executor | None) -> None:
        self._executor = executor

    async def __call__(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``work`` returns."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: work(*args, **kwargs))
