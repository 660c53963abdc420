"""Worker processes, from the side of the run.

They are commands of their own, neither forks nor ``multiprocessing``: that would start the caller's main module once
more in each, which a plain script or a notebook does not survive.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, cast

from trajcompress.errors import WorkerDiedError
from trajcompress.events import Tell, nobody
from trajcompress.trajectory import Turn
from trajcompress.workers.wire import Raised, Setup, Told, receive, send

_IMPORTABLE_AS_HERE = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_MAIN = f"{_IMPORTABLE_AS_HERE} from trajcompress.workers.process import main; main()"
_END_S = 5.0
"""How long a process whose pipe is closed may take to end."""


class WorkerPool:
    """So many worker processes. Close it when done.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self, setup: Setup, workers: int) -> None:
        self._workers: list[Worker] = []
        try:
            while len(self._workers) < workers:
                self._workers.append(Worker(setup))
        except OSError:
            self.close()
            raise

    @property
    def least_busy(self) -> Worker:
        """The worker that has least to do."""
        return min(self._workers, key=lambda worker: worker.asked)

    async def ask(self, message: Any, turns: Sequence[Turn] = (), tell: Tell = nobody) -> Any:
        """Return what that worker answers, as :meth:`Worker.ask` does."""
        return await self.least_busy.ask(message, turns, tell)

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        for worker in self._workers:
            worker.close()


class Worker:
    """A process, and a thread that asks it one thing after the other; ``asked`` is how much it has to do."""

    def __init__(self, setup: Setup) -> None:
        self.asked = 0
        self._process = subprocess.Popen(  # noqa: S603  our own module, by this very interpreter
            [sys.executable, "-c", _MAIN, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},  # the processes are the parallelism
            start_new_session=True,  # Ctrl-C is for the run, which then stops its workers
        )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)
        self._thread = ThreadPoolExecutor(1, "worker")
        self._thread.submit(send, self._input, setup)

    async def ask(self, message: Any, turns: Sequence[Turn] = (), tell: Tell = nobody) -> Any:
        """Return what the worker answers.

        Args:
            message: what its setup takes.
            turns: those of the row that the answer may name by their places.
            tell: is told what happens meanwhile.

        Raises:
            WorkerDiedError: the process has died.
            Exception: whatever the work on the message raised.
        """
        self.asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, message, turns, tell)
        finally:
            self.asked -= 1

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._process.communicate()

    def _ask(self, message: Any, turns: Sequence[Turn], tell: Tell) -> Any:
        try:
            send(self._input, message)
            while isinstance(answer := receive(self._output, turns), Told):
                tell(answer.event, **answer.figures)
        except (OSError, EOFError, ValueError) as error:  # ValueError: closed meanwhile
            raise WorkerDiedError(
                f"a worker process has died ({_how_it_ended(self._process)}); where that is for want of memory, "
                "take fewer: --num-workers"
            ) from error
        if isinstance(answer, Raised):
            raise answer.error
        return answer


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
    code = process.returncode
    if code is None or code >= 0:
        return f"exit status {code}"
    return signal.Signals(-code).name
