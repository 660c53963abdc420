"""What all engines have in common: workers that ask and tell, and a coordinator that answers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from queue import SimpleQueue
from typing import Any, TypeAlias

from msgspec import Struct

from trajcompress.engine.messages import Answered, Asked, Coordinator, Emitted, Ended, Raised, Setup, Stop

WORKER_BYTES = 512 * 2**20
"""The memory that a worker may take."""


class Gone(Struct, frozen=True):
    """A worker's pipe is closed."""

    how: str


class Worker(ABC):
    """One worker, as its pool sees it."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.has_begun = False
        """Whether it has said anything."""
        self.has_ended = False
        """Whether its work has come to an end."""
        self._answers: set[asyncio.Task[None]] = set()

    def answering(self, task: asyncio.Task[None]) -> None:
        """Keep a task that works on an answer to this worker."""
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    def answer_no_more(self) -> None:
        """Cancel these tasks."""
        for task in self._answers:
            task.cancel()

    @abstractmethod
    def send(self, message: Any) -> None:
        """Send a message, to nobody if it is gone."""

    @abstractmethod
    def kill(self) -> None:
        """End it, whatever it is doing."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until it is gone, and close what led to it."""


Message: TypeAlias = tuple["Worker", Asked | Emitted | Raised | Ended | Gone]


Messages: TypeAlias = "SimpleQueue[Message | None]"


class WorkerPool(ABC):
    """Workers, wherever they are. Close it when done, and none of them is left.

    Raises:
        OSError: no worker can be started.
    """

    def __init__(self, setup_of: Callable[[int], Setup], workers: int) -> None:
        """Start so many; each gets the setup for its place among them, from 0."""
        self._setup_of = setup_of
        self._messages: Messages = SimpleQueue()
        self._workers: dict[int, Worker] = {}
        self._stopping = False
        try:
            for place in range(workers):
                self._start(place)
        except OSError:
            self.close()
            raise

    def _start(self, place: int) -> None:
        self._workers[place] = self.start_worker(place, self._setup_of(place), self._messages)

    @abstractmethod
    def start_worker(self, place: int, setup: Setup, messages: Messages) -> Worker:
        """Start a worker, which puts what it says among the messages, and :class:`Gone` at its end."""

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
                case Emitted(news):
                    return news
                case Raised(error):
                    raise error
                case Asked() as asked if worker is not None:
                    self._messages.put((worker, asked))  # for when there is somebody to answer
                case Gone(how):
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
                worker.has_begun = True
                if isinstance(message, Asked):
                    worker.answering(asyncio.create_task(self._answer(coordinator, worker, message)))
                elif isinstance(message, Emitted):
                    coordinator.emitted(worker.place, message.news)
                elif isinstance(message, Raised):
                    first = first or message.error
                    self._wind_up(coordinator, worker, message.error)
                elif isinstance(message, Ended):
                    worker.has_ended = True
                    self._dismiss_unborn(coordinator)
                elif self._workers.get(worker.place) is worker and self._ends(coordinator, worker, message.how):
                    break
            if first is not None:
                raise first
        finally:
            for worker in self._workers.values():
                worker.answer_no_more()

    def _dismiss_unborn(self, coordinator: Coordinator) -> None:
        """End workers that have not begun, where they alone are left and would find nothing to do."""
        late = [worker for worker in self._workers.values() if not worker.has_ended]
        if not coordinator.has_work() and not any(worker.has_begun for worker in late):
            for worker in late:
                worker.has_ended = True
                worker.kill()

    def _wind_up(self, coordinator: Coordinator, worker: Worker, error: Exception) -> None:
        """Let the others end, where the work in one worker came to an error."""
        worker.has_ended = True
        if not (grace := coordinator.grace(error)):
            raise error
        self.stop()
        asyncio.get_running_loop().call_later(grace, self.kill)

    async def _answer(self, coordinator: Coordinator, worker: Worker, asked: Asked) -> None:
        try:
            worker.send(Answered(asked.number, await coordinator.answer(worker.place, asked.question)))
        except Exception as error:  # noqa: BLE001 - raised again by who waits for messages
            self._messages.put((worker, Raised(error)))

    def _ends(self, coordinator: Coordinator, worker: Worker, how: str) -> bool:
        """Take note that a process is gone; return whether all are."""
        del self._workers[worker.place]
        worker.answer_no_more()  # what would be handed to it is for others
        worker.kill()
        worker.wait()
        if not worker.has_ended and coordinator.died(worker.place, how) and not self._stopping:
            self._start(worker.place)
        return not self._workers

    async def _incoming(self) -> AsyncIterator[Message]:
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
