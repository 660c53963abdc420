"""Calling back what waits in a queue, without cancelling whoever put it there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class CalledBackError(Exception):
    """A wait was ended by :meth:`CallableBack.call_back`."""


class CallableBack:
    """Waits that can be ended from outside, all at once."""

    def __init__(self) -> None:
        self._waits: set[_Wait] = set()

    def call_back(self) -> None:
        """End all waits; each raises :class:`CalledBackError` where it stands."""
        for wait in self._waits:
            wait.is_called_back = True
            wait.task.cancel()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait within this block, in a task."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can be called back")
        wait = _Wait(task)
        cancelling = task.cancelling()
        self._waits.add(wait)
        try:
            yield
        except asyncio.CancelledError:
            if wait.is_called_back and task.uncancel() <= cancelling:
                raise CalledBackError from None
            raise  # cancelled by somebody else as well
        finally:
            self._waits.discard(wait)


@dataclass(eq=False, slots=True)
class _Wait:
    task: asyncio.Task[object]
    is_called_back: bool = False
