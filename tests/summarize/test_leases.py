"""Several workers that lease their calls of one driver, on a clock that jumps: the limits hold over all of them."""

from __future__ import annotations

import asyncio
import math
from bisect import bisect_left
from contextlib import suppress
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jumping import LIMITS, REQUEST, now, run_jumping

from trajcompress.errors import SummarizerUnusableError
from trajcompress.summarize.endpoint.leases.driver import Leases
from trajcompress.summarize.endpoint.leases.worker import LeasedFailures, LeasedLimiter
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.outage import Outage
from trajcompress.summarize.retry import Retry

DOWN = Retry("server_error", "HTTP 503: the GPU has left")


class Driver:
    """The driver, and workers whose messages take some time to get to it and back."""

    def __init__(self, rpm=None, tpm=None, places=50, delay_s=0.01):
        self.limiter = RateLimiter(rpm, tpm, places)
        outage = {"first_pause_s": 1, "most_in_a_row": 4, "max_retries": 1, "max_outage_s": 60}
        self.outage = Outage(self.limiter, url="http://x/v1", **outage)
        self.outage.answered(0, self.emit)
        self.events = []
        self.leases = Leases(self.limiter, self.outage, 600, self.emit)
        self.delay_s = delay_s
        self.spaces = self.limiter.spaces

    def emit(self, event, /, **_):
        self.events.append(event)

    def worker(self, number):
        return Worker(self, number)


class Worker:
    """A channel, and what stands on it."""

    def __init__(self, driver, number):
        self.driver, self.number, self.is_dead = driver, number, False
        self.answering, self.under_way = set(), set()
        self.limiter = LeasedLimiter(self, driver.limiter.tpm, 50, spaces=driver.spaces)
        self.failures = LeasedFailures(self.limiter)

    def ask_later(self, question, then):
        def ask():
            task = asyncio.ensure_future(self._answer(question, then))
            self.answering.add(task)
            task.add_done_callback(self.answering.discard)

        self._send(ask)

    async def _answer(self, question, then):
        answer = await self.driver.leases.answer(self.number, question)
        asyncio.get_running_loop().call_later(self.driver.delay_s, lambda: None if self.is_dead else then(answer))

    def emit(self, news):
        self._send(lambda: self.driver.leases.emitted(self.number, news.news))

    def _send(self, arrive):
        if not self.is_dead:
            asyncio.get_running_loop().call_later(self.driver.delay_s, lambda: None if self.is_dead else arrive())

    async def call(self, log, tokens=0, *, used=None, takes=0.0, held_up=0.0):
        """Make a call; log when it went out, and what it used."""
        async with self.limiter.slot(tokens) as turn:
            await asyncio.sleep(held_up)
            turn.sent()
            log.append((now(), tokens if used is None else used))
            await asyncio.sleep(takes)
            if used is not None:
                turn.settle(used)

    def start(self, *given, **more):
        task = asyncio.ensure_future(self.call(*given, **more))
        self.under_way.add(task)
        return task

    def die(self):
        """Be gone, as after SIGKILL: nothing is said any more."""
        self.is_dead = True
        for task in self.under_way | self.answering:
            task.cancel()
        self.driver.leases.died(self.number)


def busiest(log, seconds, column=None):
    ordered = sorted(log)
    times = [time for time, _ in ordered]
    sums = list(accumulate((1 if column is None else each[column] for each in ordered), initial=0))
    ends = [bisect_left(times, begin + seconds) for begin in times]
    return max((sums[end] - sums[begin] for begin, end in enumerate(ends)), default=0)


calls = st.lists(st.tuples(st.integers(0, 3), *REQUEST), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    **LIMITS,
    asked=calls,
    deaths=st.lists(st.tuples(st.integers(0, 3), st.floats(0, 90)), max_size=2, unique_by=lambda death: death[0]),
)
def test_no_second_and_no_minute_sees_more_than_allowed_whoever_dies(rpm, tpm, places, asked, deaths):
    log: list[tuple[float, int]] = []
    dead = {worker for worker, _ in deaths}

    async def main():
        driver = Driver(rpm, tpm, places)
        workers = [driver.worker(number) for number in range(4)]

        async def one(call):
            number, at, tokens, share, takes, held_up = call
            await asyncio.sleep(at)
            if not workers[number].is_dead:
                with suppress(asyncio.CancelledError):
                    used = {"used": round(tokens * share), "takes": takes, "held_up": held_up}
                    await workers[number].start(log, tokens, **used)

        for number, when in deaths:
            asyncio.get_running_loop().call_later(when, workers[number].die)
        await asyncio.gather(*map(one, asked))
        await asyncio.sleep(1)
        assert driver.limiter.in_flight == 0

    run_jumping(main())
    assert len(log) >= len([call for call in asked if call[0] not in dead])
    if rpm is not None:
        assert busiest(log, 1) <= math.ceil(rpm / 60)
        assert busiest(log, 60) <= rpm
    if not dead:  # of calls that were cut off nobody knows what they used
        assert busiest(log, 60, column=1) <= tpm


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("rpm", [60, 3_000])
def test_nine_tenths_of_the_limit_are_used_by_any_number_of_workers(workers, rpm):
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver(rpm, None, 1000)
        everybody = [driver.worker(number) for number in range(workers)]
        await asyncio.gather(*(everybody[n % workers].start(log, takes=2.0) for n in range(2 * rpm)))

    run_jumping(main())
    assert 0.9 * rpm <= busiest(log, 60) <= rpm
    assert log[-1][0] < 2 * 60 / 0.9


