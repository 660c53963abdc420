"""The local engine: worker processes of this machine.

No executor of the standard library or of loky, as these give up all workers where one dies, and ``multiprocessing``
would start the caller's main module once more in each.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import threading
from contextlib import suppress
from typing import Any

from trajcompress.engine.messages import Setup
from trajcompress.engine.pool import Gone, Messages, Worker, WorkerPool
from trajcompress.processes.command import WorkerProcess

_END_S = 2.0
"""How long a process whose pipe is closed may take to end."""


class LocalEngine(WorkerPool):
    """A pool of processes."""

    def start_worker(self, place: int, setup: Setup, messages: Messages) -> Worker:
        """Start a process."""
        return _Process(place, setup, messages)


class _Process(Worker):
    """A process, and a thread that reads what it sends."""

    def __init__(self, place: int, setup: Setup, messages: Messages) -> None:
        super().__init__(place)
        self._process = WorkerProcess("trajcompress.engine.worker")
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, args=(messages,), name="worker", daemon=True)
        self._reader.start()
        self.send(setup)

    def send(self, message: Any) -> None:
        """Send a message, to nobody if it is gone."""
        with self._lock, suppress(OSError, ValueError):  # ValueError: closed meanwhile
            pickle.dump(message, self._process.input, pickle.HIGHEST_PROTOCOL)
            self._process.input.flush()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self._process.process.kill()

    def wait(self) -> None:
        """Wait until the process is gone, and close what led to it."""
        self._process.process.wait()
        self._reader.join()
        for stream in (self._process.process.stdin, self._process.process.stdout):
            with suppress(OSError, ValueError):  # what could not be sent any more
                if stream is not None:
                    stream.close()

    def _read(self, messages: Messages) -> None:
        try:
            answers = self._process.answers()
            while True:
                messages.put((self, pickle.load(answers)))  # noqa: S301 - of a process of ours
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            messages.put((self, Gone(_how_it_ended(self._process.process))))


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
    code = process.returncode
    if code is None or code >= 0:
        return f"exit status {code}"
    with suppress(ValueError):  # not all signals have names
        return signal.Signals(-code).name
    return f"signal {-code}"
