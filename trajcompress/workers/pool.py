"""Worker processes, from the side of the run: how many there are, and what they are asked."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from typing import Any

from trajcompress.dataset.rows import Source
from trajcompress.errors import WorkerDiedError
from trajcompress.events import Emit, nobody
from trajcompress.processes.command import WorkerProcess
from trajcompress.settings import Settings
from trajcompress.transcript.trajectory import Turn
from trajcompress.workers.wire import Raised, Setup, Told, receive, send

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

    async def ask(self, message: Any, turns: Sequence[Turn] = (), emit: Emit = nobody) -> Any:
        """Return what that worker answers, as :meth:`Worker.ask` does."""
        return await self.least_busy.ask(message, turns, emit)

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        for worker in self._workers:
            worker.close()


class Worker:
    """A process, and a thread that asks it one thing after the other; ``asked`` is how much it has to do.

    Raises:
        OSError: no process or no thread can be started.
    """

    def __init__(self, setup: Setup) -> None:
        self.asked = 0
        self._worker = WorkerProcess("trajcompress.workers.process")
        self._thread = ThreadPoolExecutor(1, "worker")
        try:
            self._thread.submit(send, self._worker.input, setup)
        except RuntimeError as error:  # how Python says that there can be no thread
            self.close()
            raise OSError(str(error)) from error

    async def ask(self, message: Any, turns: Sequence[Turn] = (), emit: Emit = nobody) -> Any:
        """Return what the worker answers; ``turns`` are those of the row that the answer may name by their places.

        Raises:
            WorkerDiedError: the process has died.
            Exception: whatever the work on the message raised.
        """
        self.asked += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, message, turns, emit)
        finally:
            self.asked -= 1

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._worker.process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._worker.process.communicate()

    def _ask(self, message: Any, turns: Sequence[Turn], emit: Emit) -> Any:
        self._send(message)
        while isinstance(answer := self._receive(turns), Told):
            emit(answer.event, **answer.figures)
        if isinstance(answer, Raised):
            raise answer.error
        return answer

    def _send(self, message: Any) -> None:
        try:
            send(self._worker.input, message)
        except (OSError, ValueError) as error:  # ValueError: closed meanwhile
            raise self._death() from error

    def _receive(self, turns: Sequence[Turn]) -> Any:
        try:
            return receive(self._worker.answers(), turns)
        except (OSError, EOFError, ValueError) as error:
            raise self._death() from error

    def _death(self) -> WorkerDiedError:
        return WorkerDiedError(
            f"a worker process has died ({_how_it_ended(self._worker.process)}); where that is for want of memory, "
            "take fewer: --num-workers"
        )


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
    code = process.returncode
    if code is None or code >= 0:
        return f"exit status {code}"
    with suppress(ValueError):  # not all signals have names
        return signal.Signals(-code).name
    return f"signal {-code}"


_WORTH_BYTES = 32 * 2**20
"""A process takes some seconds to start, which is about what it saves on so much input,"""
_WORTH_ROWS = 400
"""or on so many rows."""


def useful_workers(settings: Settings, sources: Sequence[Source]) -> int:
    """Return how many processes it is worth to work on rows in, up to as many as are wanted; 0 for none but this."""
    chosen = settings.input
    wanted = settings.processing.num_workers
    most = wanted if isinstance(wanted, int) else 0
    sizes = [source.size for source in sources]
    if None not in sizes:
        taken = (chosen.sample_percent or 100) / 100 / (chosen.shard.count if chosen.shard else 1)
        most = min(most, int(taken * sum(size or 0 for size in sizes)) // _WORTH_BYTES)
    if chosen.limit is not None:
        most = min(most, chosen.limit // _WORTH_ROWS)
    return most if most > 1 else 0


@contextmanager
def start_workers(setup: Setup, workers: int, note: Callable[[str], None]) -> Iterator[WorkerPool | None]:
    """Start so many processes, and end them at the end; None for 0, and where there can be none."""
    try:
        pool = WorkerPool(setup, workers) if workers else None
    except OSError as error:
        pool = None
        note(f"no processes to work in, so one works: {error}")
    if pool:
        note(f"rows are worked on in {workers} processes")
    with closing(pool) if pool else nullcontext():
        yield pool
