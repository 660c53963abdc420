"""A worker's end of the way to its driver, however messages get there."""

from __future__ import annotations

import pickle
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from trajcompress.engine.messages import Answered, Asked, Emitted, Ended, Raised, Setup, Stop
from trajcompress.errors import TrajcompressError


class WorkerChannel:
    """A :class:`~trajcompress.engine.messages.Channel` over whatever ``send`` puts messages on."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self.send = send
        self._lock = threading.Lock()
        self._waiting: dict[int, Callable[[Any], None]] = {}
        self._asked = 0
        self._stop: Callable[[], None] | None = None
        self._stopped = False

    def ask(self, question: Any) -> Any:
        """Return the driver's answer, however long it takes."""
        answer: SimpleQueue[Any] = SimpleQueue()
        self.ask_later(question, answer.put)
        return answer.get()

    def ask_later(self, question: Any, then: Callable[[Any], None]) -> None:
        """Have ``then`` called with the driver's answer, in the thread that listens."""
        with self._lock:
            self._asked += 1
            number = self._asked
            self._waiting[number] = then
        self.send(Asked(number, question))

    def emit(self, news: Any) -> None:
        """Have the driver know something."""
        self.send(Emitted(news))

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Have ``stop`` called, in another thread, once the driver wants an end; at once where it does already."""
        with self._lock:
            self._stop = stop
            stopped = self._stopped
        if stopped:
            stop()

    def arrived(self, message: Answered | Stop) -> None:
        """Take a message of the driver."""
        if isinstance(message, Answered):
            self._waiting.pop(message.number)(message.answer)
            return
        with self._lock:
            self._stopped, stop = True, self._stop
        if stop is not None:
            stop()

    def work(self, setup: Setup) -> None:
        """Do the work, and say what it came to."""
        try:
            setup.work(self)
        except Exception as error:  # noqa: BLE001 - it is raised where the work was asked for
            self.send(Raised(_fit_to_send(error)))
        else:
            self.send(Ended())


def _fit_to_send(error: Exception) -> Exception:
    """Return an error of ours as it is; of one that nobody expected, its words and traceback: it may not be sent."""
    if isinstance(error, TrajcompressError | OSError):
        with suppress(Exception):  # not all of them can be made again from what they hold
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
            return error
    unexpected = RuntimeError(f"{type(error).__name__}: {error}")
    unexpected.add_note("".join(traceback.format_exception(error)))
    return unexpected
