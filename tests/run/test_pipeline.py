"""Many at once and still in order, within bounds, and to the end even where that is an error."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajcompress.run.loop.pipeline import process_in_order

BATCH = 32  # items that may be read ahead of those under way


@dataclass
class Watch:
    """Watches items on their way: read, under way from when processing may begin to when they are consumed."""

    sizes: list[int]
    read: int = 0
    under_way: dict[int, int] = field(default_factory=dict)
    consumed: list[int] = field(default_factory=list)
    most_items: int = 0
    most_bytes_together: int = 0
    most_ahead: int = 0

    def items(self) -> Iterator[int]:
        for number in range(len(self.sizes)):
            self.read += 1
            self.most_ahead = max(self.most_ahead, self.read - len(self.consumed))
            yield number

    def began(self, number: int) -> None:
        self.under_way[number] = self.sizes[number]
        self.most_items = max(self.most_items, len(self.under_way))
        if len(self.under_way) > 1:
            self.most_bytes_together = max(self.most_bytes_together, sum(self.under_way.values()))

    def ended(self, number: int) -> None:
        del self.under_way[number]
        self.consumed.append(number)


def run(watch: Watch, process, *, most: int = 8, most_bytes: int = 10**9, consume=None) -> list[asyncio.Task]:
    """Run the pipeline; return the tasks that it left behind."""

    async def watched(number: int) -> int:
        watch.began(number)
        await process(number)
        return number

    async def consumed(numbers: list[int]) -> None:
        for number in numbers:
            if consume is not None:
                await consume(number)
            watch.ended(number)

    async def whole() -> list[asyncio.Task]:
        try:
            await process_in_order(
                watch.items(),
                watched,
                consumed,
                size_of=watch.sizes.__getitem__,
                max_in_flight=most,
                max_bytes=most_bytes,
            )
        finally:
            left = asyncio.all_tasks() - {asyncio.current_task()}
            watch.left = left
        return list(left)

    return asyncio.run(whole())


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5)), max_size=80),
    st.integers(1, 12),
    st.integers(1, 100),
)
@settings(deadline=None, max_examples=60)
def test_order_is_kept_and_bounds_hold_whatever_the_latencies(items, most, most_bytes):
    watch = Watch([size for size, _ in items])

    async def process(number: int) -> None:
        for _ in range(items[number][1]):
            await asyncio.sleep(0)

    assert run(watch, process, most=most, most_bytes=most_bytes) == []
    assert watch.consumed == list(range(len(items)))
    assert watch.most_items <= most
    assert watch.most_bytes_together <= most_bytes
    assert watch.most_ahead <= most + BATCH


def test_a_slow_item_holds_up_the_others_only_at_the_bound():
    watch = Watch([1] * 30)
    finished = []
    slow = asyncio.Event()

    async def process(number: int) -> None:
        if number == 3:
            await slow.wait()
        finished.append(number)
        if len(finished) == 3 + 8 - 1:  # those before it, and all that may be under way with it
            await asyncio.sleep(0.02)
            assert watch.consumed == [0, 1, 2]
            assert len(finished) == 10
            slow.set()

    run(watch, process)
    assert finished.index(3) == 10
    assert watch.consumed == list(range(30))


def test_an_item_beyond_the_bytes_passes_alone():
    watch = Watch([5, 500, 5])

    async def process(number: int) -> None:
        await asyncio.sleep(0)
        if number == 1:
            assert list(watch.under_way) == [1]

    run(watch, process, most_bytes=100)
    assert watch.consumed == [0, 1, 2]


async def nothing(number: int) -> None:
    await asyncio.sleep(0)


async def for_ever(number: int) -> None:
    await asyncio.Event().wait()


def test_an_error_of_reading_ends_everything():
    class Broken(Watch):
        def items(self) -> Iterator[int]:
            yield from (0, 1)
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        run(watch := Broken([1] * 5), for_ever)
    assert watch.left == set()


@pytest.mark.parametrize("at", [0, 3, 19])
def test_an_error_of_processing_ends_everything(at):
    async def process(number: int) -> None:
        await asyncio.sleep(0)
        if number == at:
            raise ValueError(f"row {number}")

    with pytest.raises(ValueError, match=f"row {at}"):
        run(watch := Watch([1] * 20), process)
    assert watch.left == set()
    assert watch.consumed == list(range(len(watch.consumed)))
    assert len(watch.consumed) <= at


def test_an_error_of_consuming_ends_everything():
    async def consume(number: int) -> None:
        if number == 2:
            raise ValueError("full")

    with pytest.raises(ValueError, match="full"):
        run(watch := Watch([1] * 20), nothing, consume=consume)
    assert (watch.consumed, watch.left) == ([0, 1], set())


def test_cancelling_leaves_nothing_running():
    async def cancelled() -> set[asyncio.Task]:
        watch, began = Watch([1] * 20), asyncio.Event()

        async def process(number: int) -> int:
            began.set()
            await for_ever(number)
            return number

        work = asyncio.create_task(
            process_in_order(watch.items(), process, nothing, size_of=lambda _: 1, max_in_flight=4)
        )
        await began.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(cancelled()) == set()
    assert not [thread for thread in threading.enumerate() if thread.name == "reader"]


def test_a_reader_that_is_stuck_does_not_keep_the_rest_from_ending():
    stuck = threading.Event()

    def items() -> Iterator[int]:
        yield from range(BATCH)  # a whole batch, so that the next one is asked for
        stuck.wait()

    async def cancelled() -> None:
        enough = asyncio.Event()

        async def consume(numbers: list[int]) -> None:
            if BATCH - 1 in numbers:
                enough.set()

        async def process(number: int) -> int:
            return number

        work = asyncio.create_task(
            process_in_order(items(), process, consume, size_of=lambda _: 1, max_in_flight=BATCH)
        )
        await enough.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    stuck.set()


def test_nothing_to_do():
    assert run(watch := Watch([]), nothing) == []
    assert watch.consumed == []
