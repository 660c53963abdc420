"""What a worker process runs.

A setup comes in; then for each message an answer goes out, one after the other. The process ends at once where its
input does, whatever it is doing, so it does not outlive the one that started it.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from trajcompress.errors import TrajcompressError
from trajcompress.events import Emit, Event, Figure
from trajcompress.processes.command import open_answers
from trajcompress.processes.interpreter import prepare_interpreter
from trajcompress.workers.wire import Answered, Handle, Raised, Setup, Told, receive, send


def main() -> None:
    """Answer until there is nothing more to read."""
    prepare_interpreter()
    answers = open_answers()
    messages: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read, args=(sys.stdin.buffer, messages), name="reader", daemon=True).start()

    def emit(event: Event, /, **figures: Figure) -> None:
        send(answers, Told(event, figures))

    with suppress(BrokenPipeError):
        handle = _prepare(messages.get(), emit)
        while True:
            _answer(messages.get(), answers, handle)


def _read(stream: IO[bytes], messages: SimpleQueue[Any]) -> None:
    """Hand over each message; at the end of the input, end the process."""
    try:
        while True:
            messages.put(receive(stream))
    except EOFError:
        os._exit(0)
    except BaseException:  # noqa: BLE001  nobody else would see it
        traceback.print_exc()
        os._exit(1)


def _prepare(setup: Setup, emit: Emit) -> Handle:
    """Return what answers; where that cannot be made, what says so to whoever asks."""
    try:
        return setup.prepare(emit)
    except Exception as error:  # noqa: BLE001  as in _answer
        reason = _fit_to_send(error)

        def refuse(_message: Any) -> Answered:
            raise reason

        return refuse


def _answer(message: Any, answers: IO[bytes], handle: Handle) -> None:
    try:
        answered = handle(message)
    except Exception as error:  # noqa: BLE001  it is raised where the message came from
        send(answers, Raised(_fit_to_send(error)))
    else:
        send(answers, answered.value, answered.turns)


def _fit_to_send(error: Exception) -> Exception:
    """Return an error of ours as it is; of one that nobody expected, its words and traceback: it may not be sent."""
    if isinstance(error, TrajcompressError):
        return error
    unexpected = RuntimeError(f"{type(error).__name__}: {error}")
    unexpected.add_note("".join(traceback.format_exception(error)))
    return unexpected
