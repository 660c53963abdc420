"""A worker's side: each request is leased from the driver, and so is what becomes of one that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from trajcompress.engine.messages import Channel
from trajcompress.events import Emit
from trajcompress.summarize.endpoint.leases.messages import (
    CallAnswered,
    CallFailed,
    CallNews,
    CallsEnd,
    CallsPaused,
    LeaseNews,
    LeaseQuestion,
    RowFailed,
    RowForgotten,
    TurnEnded,
    TurnGiven,
    TurnSent,
    TurnWanted,
)
from trajcompress.summarize.endpoint.limits import check_size
from trajcompress.summarize.endpoint.outage import DRAIN_S
from trajcompress.summarize.retry import Retry

_AHEAD = 8
"""Turns that a worker waits for at once: more than may come while a message is under way, and no more than its share
of the queue."""


class ToDriver:
    """The way to the driver, of an event loop. What is emitted in one step of that goes as one message."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._unsent: list[LeaseNews] = []

    def emit(self, news: LeaseNews) -> None:
        """Have the driver know something, before the loop does anything else."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self.flush)
        self._unsent.append(news)

    def unsent(self) -> tuple[LeaseNews, ...]:
        """Return what the driver does not know yet, for it to go another way."""
        unsent, self._unsent = tuple(self._unsent), []
        return unsent

    def flush(self) -> None:
        """Have the driver know all by now."""
        if unsent := self.unsent():
            self._channel.emit(CallNews(unsent))

    async def ask(self, question: LeaseQuestion) -> Any:
        """Return the driver's answer, while others go on."""
        self.flush()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def settle(given: Any) -> None:
            if not answer.done():
                answer.set_result(given)

        def arrived(given: Any) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, given)

        self._channel.ask_later(question, arrived)
        return await answer


class LeasedLimiter:
    """A :class:`~trajcompress.summarize.endpoint.limits.Limiter` whose turns are those of the driver.

    Args:
        channel: leads to the driver.
        tpm: tokens per minute, of all workers together, or None.
        max_concurrent: requests in flight at once, of all workers together.
        spaces: whether it matters when a request goes out.
    """

    def __init__(self, channel: Channel, tpm: int | None, max_concurrent: int, *, spaces: bool) -> None:
        self.tpm = tpm
        self.max_concurrent = max_concurrent
        self.spaces = spaces
        self.driver = ToDriver(channel)
        self.has_answered = False
        """Whether the endpoint has ever answered, as far as is known here."""
        self._turns = count()
        self._ahead = asyncio.Semaphore(_AHEAD)
        self._in_flight = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._is_closed = False

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[LeasedTurn]:
        """As :meth:`~trajcompress.summarize.endpoint.limits.Limiter.slot`."""
        check_size(tokens, self.tpm)
        turn = LeasedTurn(self.driver, next(self._turns), telling=self.spaces)
        async with self._ahead:
            try:
                given: TurnGiven | Exception = await self.driver.ask(TurnWanted(turn.number, tokens))
                if isinstance(given, Exception):
                    raise given
                self.has_answered = self.has_answered or given.has_answered
                if self._is_closed:
                    turn.end()
                    await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                turn.end()
                raise
        self._in_flight += 1
        self._is_quiet.clear()
        try:
            yield turn
        finally:
            turn.end()
            self._in_flight -= 1
            if not self._in_flight:
                self._is_quiet.set()

    def pause(self, seconds: float) -> None:
        """As :meth:`~trajcompress.summarize.endpoint.limits.Limiter.pause`."""
        self.driver.emit(CallsPaused(seconds))

    async def close(self) -> None:
        """As :meth:`~trajcompress.summarize.endpoint.limits.Limiter.close`."""
        self._is_closed = True
        await self._is_quiet.wait()

    def flush(self) -> None:
        """Have the driver know all by now, as the event loop has ended."""
        self.driver.flush()


class LeasedTurn:
    """A :class:`~trajcompress.summarize.endpoint.limits.Turn`; to be ended, also where it did not come."""

    def __init__(self, driver: ToDriver, number: int, *, telling: bool) -> None:
        self.number = number
        self._driver = driver
        self._telling = telling
        self._is_sent = False
        self._has_ended = False
        self._tokens: int | None = None

    def sent(self) -> None:
        """Say that the request goes out at this moment."""
        if not self._is_sent:
            self._is_sent = True
            if self._telling:
                self._driver.emit(TurnSent(self.number))

    def settle(self, tokens: int) -> None:
        """Replace the estimate by the ``tokens`` really used."""
        self._tokens = tokens

    def end(self) -> None:
        """Give it back."""
        if not self._has_ended:
            self._has_ended = True
            self._driver.emit(TurnEnded(self.number, self._is_sent, self._tokens))


class LeasedFailures:
    """The :class:`~trajcompress.summarize.endpoint.failures.Failures` of the driver."""

    def __init__(self, limiter: LeasedLimiter, *, is_known: bool = False) -> None:
        self._limiter = limiter
        self._driver = limiter.driver
        self.is_known = is_known
        self._failed: set[str] = set()  # rows of which the driver knows

    @property
    def has_answered(self) -> bool:
        """Whether a call was ever answered."""
        return self._limiter.has_answered

    def known(self) -> None:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.known`."""
        self.is_known = True

    def sent(self, timeout_s: float, emit: Emit) -> None:
        """Do nothing: the driver knows of it, as it has given the turn."""

    def answered(self, began: float, emit: Emit) -> None:  # noqa: ARG002 - the driver tells
        """Note that the server has answered a call that began at ``began`` (loop time)."""
        self._limiter.has_answered = True
        self._driver.emit(CallAnswered(_age(began)))

    async def failed(
        self,
        failure: Retry,
        row_id: str,
        began: float,
        emit: Emit,  # noqa: ARG002 - the driver tells
        *,
        is_last: bool = True,
    ) -> bool:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.failed`."""
        self._failed.add(row_id)
        before = self._driver.unsent()
        answer: bool | Exception = await self._driver.ask(
            CallFailed(failure, row_id, _age(began), is_last=is_last, before=before)
        )
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def retry_in(self, row_id: str, reason: str, *, in_time: bool = True) -> float | None:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.retry_in`."""
        pause: float | None = await self._driver.ask(RowFailed(row_id, reason, in_time))
        return pause

    async def drain(self) -> None:
        """Have no call begin in any worker, and wait for those that are under way in this one."""
        self._driver.emit(CallsEnd())
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await self._limiter.close()

    def ask_again(self) -> None:
        """Do nothing: the run ends with its first worker that stops."""

    def forget(self, row_id: str) -> None:
        """Forget a row, as it is done."""
        if row_id in self._failed:
            self._failed.discard(row_id)
            self._driver.emit(RowForgotten(row_id))


def _age(began: float) -> float:
    return asyncio.get_running_loop().time() - began
