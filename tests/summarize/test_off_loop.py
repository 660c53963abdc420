from __future__ import annotations

import asyncio
import threading

import pytest

from trajcompress.summarize.deadline import Deadline
from trajcompress.summarize.off_loop import OffLoop, run_through


async def two_steps() -> tuple[int, int]:
    async with Deadline(None) as deadline:
        with deadline.stopped():
            return await OffLoop()(threading.get_ident), await OffLoop()(threading.get_ident)


def test_work_is_done_beside_an_event_loop_and_here_where_there_is_none():
    here = threading.get_ident()
    assert here not in asyncio.run(two_steps())
    assert run_through(two_steps()) == (here, here)


def test_errors_of_the_work_come_through():
    async def fails() -> None:
        await OffLoop()(int, "one")

    with pytest.raises(ValueError, match="one"):
        run_through(fails())


def test_what_waits_for_anything_else_is_refused():
    async def waits() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="event loop"):
        run_through(waits())
