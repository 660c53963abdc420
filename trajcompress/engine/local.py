"""The local engine: worker processes of this machine.

No executor of the standard library or of loky, as these give up all workers where one dies, and ``multiprocessing``
would start the caller's main module once more in each.
"""

from __future__ import annotations

import asyncio
import pickle
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeAlias

from trajcompress.engine.messages import Answered, Asked, Coordinator, Ended, Raised, Setup, Stop, Told
from trajcompress.processes.command import WorkerProcess

_END_S = 2.0
"""How long a process whose pipe is closed may take to end."""


@dataclass(frozen=True, slots=True)
class _Gone:
    """A worker's pipe is closed."""

    how: str


_Message: TypeAlias = tuple["_Worker", Asked | Told | Raised | Ended | _Gone]


class LocalEngine:
    """Worker processes. Close it when done, and none of them is left.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self, setup_of: Callable[[int], Setup], workers: int) -> None:
        """Start so many; each gets the setup for its place among them, from 0."""
        self._setup_of = setup_of
        self._messages: SimpleQueue[_Message | None] = SimpleQueue()
        self._workers: dict[int, _Worker] = {}
        self._stopping = False
        try:
            for place in range(workers):
                self._start(place)
        except OSError:
            self.close()
            raise

    def _start(self, place: int) -> None:
        self._workers[place] = _Worker(place, self._setup_of(place), self._messages)

    def first_news(self) -> Any:
        """Return the first that a worker wants known, before anything else is done.

        Raises:
            Exception: what the work in a worker came to instead.
            OSError: all workers have died.
        """
        alive = len(self._workers)
        while alive:
            worker, message = self._messages.get() or (None, None)
            match message:
                case Told(news):
                    return news
                case Raised(error):
                    raise error
                case Asked() as asked if worker is not None:
                    self._messages.put((worker, asked))  # for when there is somebody to answer
                case _Gone(how):
                    alive -= 1
                    last = how
        raise OSError(f"all worker processes have died ({last})")

    def stop(self) -> None:
        """Ask all workers to bring their work to an end."""
        self._stopping = True
        for worker in self._workers.values():
            worker.send(Stop())

    async def run(self, coordinator: Coordinator) -> None:
        """Let ``coordinator`` answer the workers until all have come to their ends.

        Where the work in one came to an error, the others get as long to end as the coordinator says.

        Raises:
            Exception: that error, or what the coordinator raises.
        """
        first: Exception | None = None
        try:
            async for worker, message in self._incoming():
                if isinstance(message, Asked):
                    worker.answering(asyncio.create_task(self._answer(coordinator, worker, message)))
                elif isinstance(message, Told):
                    coordinator.told(worker.place, message.news)
                elif isinstance(message, Raised):
                    first = first or message.error
                    self._wind_up(coordinator, worker, message.error)
                elif isinstance(message, Ended):
                    worker.has_ended = True
                elif self._workers.get(worker.place) is worker and self._ends(coordinator, worker, message.how):
                    break
            if first is not None:
                raise first
        finally:
            for worker in self._workers.values():
                worker.answer_no_more()

    def _wind_up(self, coordinator: Coordinator, worker: _Worker, error: Exception) -> None:
        """Let the others end, where the work in one worker came to an error."""
        worker.has_ended = True
        if not (grace := coordinator.grace(error)):
            raise error
        self.stop()
        asyncio.get_running_loop().call_later(grace, self.kill)

    async def _answer(self, coordinator: Coordinator, worker: _Worker, asked: Asked) -> None:
        try:
            worker.send(Answered(asked.number, await coordinator.answer(worker.place, asked.question)))
        except Exception as error:  # noqa: BLE001 - raised again by who waits for messages
            self._messages.put((worker, Raised(error)))

    def _ends(self, coordinator: Coordinator, worker: _Worker, how: str) -> bool:
        """Take note that a process is gone; return whether all are."""
        del self._workers[worker.place]
        worker.answer_no_more()  # what would be handed to it is for others
        worker.kill()
        worker.wait()
        if not worker.has_ended and coordinator.died(worker.place, how) and not self._stopping:
            self._start(worker.place)
        return not self._workers

    async def _incoming(self) -> AsyncIterator[_Message]:
        try:
            while (incoming := await asyncio.to_thread(self._messages.get)) is not None:
                yield incoming
                for _ in range(self._messages.qsize()):  # without a thread for each
                    if (incoming := self._messages.get()) is None:
                        return
                    yield incoming
        finally:
            self._messages.put(None)  # for the thread that may wait still

    def kill(self) -> None:
        """End the workers at once, whatever they are doing."""
        self._stopping = True
        for worker in self._workers.values():
            worker.kill()

    def close(self) -> None:
        """End the workers, and wait until they are gone."""
        self.kill()
        for worker in self._workers.values():
            worker.wait()
        self._workers.clear()


class _Worker:
    """A process, and a thread that reads what it sends."""

    def __init__(self, place: int, setup: Setup, messages: SimpleQueue[_Message | None]) -> None:
        self.place = place
        self.has_ended = False
        self._process = WorkerProcess("trajcompress.engine.worker")
        self._lock = threading.Lock()
        self._answers: set[asyncio.Task[None]] = set()
        self._reader = threading.Thread(target=self._read, args=(messages,), name="worker", daemon=True)
        self._reader.start()
        self.send(setup)

    def answering(self, task: asyncio.Task[None]) -> None:
        """Keep a task that works on an answer to this worker."""
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    def answer_no_more(self) -> None:
        """Cancel these tasks."""
        for task in self._answers:
            task.cancel()

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

    def _read(self, messages: SimpleQueue[_Message | None]) -> None:
        try:
            answers = self._process.answers()
            while True:
                messages.put((self, pickle.load(answers)))  # noqa: S301 - of a process of ours
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            messages.put((self, _Gone(_how_it_ended(self._process.process))))


def _how_it_ended(process: subprocess.Popen[bytes]) -> str:
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
    code = process.returncode
    if code is None or code >= 0:
        return f"exit status {code}"
    with suppress(ValueError):  # not all signals have names
        return signal.Signals(-code).name
    return f"signal {-code}"
