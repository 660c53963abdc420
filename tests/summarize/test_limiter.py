"""The limiter, on a clock that jumps."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jumping import LIMITS, REQUEST, now, run_jumping

from trajcompress.errors import SummaryError
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.limits import check_size

Sent = tuple[float, int, int]  # when, the number of the request, its tokens


async def send(
    limiter: RateLimiter, log: list[Sent], number: int, tokens: int = 0, *, used=None, takes=0.0, held_up=0.0
) -> None:
    async with limiter.slot(tokens) as reservation:
        await asyncio.sleep(held_up)
        reservation.sent()
        log.append((now(), number, tokens if used is None else used))
        await asyncio.sleep(takes)
        if used is not None:
            reservation.settle(used)


def busiest(log: list[Sent], seconds: float, column: int | None = None) -> int:
    sums = [
        sum(1 if column is None else other[column] for other in log if begin <= other[0] < begin + seconds)
        for begin, *_ in log
    ]
    return max(sums, default=0)


def starts(log: list[Sent]) -> dict[int, float]:
    return {number: when for when, number, _ in log}


requests = st.lists(st.tuples(*REQUEST), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(
    **LIMITS,
    asked=requests,
)
def test_no_second_and_no_minute_sees_more_than_allowed(rpm, tpm, places, asked):
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(rpm, tpm, places)

        async def one(number, request):
            at, tokens, share, takes, held_up = request
            await asyncio.sleep(at)
            await send(limiter, log, number, tokens, used=round(tokens * share), takes=takes, held_up=held_up)

        await asyncio.gather(*(one(number, request) for number, request in enumerate(asked)))

    run_jumping(main())
    assert len(log) == len(asked)
    if rpm is not None:
        assert busiest(log, 1) <= math.ceil(rpm / 60)
        assert busiest(log, 60) <= rpm
    assert busiest(log, 60, column=2) <= tpm


def test_a_full_minute_is_used_from_the_first_on():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(600, None, 1000)
        await asyncio.gather(*(send(limiter, log, number) for number in range(1200)))

    run_jumping(main())
    assert busiest(log, 60) <= 600
    assert log[-1][0] < 2 * 60 * 1.1


def test_a_large_request_is_not_overtaken():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, 10_000, 50)
        sizes = [6_000, 9_000, *[10] * 30]
        await asyncio.gather(*(send(limiter, log, number, size) for number, size in enumerate(sizes)))

    run_jumping(main())
    assert [number for _, number, _ in log] == list(range(32))


def test_a_request_keeps_the_next_one_back_in_proportion():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, 60_000, 50)
        await asyncio.gather(send(limiter, log, 0, 10_000), send(limiter, log, 1, 1), send(limiter, log, 2, 1))

    run_jumping(main())
    assert starts(log)[1] == pytest.approx(10, rel=0.05)
    assert starts(log)[2] == pytest.approx(10, rel=0.05)


def test_what_calls_take_is_expected_of_the_next_and_not_all_that_they_may_take():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, 60_000, 50)
        await asyncio.gather(*(send(limiter, log, number, 1000, used=500, takes=5.0) for number in range(600)))

    run_jumping(main())
    assert busiest(log, 60, column=2) <= 60_000
    assert log[-1][0] < 600 * 500 / 60_000 * 60 * 1.15


def test_tokens_that_were_not_used_are_given_back_to_those_who_wait():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, 60_000, 50)
        await asyncio.gather(send(limiter, log, 0, 60_000, used=1_000, takes=5), send(limiter, log, 1, 50_000))

    run_jumping(main())
    assert starts(log)[1] == pytest.approx(5)


def test_tokens_beyond_the_estimate_are_held_against_later_requests():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, 60_000, 50)
        await send(limiter, log, 0, 1_000, used=30_000)
        await send(limiter, log, 1, 1_000)

    run_jumping(main())
    assert starts(log)[1] == pytest.approx(30, rel=0.05)


def test_a_pause_holds_for_everybody_and_is_never_shortened():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(60, 60_000, 2)
        waiting = [asyncio.create_task(send(limiter, log, number, 10)) for number in range(5)]
        await asyncio.sleep(0.5)
        limiter.pause(29.5)
        limiter.pause(9.5)
        await asyncio.gather(*waiting)

    run_jumping(main())
    assert starts(log)[0] == pytest.approx(0, abs=0.01)
    assert starts(log)[1] >= 30
    assert busiest(log[1:], 1) == 1


@pytest.mark.parametrize("limits", [(60.0, None), (None, 600), (None, None)])
def test_who_stops_waiting_leaves_no_trace(limits):
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(*limits, 1)
        running = asyncio.create_task(send(limiter, log, 0, 100, takes=1))
        waiting = [asyncio.create_task(send(limiter, log, number, 100)) for number in range(1, 6)]
        await asyncio.sleep(0.5)
        for task in [*waiting[:2], waiting[3]]:  # the head of the queue, the one after it, one in the middle
            task.cancel()
        await asyncio.gather(running, waiting[2], waiting[4])
        head = asyncio.create_task(send(limiter, log, 6, 100))
        await asyncio.sleep(0)
        head.cancel()
        await send(limiter, log, 7, 100)

    run_jumping(main())
    assert [number for _, number, _ in log if number != 6] == [0, 3, 5, 7]


def test_a_cancelled_request_frees_its_place():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, None, 1)
        running = asyncio.create_task(send(limiter, log, 0, takes=1000))
        await asyncio.sleep(1)
        running.cancel()
        await send(limiter, log, 1)

    run_jumping(main())
    assert starts(log)[1] == pytest.approx(1)


def test_no_more_in_flight_than_allowed():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(None, None, 3)
        await asyncio.gather(*(send(limiter, log, number, takes=10) for number in range(9)))

    run_jumping(main())
    assert [round(when) for when, *_ in log] == [0] * 3 + [10] * 3 + [20] * 3


def test_a_turn_is_taken_when_a_place_is_free_not_before():
    log: list[Sent] = []

    async def main():
        limiter = RateLimiter(60, None, 2)
        await asyncio.gather(*(send(limiter, log, number, takes=30) for number in range(6)))

    run_jumping(main())
    assert busiest(log, 1) == 1


def test_a_request_larger_than_a_minute_is_refused_with_both_figures():
    check_size(40_000, 40_000)
    with pytest.raises(SummaryError, match=r"40,001.*40,000") as caught:
        check_size(40_001, 40_000)
    assert caught.value.reason == "request_exceeds_tpm"

    async def main():
        with pytest.raises(SummaryError, match="request_exceeds_tpm"):
            await send(RateLimiter(None, 40_000, 1), [], 0, 40_001)

    run_jumping(main())
