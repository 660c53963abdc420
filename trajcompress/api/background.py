"""An event loop in a thread of its own, so that calls from any thread and any event loop share clients and limits."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_END_S = 5.0
"""How long closing may take at the end of a program, where nobody waits for it."""


class Background:
    """Runs coroutines until it is stopped; its thread ends with the program."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="trajcompress", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Begin some work; cancelling what is returned cancels it.

        Raises:
            RuntimeError: it is stopped.
        """
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise

    def stop(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel what is under way, do one thing more, and end the thread."""
        done = self.submit(self._end(last))
        with contextlib.suppress(TimeoutError):
            done.result(_END_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_END_S)
        if not self._thread.is_alive():
            self._loop.close()

    @staticmethod
    async def _end(last: Coroutine[Any, Any, None]) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await last
        await asyncio.get_running_loop().shutdown_asyncgens()
        await asyncio.get_running_loop().shutdown_default_executor()
