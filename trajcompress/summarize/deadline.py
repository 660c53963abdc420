"""A time-out that can stand still."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


class Deadline:
    """Raises TimeoutError in a block it guards once ``seconds`` were spent in such blocks, one after the other.

    Time within :meth:`stopped` does not count. ``seconds`` None never raises, and needs no event loop.
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = self._left = seconds
        self._timeout: asyncio.Timeout | None = None

    async def __aenter__(self) -> Self:
        if self._left is not None:
            self._timeout = asyncio.timeout(self._left)
            await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._timeout is not None:
            due = self._timeout.when()
            if due is not None:
                self._left = max(0.0, due - asyncio.get_running_loop().time())
            await self._timeout.__aexit__(kind, error, traceback)

    async def renew(self, cancelled: asyncio.CancelledError) -> bool:
        """Give the block its time anew where ``cancelled``, which it has caught, was the time-out.

        Returns False where it was something else, which is to be raised again.
        """
        try:
            await self.__aexit__(type(cancelled), cancelled, cancelled.__traceback__)
        except TimeoutError:
            self._left = self._seconds
            await self.__aenter__()
            return True
        self._timeout = None
        return False

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Let time pass within this block without counting it."""
        due = self._timeout and self._timeout.when()
        if self._timeout is None or due is None or self._timeout.expired():
            yield
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        self._timeout.reschedule(None)
        try:
            yield
        finally:
            if not self._timeout.expired():
                self._timeout.reschedule(due + loop.time() - began)
