"""A time-out that stands still while nobody works on the row."""

from __future__ import annotations

import asyncio

import pytest
import runs
from loopback import LoopbackServer

from trajcompress.summarize.deadline import Deadline

SHORT, LONG = 0.05, 0.2


async def passes(seconds_allowed: float | None, *waits: tuple[float, bool]) -> bool:
    """Wait under a deadline, some of it while it stands still; tell whether it passed."""
    try:
        async with Deadline(seconds_allowed) as deadline:
            for seconds, still in waits:
                if still:
                    with deadline.stopped():
                        await asyncio.sleep(seconds)
                else:
                    await asyncio.sleep(seconds)
    except TimeoutError:
        return True
    return False


@pytest.mark.parametrize(
    ("waits", "passed"),
    [
        ([(LONG, False)], True),
        ([(LONG, True)], False),
        ([(LONG, True), (LONG, True)], False),
        ([(LONG, True), (LONG, False)], True),
        ([(0, False), (LONG, True), (0, False)], False),
    ],
)
def test_time_counts_only_while_it_does_not_stand_still(waits, passed):
    assert asyncio.run(passes(SHORT, *waits)) is passed


def test_without_a_limit_it_never_passes():
    assert asyncio.run(passes(None, (SHORT, False), (SHORT, True))) is False


def test_standing_still_may_be_nested():
    async def nested() -> None:
        async with Deadline(SHORT) as deadline:
            with deadline.stopped():
                with deadline.stopped():
                    await asyncio.sleep(LONG)
                await asyncio.sleep(LONG)

    asyncio.run(nested())


def test_standing_still_after_it_has_passed_changes_nothing():
    async def late() -> None:
        async with Deadline(SHORT) as deadline:
            try:
                await asyncio.sleep(LONG)
            finally:
                with deadline.stopped():
                    pass

    with pytest.raises(TimeoutError):
        asyncio.run(late())


def test_errors_and_cancellation_come_through():
    async def failing(error: BaseException) -> None:
        async with Deadline(LONG) as deadline:
            with deadline.stopped():
                raise error

    for error in (ValueError("x"), asyncio.CancelledError()):
        with pytest.raises(type(error)):
            asyncio.run(failing(error))


def test_a_row_that_waits_for_its_turn_does_not_use_up_its_time(tmp_path):
    def call(output: str, **more):
        return runs.run_here(
            *inputs,
            output=tmp_path / output,
            tokenizer__name=runs.small_tokenizer(),
            compression__target_max_tokens=2000,
            compression__summary_target_tokens=300,
            summarization__model="loopback",
            summarization__base_url=server.base_url,
            processing__max_concurrent_requests=1,
            **more,
        )

    inputs = runs.write_inputs(tmp_path, 12)
    with LoopbackServer(latency=0.3) as server:
        call("first", input__limit=1)  # loads code, which takes time on a busy machine
        result = call("out", processing__per_trajectory_timeout=2.5)
    assert len(server.seen) == 1 + 11  # one after the other takes longer than any row may
    assert result.totals.outcomes["failed"] == 0


def test_a_time_out_can_be_taken_back_and_a_cancellation_cannot():
    async def renewed() -> list[str]:
        told = []
        async with Deadline(SHORT) as deadline:
            for _ in range(2):
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError as cancelled:
                    told.append("renewed" if await deadline.renew(cancelled) else "cancelled")
            asyncio.current_task().cancel()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError as cancelled:
                told.append("renewed" if await deadline.renew(cancelled) else "cancelled")
        return told

    assert asyncio.run(renewed()) == ["renewed", "renewed", "cancelled"]


def test_a_renewed_time_out_passes_again():
    async def twice() -> None:
        async with Deadline(SHORT) as deadline:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError as cancelled:
                await deadline.renew(cancelled)
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(twice())
