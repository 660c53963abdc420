"""A bounded, ordered pipeline: items are read ahead, processed many at once, and handed over in their order.

Reading runs in a thread of its own, processing on the event loop, from where it hands heavy work to other threads.
What has been read and not yet handed over is bounded in items and in bytes, so memory is too, however many there are;
a slow item holds up those behind it only when that bound is reached.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from msgspec import Struct

In = TypeVar("In")
Out = TypeVar("Out")

MAX_BYTES_IN_FLIGHT = 256 * 2**20
"""What is held of rows at once,"""
WORKER_BYTES_IN_FLIGHT = 16 * 2**20
"""and by each of several workers."""
_BATCH_ITEMS = 32
_BATCH_BYTES = 2**20
_STUCK_S = 1.0


async def process_in_order(
    items: Iterator[In],
    process: Callable[[In], Awaitable[Out]],
    consume: Callable[[list[Out]], Awaitable[None]],
    *,
    size_of: Callable[[In], int],
    max_in_flight: int,
    max_bytes: int = MAX_BYTES_IN_FLIGHT,
    ends_batch: Callable[[In], bool] = lambda _: False,
) -> None:
    """Process each item, many at once, and consume the results in the order of the items.

    Args:
        items: what to process; its ``next`` may block.
        process: run for many items at once.
        consume: run for results that follow each other, as many as there are; not again before it returns.
        size_of: about how many bytes an item takes.
        max_in_flight: how many items may be under way; a few more may have been read already.
        max_bytes: how many bytes those may take; a larger item passes alone.
        ends_batch: whether an item is handed over at once, as the next may be long in coming.

    Raises:
        Exception: the first error of reading, processing or consuming. It ends everything. A ``next`` that blocks
            for ever is left behind.
    """
    window = _Window(max_in_flight, max_bytes)
    queue: asyncio.Queue[_Entry[Out] | None] = asyncio.Queue()
    ahead: deque[_Entry[Out] | None] = deque()  # taken from the queue

    async def processed(item: In) -> Out:
        return await process(item)

    async def read(group: asyncio.TaskGroup) -> None:
        while batch := await asyncio.wrap_future(reader.call()):
            for item, size in batch:
                await window.enter(size)
                queue.put_nowait(_Entry(group.create_task(processed(item)), size))
        queue.put_nowait(None)

    reader = _Reader(lambda: _next_batch(items, size_of, max_in_flight, ends_batch))
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(read(group))
            while (entry := ahead.popleft() if ahead else await queue.get()) is not None:
                await entry.task
                while not queue.empty():
                    ahead.append(queue.get_nowait())
                ready = [entry]
                while ahead and (following := ahead[0]) is not None and following.has_result:
                    ready.append(following)
                    ahead.popleft()
                await consume([each.task.result() for each in ready])
                for each in ready:
                    window.leave(each.size)
    except BaseExceptionGroup as errors:  # callers know the error that ended it, not that there were tasks
        raise _first(errors) from None
    finally:
        reader.close()


class _Entry(Struct, Generic[Out], frozen=True):
    """An item under way."""

    task: asyncio.Task[Out]
    size: int

    @property
    def has_result(self) -> bool:
        return self.task.done() and not self.task.cancelled() and self.task.exception() is None


class _Reader(Generic[Out]):
    """Calls a function in a thread of its own, one call after the other.

    No executor, as the interpreter would wait for its threads before it ends, and a read from a pipe may never.
    """

    def __init__(self, read: Callable[[], Out]) -> None:
        self._read = read
        self._calls: SimpleQueue[Future[Out] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name="reader", daemon=True)
        self._thread.start()

    def call(self) -> Future[Out]:
        """Have the function called; the future gets what it returns or raises."""
        future: Future[Out] = Future()
        self._calls.put(future)
        return future

    def close(self) -> None:
        """Wait for the call under way, unless it is stuck, and end the thread."""
        self._calls.put(None)
        self._thread.join(_STUCK_S)

    def _work(self) -> None:
        while (future := self._calls.get()) is not None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._read())
                except BaseException as error:  # noqa: BLE001 - raised again by whoever awaits the future
                    future.set_exception(error)


def _next_batch(
    items: Iterator[In], size_of: Callable[[In], int], most: int, ends_batch: Callable[[In], bool]
) -> list[tuple[In, int]]:
    """Take a few items, to cross between threads less often than once a row."""
    batch: list[tuple[In, int]] = []
    total = 0
    while len(batch) < min(most, _BATCH_ITEMS) and total < _BATCH_BYTES:
        try:
            item = next(items)
        except StopIteration:
            break
        size = size_of(item)
        batch.append((item, size))
        total += size
        if ends_batch(item):
            break
    return batch


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error that is not itself a group."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Window:
    """What is in flight, in items and bytes."""

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._items = 0
        self._bytes = 0
        self._room = asyncio.Event()

    async def enter(self, size: int) -> None:
        while self._items and (self._items >= self._max_items or self._bytes + size > self._max_bytes):
            self._room.clear()
            await self._room.wait()
        self._items += 1
        self._bytes += size

    def leave(self, size: int) -> None:
        self._items -= 1
        self._bytes -= size
        self._room.set()
