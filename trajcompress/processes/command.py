"""Starting a worker process, and taking its standard output for answers alone.

Workers are commands of their own, neither forks nor ``multiprocessing``: that would start the caller's main module
once more in each, which a plain script or a notebook does not survive.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, cast

from trajcompress.processes.interpreter import FRUGAL

_MAIN = (
    "import signal, sys; "
    "[signal.signal(stop, signal.SIG_IGN) for stop in (signal.SIGINT, signal.SIGTERM)]; "  # the run says when to stop
    "sys.path[:] = sys.argv[1:]; "
    "from {} import main; main()"
)
_GREETING = b"\0trajcompress worker\0"
"""The first that a worker sends: what comes before is none of its own."""


class WorkerProcess:
    """A process that runs ``main`` of a module of ours, with pipes to and from it.

    It is isolated, so that nothing is taken from the working folder or the environment before its path is set, and
    leaves stops to whoever started it.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, module: str) -> None:
        if not sys.executable:
            raise OSError("there is no interpreter to run them with")
        self.process = subprocess.Popen(  # noqa: S603  our own module, by this very interpreter
            [sys.executable, "-I", "-c", _MAIN.format(module), *_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if sys.stderr is None else None,  # its place must not go to a pipe
            env={**FRUGAL, **os.environ, "TOKENIZERS_PARALLELISM": "false"},  # the processes are the parallelism
            start_new_session=True,  # Ctrl-C is for the run, which then stops its workers
        )
        self.input = cast("IO[bytes]", self.process.stdin)
        self._output = cast("IO[bytes]", self.process.stdout)
        self._greeted = False

    def answers(self) -> IO[bytes]:
        """Return the stream of what the worker answers, past what it printed before it opened the way for that.

        Raises:
            EOFError: it ended before.
            OSError: the stream cannot be read.
            ValueError: the stream is closed.
        """
        if not self._greeted:
            _skip_to_greeting(self._output)
            self._greeted = True
        return self._output


def open_answers() -> IO[bytes]:
    """Return a worker's way to whoever started it; what else is printed goes to standard error from here on."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    answers.write(_GREETING)
    return answers


def _skip_to_greeting(stream: IO[bytes]) -> None:
    read = b""
    while not read.endswith(_GREETING):
        byte = stream.read(1)
        if not byte:
            raise EOFError
        read = (read + byte)[-len(_GREETING) :]


def _path() -> list[str]:
    """Return where modules are found, for a process in which nothing is found in the working folder."""
    path = [entry for entry in sys.path if isinstance(entry, str) and entry]
    ours = str(Path(__file__).parents[2])
    return path if ours in path else [ours, *path]
