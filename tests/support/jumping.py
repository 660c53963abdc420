"""A clock that jumps: hours pass in milliseconds, and every instant is exact."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any

from hypothesis import strategies as st

LIMITS = {
    "rpm": st.sampled_from([7, 60, 90, 600, 2400, None]),
    "tpm": st.integers(5_000, 50_000),
    "places": st.integers(1, 8),
}
REQUEST = (
    st.floats(0, 90),  # when it comes
    st.integers(0, 5_000),  # its tokens,
    st.floats(0, 1),  # of which it uses a share
    st.floats(0, 20),  # how long it takes
    st.one_of(st.just(0.0), st.floats(0, 3)),  # how long it is held up
)


class JumpingSelector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout=None):
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise AssertionError("everybody waits for ever")
            self.now += max(timeout, 1e-9)
        return ready


def run_jumping(main: Coroutine[Any, Any, None]) -> None:
    """Run it to its end; the loop's time goes on only where nothing is to be done."""
    selector = JumpingSelector()

    def make_loop() -> asyncio.AbstractEventLoop:
        loop = asyncio.SelectorEventLoop(selector)
        loop.time = lambda: selector.now  # type: ignore[method-assign]  # the point of it
        return loop

    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(main)


def now() -> float:
    return asyncio.get_running_loop().time()
