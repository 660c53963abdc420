"""The entry point of a worker process.

A setup comes in, and the work begins. The process ends at once where its input does, whatever it is doing, so it does
not outlive the one that started it.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from contextlib import suppress
from typing import IO

from trajcompress.engine.channel import WorkerChannel
from trajcompress.processes.command import open_answers
from trajcompress.processes.interpreter import prepare_interpreter


def main() -> None:
    """Do the work that comes in."""
    prepare_interpreter()
    messages, answers = sys.stdin.buffer, open_answers()
    lock = threading.Lock()

    def send(message: object) -> None:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        with lock, suppress(BrokenPipeError):  # nobody is there any more, but an answer just paid for can be kept
            answers.write(data)
            answers.flush()

    channel = WorkerChannel(send)
    setup = pickle.load(messages)  # noqa: S301 - from the process that started this one
    threading.Thread(target=_listen, args=(messages, channel), name="listener", daemon=True).start()
    channel.work(setup)
    os._exit(0)  # whatever threads are left


def _listen(messages: IO[bytes], channel: WorkerChannel) -> None:
    """Hand over each message; at the end of the input, end the process."""
    try:
        while True:
            channel.arrived(pickle.load(messages))  # noqa: S301 - from the process that started this one
    except EOFError:
        os._exit(0)
    except BaseException:  # noqa: BLE001 - nobody else would see it
        traceback.print_exc()
        os._exit(1)
