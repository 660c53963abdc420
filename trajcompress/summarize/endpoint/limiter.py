"""The way to the endpoint: so many requests and tokens per minute, so many at once, first come first served.

Two windows must hold, the second and the minute, at whatever moment they begin:

* Requests are spaced ``60 / rpm`` seconds apart, by a bucket of one. A bucket of ``rpm`` would let a whole minute's
  worth through at once and then refill, which is twice the rate in the first minute. The spaces lie between the
  moments at which requests go out: one that got its turn and was then held up, by a busy machine or a slow
  connection, holds up all after it.
* Tokens are kept in a ledger of the last minute. A request of ``t`` tokens keeps the next one back ``t / tpm``
  minutes, and none goes out that would bring its minute above ``tpm``. A bucket cannot take unused tokens back, and
  one big enough for a large request lets two minutes' worth into one.

Everybody waits in one queue, so a large request is not overtaken for ever by small ones.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from aiolimiter import AsyncLimiter

from trajcompress.errors import SummaryError

# Requests reach the server a little unevenly. A little more room keeps its clock under the limit as well as ours:
# the short window of requests needs more of it than the long one of tokens.
REQUEST_MINUTE = 60 * 1.08
TOKEN_MINUTE = 60 * 1.04


@dataclass(slots=True)
class Charge:
    """Tokens put down at ``time`` (seconds of the event loop's clock)."""

    time: float
    tokens: int
    counted: bool = True  # still within the last minute


class TokenLedger:
    """The tokens of the last minute. Knows no clock and does not wait: it says when."""

    def __init__(self, tpm: int) -> None:
        self.tpm = tpm
        self._charges: deque[Charge] = deque()
        self._total = 0

    def ready_at(self, tokens: int, now: float) -> float:
        """When ``tokens`` more fit, in seconds of the clock of ``now``; not after ``now`` if they fit at once."""
        while len(self._charges) > 1 and self._charges[0].time + TOKEN_MINUTE <= now:
            gone = self._charges.popleft()
            gone.counted = False
            self._total -= gone.tokens
        if not self._charges:
            return now
        last = self._charges[-1]
        ready = last.time + last.tokens / self.tpm * TOKEN_MINUTE
        excess = self._total + tokens - self.tpm
        for charge in self._charges:
            if excess <= 0:
                break
            ready = max(ready, charge.time + TOKEN_MINUTE)
            excess -= charge.tokens
        return ready

    def charge(self, tokens: int, now: float) -> Charge:
        """Put ``tokens`` down at ``now``."""
        charge = Charge(now, tokens)
        self._charges.append(charge)
        self._total += tokens
        return charge

    def correct(self, charge: Charge, tokens: int) -> None:
        """Replace what was put down for one request, as if it had been known then."""
        if charge.counted:
            self._total += tokens - charge.tokens
            charge.tokens = tokens


class Reservation:
    """One request's turn: to be told when the request goes out, and what it really cost."""

    def __init__(self, when_sent: Callable[[], None], when_settled: Callable[[int], None]) -> None:
        self._when_sent = when_sent
        self._when_settled = when_settled
        self._is_sent = False

    def sent(self) -> None:
        """Say that the request goes out at this moment, or never will: the next one is spaced from here."""
        if not self._is_sent:
            self._is_sent = True
            self._when_sent()

    def settle(self, tokens: int) -> None:
        """Replace the estimate by the ``tokens`` really used. What is left over, or short, concerns later ones."""
        self._when_settled(tokens)


class RateLimiter:
    """Admits requests to one endpoint.

    Args:
        rpm: Requests per minute, above 0, or None for no limit.
        tpm: Tokens per minute, prompt and completion, above 0, or None for no limit.
        max_concurrent: Requests in flight at once, at least 1.
    """

    def __init__(self, rpm: float | None, tpm: int | None, max_concurrent: int) -> None:
        self.tpm = tpm
        self.max_concurrent = max_concurrent
        self._pace = AsyncLimiter(1, REQUEST_MINUTE / rpm) if rpm is not None else None
        self._ledger = TokenLedger(tpm) if tpm is not None else None
        self._queue = asyncio.Lock()  # wakes its waiters in the order they came
        self._slots = asyncio.Semaphore(max_concurrent)
        self._changed = asyncio.Event()
        self._is_out = asyncio.Event()  # whether the request that had the last turn has gone out
        self._is_out.set()
        self._paused_until = 0.0
        self._held_until: float | None = None  # None: as many at once as there are slots
        self._in_flight = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._is_closed = False

    @property
    def spaces(self) -> bool:
        """Whether it matters when a request goes out: the next one is kept back by it."""
        return self._pace is not None or self._ledger is not None

    def check(self, tokens: int) -> None:
        """Refuse a request that no waiting would ever admit.

        Raises:
            SummaryError: ``tokens`` exceed the whole budget of a minute (reason ``request_exceeds_tpm``).
        """
        if self.tpm is not None and tokens > self.tpm:
            raise SummaryError(
                "request_exceeds_tpm",
                f"a request of {tokens:,} tokens cannot be sent with {self.tpm:,} tokens per minute; raise --tpm",
            )

    def pause_until(self, when: float) -> None:
        """Send nothing before ``when`` (seconds of the event loop's clock), whoever asks. Never shortens a pause."""
        self._paused_until = max(self._paused_until, when)

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return self._in_flight

    def admit_one_at_a_time(self, when: float = -math.inf) -> None:
        """From ``when`` on (seconds of the event loop's clock) admit a request if no other is in flight."""
        self._held_until = when
        self._changed.set()

    def admit_all(self) -> None:
        """Admit as many at once as there are slots, from now on."""
        if self._held_until is not None:
            self._held_until = None
            self._changed.set()

    async def drain(self, seconds: float) -> None:
        """Admit nobody until told otherwise, and wait for the requests in flight, for so long at most."""
        self.admit_one_at_a_time(math.inf)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_quiet.wait()

    async def close(self) -> None:
        """Admit nobody from now on, and wait for the requests in flight; others wait until they are cancelled."""
        self._is_closed = True
        await self._is_quiet.wait()

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Reservation]:
        """Wait for a turn, and hold a place among the requests in flight until the block ends.

        Enter right before sending, say when it is sent, and leave before sleeping. ``tokens`` is the most that the
        request may cost.

        Raises:
            SummaryError: as :meth:`check`.
        """
        self.check(tokens)
        async with self._queue:
            # Only the head of the queue gets here, so nobody could use the slot while it waits for its turn; and a
            # turn taken before the slot would be stale by the time a slot is free.
            await self._slots.acquire()
            try:
                reservation = await self._turn(tokens)
                if self._is_closed:
                    await asyncio.get_running_loop().create_future()
            except BaseException:  # a cancellation, too, must not lose the place
                self._slots.release()
                raise
        self._in_flight += 1
        self._is_quiet.clear()
        try:
            yield reservation
        finally:
            reservation.sent()
            self._slots.release()
            self._in_flight -= 1
            if not self._in_flight:
                self._is_quiet.set()
                self._changed.set()

    async def _turn(self, tokens: int) -> Reservation:
        loop = asyncio.get_running_loop()
        await self._is_out.wait()
        while True:
            await self._clear(tokens, loop)
            if self._pace is not None:
                await self._pace.acquire()
            # A pause or an excess may have come meanwhile. Then this turn is stale, and another one is taken.
            if self._ready_at(tokens, loop.time()) <= loop.time():
                break
        charge = self._ledger.charge(tokens, loop.time()) if self._ledger is not None else None
        if self.spaces:
            self._is_out.clear()

        def when_sent() -> None:
            self._is_out.set()
            if charge is not None:
                charge.time = loop.time()
            if self._pace is not None:
                self.pause_until(loop.time() + self._pace.time_period)

        def when_settled(used: int) -> None:
            if self._ledger is not None and charge is not None:
                self._ledger.correct(charge, used)
                self._changed.set()

        return Reservation(when_sent, when_settled)

    async def _clear(self, tokens: int, loop: asyncio.AbstractEventLoop) -> None:
        while (when := self._ready_at(tokens, loop.time())) > loop.time():
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(None if when == math.inf else when):
                    await self._changed.wait()

    def _ready_at(self, tokens: int, now: float) -> float:
        ledger = self._ledger.ready_at(tokens, now) if self._ledger is not None else now
        held = now
        if self._held_until is not None:
            held = math.inf if self._in_flight else self._held_until
        return max(self._paused_until, ledger, held)
