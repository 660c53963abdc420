"""Stopping a run from outside: the first signal asks, the second ends the process at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

EXIT_INTERRUPTED = 130
GRACE_S = 8.0
"""How long calls that are under way may still take once a stop is asked for."""


class InterruptedRunError(Exception):
    """The run was asked to stop before its input ended."""


@contextmanager
def stop_signals(ask_to_stop: Callable[[], None]) -> Iterator[None]:
    """Call ``ask_to_stop`` at the first SIGINT or SIGTERM within; a second one ends the process there and then.

    That loses nothing: what is committed is durable, and the rest is done again by the run that goes on.
    """
    loop = asyncio.get_running_loop()
    asked = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(EXIT_INTERRUPTED)  # here and not on the loop, which may be waiting for a thread
        asked = True
        loop.call_soon_threadsafe(ask_to_stop)

    before: dict[signal.Signals, Any] = {}
    with suppress(ValueError):  # not in the main thread: no graceful stop
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
