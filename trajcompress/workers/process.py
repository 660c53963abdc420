"""What a worker process runs.

A setup comes in; then for each message an answer goes out, one after the other. The process ends where its input
does, so it cannot outlive the one that started it, which also is the one to say when it stops.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import IO, Any

from trajcompress.errors import TrajcompressError
from trajcompress.events import Event, Figure, Tell
from trajcompress.interpreter import prepare_interpreter
from trajcompress.workers.wire import Answered, Handle, Raised, Setup, Told, receive, send


def main() -> None:
    """Answer until there is nothing more to read."""
    prepare_interpreter()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    messages, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # for whatever else may print

    def tell(event: Event, /, **figures: Figure) -> None:
        send(answers, Told(event, figures))

    with suppress(EOFError, BrokenPipeError):
        handle = _prepare(receive(messages), tell)
        while True:
            _answer(messages, answers, handle)


def _prepare(setup: Setup, tell: Tell) -> Handle:
    """Return what answers; where that cannot be made, what says so to whoever asks."""
    try:
        return setup.prepare(tell)
    except Exception as error:  # noqa: BLE001  as in _answer
        reason = _with_traceback(error)

        def refuse(_message: Any) -> Answered:
            raise reason

        return refuse


def _answer(messages: IO[bytes], answers: IO[bytes], handle: Handle) -> None:
    message = receive(messages)
    try:
        answered = handle(message)
    except Exception as error:  # noqa: BLE001  it is raised where the message came from
        send(answers, Raised(_with_traceback(error)))
    else:
        send(answers, answered.value, answered.turns)


def _with_traceback(error: Exception) -> Exception:
    """Note where an error comes from that nobody expected: no traceback crosses between processes."""
    if not isinstance(error, TrajcompressError):
        error.add_note("".join(traceback.format_exception(error)))
    return error
