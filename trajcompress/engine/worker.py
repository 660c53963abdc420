"""What a worker process runs.

A setup comes in, and the work begins. The process ends at once where its input does, whatever it is doing, so it does
not outlive the one that started it.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any

from trajcompress.engine.messages import Answered, Asked, Ended, Raised, Setup, Stop, Told
from trajcompress.errors import TrajcompressError
from trajcompress.processes.command import open_answers
from trajcompress.processes.interpreter import prepare_interpreter


def main() -> None:
    """Do the work that comes in."""
    prepare_interpreter()
    channel = PipeChannel(sys.stdin.buffer, open_answers())
    with suppress(BrokenPipeError):
        try:
            setup: Setup = channel.setup()
            setup.work(channel)
        except Exception as error:  # noqa: BLE001 - it is raised where the work was asked for
            channel.send(Raised(_fit_to_send(error)))
        else:
            channel.send(Ended())
    os._exit(0)  # whatever threads are left


class PipeChannel:
    """A :class:`~trajcompress.engine.messages.Channel` of pipes, on which pickles follow each other."""

    def __init__(self, messages: IO[bytes], answers: IO[bytes]) -> None:
        self._messages = messages
        self._answers = answers
        self._lock = threading.Lock()
        self._waiting: dict[int, Callable[[Any], None]] = {}
        self._asked = 0
        self._stop: Callable[[], None] | None = None
        self._stopped = False

    def setup(self) -> Any:
        """Return the first that comes, and listen to the rest in a thread."""
        setup = pickle.load(self._messages)  # noqa: S301 - from the process that started this one
        threading.Thread(target=self._listen, name="listener", daemon=True).start()
        return setup

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
        self.send(Told(news))

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Have ``stop`` called, in another thread, once the driver wants an end; at once where it does already."""
        with self._lock:
            self._stop = stop
            stopped = self._stopped
        if stopped:
            stop()

    def send(self, message: Any) -> None:
        """Send a message; raise OSError where nobody reads any more."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            self._answers.write(data)
            self._answers.flush()

    def _listen(self) -> None:
        """Hand over each message; at the end of the input, end the process."""
        try:
            while True:
                message = pickle.load(self._messages)  # noqa: S301 - from the process that started this one
                if isinstance(message, Answered):
                    self._waiting.pop(message.number)(message.answer)
                elif isinstance(message, Stop):
                    with self._lock:
                        self._stopped, stop = True, self._stop
                    if stop is not None:
                        stop()
        except EOFError:
            os._exit(0)
        except BaseException:  # noqa: BLE001 - nobody else would see it
            traceback.print_exc()
            os._exit(1)


def _fit_to_send(error: Exception) -> Exception:
    """Return an error of ours as it is; of one that nobody expected, its words and traceback: it may not be sent."""
    if isinstance(error, TrajcompressError | OSError):
        with suppress(Exception):  # not all of them can be made again from what they hold
            pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
            return error
    unexpected = RuntimeError(f"{type(error).__name__}: {error}")
    unexpected.add_note("".join(traceback.format_exception(error)))
    return unexpected
