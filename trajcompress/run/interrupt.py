"""Stopping a run by signals or from other threads: the first signal asks, the second ends the process at once."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from types import FrameType
from typing import Any, TypeAlias

EXIT_INTERRUPTED = 130
STOPPING = "stopping: finishing what is under way; again to stop at once"
GRACE_S = 8.0
"""How long calls that are under way may still take once a stop is asked for."""
LAST_STEPS_S = 1.0
"""How long rows have after the last of these calls, to take its answer."""

StopOn: TypeAlias = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""Has what it is given called, on the running event loop, when a run within is to stop."""


class InterruptedRunError(Exception):
    """The run was asked to stop before its input ended."""


class StopRequest:
    """A request, from a signal or another thread, that a run stop."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal may come while it is held
        self._asked = False
        self._ask: Callable[[], object] | None = None

    def stop(self) -> None:
        """Ask the run to stop, be it under way or yet to begin."""
        with self._lock:  # held, so that the loop is not closed meanwhile
            self._asked = True
            if self._ask is not None:
                self._ask()

    @contextmanager
    def heard(self, ask_to_stop: Callable[[], None]) -> Iterator[None]:
        """Call ``ask_to_stop`` when the request is made within, or at once where it was made before."""
        with self._lock:
            self._ask = partial(asyncio.get_running_loop().call_soon_threadsafe, ask_to_stop)
            if self._asked:
                self._ask()
        try:
            yield
        finally:
            with self._lock:
                self._ask = None


@contextmanager
def raising_interrupts() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt in a thread that waits within ``asyncio.run``.

    That only cancels the task at the first one, which a wait outside of the event loop does not notice. Handlers of
    others are left alone.
    """
    handler = signal.getsignal(signal.SIGINT)
    of_runner = isinstance(getattr(getattr(handler, "func", None), "__self__", None), asyncio.Runner)
    if not of_runner or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def stop_signals() -> Iterator[StopOn]:
    """Yield what stops a run at the first SIGINT or SIGTERM; a second one ends the process there and then.

    That loses nothing: what is committed is durable, and the rest is done again by the run that goes on. A second one
    does so until this block ends: a run that was stopped still waits for threads, which may be busy with a long row.

    Raises:
        KeyboardInterrupt: a signal came before a run could be stopped.
    """
    request, before = StopRequest(), _handlers()
    asked = False

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(EXIT_INTERRUPTED)  # here and not on the loop, which may be waiting for a thread
        asked = True
        request.stop()

    def handle_early(_number: int, _frame: FrameType | None) -> None:
        request.stop()  # to be heard later: Python drops what is raised while an object is deleted, as imports do
        raise KeyboardInterrupt

    @contextmanager
    def stop_on(ask_to_stop: Callable[[], None]) -> Iterator[None]:
        loop, of_loop = asyncio.get_running_loop(), _handlers()
        with request.heard(ask_to_stop):
            for number in of_loop:
                _wake_at(number, loop)
                signal.signal(number, handle)
            try:
                yield
            finally:
                for number, handler in of_loop.items():
                    with suppress(NotImplementedError):  # as there was none to add, on Windows
                        loop.remove_signal_handler(number)
                    signal.signal(number, handle if asked else handler)

    for number in before:
        signal.signal(number, handle_early)
    try:
        yield stop_on
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handlers() -> dict[signal.Signals, Any]:
    """Return what handles the signals that stop a run; nothing in other threads, where Python allows no handlers."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) or signal.SIG_DFL for number in (signal.SIGINT, signal.SIGTERM)}


def _wake_at(number: signal.Signals, loop: asyncio.AbstractEventLoop) -> None:
    """Have a signal wake the loop. Python's handler runs in the main thread, which may be just about to sleep."""
    with suppress(NotImplementedError):  # on Windows a loop wakes at any signal
        loop.add_signal_handler(number, lambda: None)