def test_what_one_does_not_need_others_have():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver(None, 60_000, 2)
        one, other = driver.worker(0), driver.worker(1)
        await one.call(log, 100)
        await other.call(log, 60_000, used=30_000)  # more than a share of one half

    run_jumping(main())
    assert [used for _, used in log] == [100, 30_000]


def test_who_stops_waiting_or_is_stopped_gives_back_the_turn_and_its_tokens():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver(None, 60_000, 1)
        one, other = driver.worker(0), driver.worker(1)
        for wait in (0.0, 0.005, 0.015, 0.025):  # before it is asked for, looked at, given, used
            task = one.start(log, 60_000, held_up=9)
            await asyncio.sleep(wait)
            task.cancel()
            await asyncio.wait([task])
        began = now()
        await other.call(log, 60_000)
        assert now() - began < 0.1

    run_jumping(main())


def test_a_turn_that_gets_lost_holds_up_others_for_some_seconds_only():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver(600, None, 5)
        stalled, other = driver.worker(0), driver.worker(1)
        hanging = stalled.start(log, held_up=1000)
        await asyncio.sleep(0.1)
        await other.call(log)
        assert now() == pytest.approx(5, abs=0.3)
        hanging.cancel()

    run_jumping(main())


def test_a_pause_of_one_is_one_of_all():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver()
        one, other = driver.worker(0), driver.worker(1)
        await one.call(log)
        one.limiter.pause(30)
        await asyncio.sleep(0.02)
        await other.call(log)

    run_jumping(main())
    assert log[1][0] == pytest.approx(30, abs=0.1)


def test_an_outage_is_one_of_all_and_ends_for_all_with_one_answer():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver()
        workers = [driver.worker(number) for number in range(4)]
        for worker in workers:
            await worker.call(log)
            assert worker.failures.has_answered
            failed = now()
            held = await worker.failures.failed(DOWN, f"row {worker.number}", now(), driver.emit)
            assert held == (worker.number == 3)  # the fourth in a row
            assert await worker.failures.retry_in(f"row {worker.number}", DOWN.reason) is not None
        assert driver.events == ["paused"]
        takes = [worker.start(log, takes=1.0) for worker in workers]
        await takes[0]
        assert len(log) == 5, "one at a time"
        assert log[4][0] >= failed + 0.5  # half of the first pause, at least: the rest is by chance
        workers[0].failures.answered(now() - 1.0, driver.emit)
        await asyncio.gather(*takes)
        assert log[-1][0] - log[5][0] < 0.1
        assert driver.events == ["paused", "answered"]
        workers[0].failures.forget("row 0")
        await asyncio.sleep(0.1)
        assert await workers[0].failures.retry_in("row 0", DOWN.reason) is None

    run_jumping(main())


def test_an_outage_that_lasts_ends_with_the_words_of_the_server_and_no_call_begins():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver()
        one, other = driver.worker(0), driver.worker(1)

        async def fail():
            for number in range(1000):
                worker = (one, other)[number % 2]
                await worker.call(log)
                await worker.failures.failed(DOWN, f"row {number}", now(), driver.emit)

        with pytest.raises(SummarizerUnusableError, match="the GPU has left") as caught:
            await fail()
        assert caught.value.has_answered
        assert 60 <= now() < 65
        waiting = other.start(log)
        await asyncio.sleep(100)
        assert not waiting.done()
        waiting.cancel()
        await one.failures.drain()

    run_jumping(main())


def test_a_worker_that_closes_waits_for_its_own_calls_and_gives_back_what_comes():
    log: list[tuple[float, int]] = []

    async def main():
        driver = Driver(places=1)
        one, other = driver.worker(0), driver.worker(1)
        running, waiting = one.start(log, takes=5), one.start(log)
        await asyncio.sleep(1)
        await one.limiter.close()
        assert running.done()
        await other.call(log)
        assert len(log) == 2
        assert not waiting.done()
        waiting.cancel()

    run_jumping(main())
