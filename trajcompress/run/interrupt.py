"""Stopping a run from outside: the first signal asks, the second ends the process at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

    def handle() -> None:
        nonlocal asked
        if asked:
            os._exit(EXIT_INTERRUPTED)
        asked = True
        ask_to_stop()

    signals: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM)
    try:
        for number in signals:
            loop.add_signal_handler(number, handle)
    except (NotImplementedError, RuntimeError, ValueError):  # Windows, or not in the main thread: no graceful stop
        signals = ()
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
