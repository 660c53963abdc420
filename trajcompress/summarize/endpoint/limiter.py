"""The rate limiter: requests and tokens per minute, and calls at once, first come first served.

Two windows must hold, the second and the minute, at whatever moment they begin:

* Requests are spaced ``60 / rpm`` seconds apart. A bucket of ``rpm`` would let a whole minute's worth through at once
  and then refill, which is twice the rate in the first minute. One that got its turn and does not go out within an
  instant, on a busy machine or a slow connection, holds up all after it, so that they do not go out together.
* Tokens are kept in a ledger of the last minute. A request of ``t`` tokens keeps the next one back ``t / tpm``
  minutes, and none goes out that would bring its minute above ``tpm``. A bucket cannot take unused tokens back, and
  one big enough for a large request lets two minutes' worth into one.

Everybody waits in one queue, so a large request is not overtaken for ever by small ones.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from trajcompress.summarize.endpoint.limits import check_size
from trajcompress.summarize.endpoint.token_ledger import Charge, TokenLedger

# Requests reach the server a little unevenly. A little more room keeps its clock under the limit as well as ours: of
# the eight percent, five are for the instant by which one may go out later than planned, and the next as planned.
_MINUTE = 60 * 1.08
_INSTANT_S = 0.05
_LOST_S = 5.0  # after which a turn that has not gone out holds up nobody any more


class RateLimiter:
    """The one :class:`~trajcompress.summarize.endpoint.limits.Limiter` of a run, on whose event loop it lives.

    Args:
        rpm: Requests per minute, above 0, or None for no limit.
        tpm: Tokens per minute, prompt and completion, above 0, or None for no limit.
        max_concurrent: Requests in flight at once, at least 1.
        check_cost: Is given how many requests are in flight before each one, and raises SummarizerUnusableError where
            no more may be spent.
    """

    def __init__(
        self,
        rpm: float | None,
        tpm: int | None,
        max_concurrent: int,
        check_cost: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.tpm = tpm
        self.max_concurrent = max_concurrent
        self._check_cost = check_cost
        self._space_s = _MINUTE / rpm if rpm is not None else 0.0
        self._ledger = TokenLedger(tpm) if tpm is not None else None
        self._queue = asyncio.Lock()  # wakes its waiters in the order they came
        self._slots = asyncio.Semaphore(max_concurrent)
        self._changed = asyncio.Event()
        self._unsent: dict[AdmittedTurn, None] = {}  # those that have not gone out, in order
        self._next_at = 0.0
        self._held_until: float | None = None  # None: as many at once as there are slots
        self._in_flight = 0
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._is_closed = False

    @property
    def spaces(self) -> bool:
        """Whether it matters when a request goes out: the next one is kept back by it."""
        return self._space_s > 0 or self._ledger is not None

    @property
    def in_flight(self) -> int:
        """Requests under way."""
        return self._in_flight

    def pause(self, seconds: float) -> None:
        """Send nothing for so long, whoever asks. Never shortens a pause."""
        self._keep_back(asyncio.get_running_loop().time() + seconds)

    def _keep_back(self, when: float) -> None:
        self._next_at = max(self._next_at, when)

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
    async def slot(self, tokens: int) -> AsyncIterator[AdmittedTurn]:
        """As :meth:`~trajcompress.summarize.endpoint.limits.Limiter.slot`."""
        turn = await self.admit(tokens)
        try:
            yield turn
        finally:
            turn.end()

    async def admit(self, tokens: int) -> AdmittedTurn:
        """Wait for a turn, which holds a place among the requests in flight until it is ended.

        Raises:
            SummaryError: as :func:`~trajcompress.summarize.endpoint.limits.check_size`.
            SummarizerUnusableError: no more may be spent.
        """
        check_size(tokens, self.tpm)
        async with self._queue:
            # Only the head of the queue gets here, so nobody could use the slot while it waits for its turn; and a
            # turn taken before the slot would be stale by the time a slot is free.
            await self._slots.acquire()
            try:
                await self._clear(tokens)
                if self._is_closed:
                    await asyncio.get_running_loop().create_future()
                self._check_cost(self._in_flight)
            except BaseException:  # a cancellation, too, must not lose the place
                self._slots.release()
                raise
            now = asyncio.get_running_loop().time()
            charge = self._ledger.charge(tokens, now) if self._ledger is not None else None
            turn = AdmittedTurn(self, self._next_at if now - self._next_at < _INSTANT_S else now, charge)
            if self.spaces:
                self._unsent[turn] = None
                self._keep_back(turn.began + self._space_s)
            self._in_flight += 1
            self._is_quiet.clear()
            return turn

    async def _clear(self, tokens: int) -> None:
        loop = asyncio.get_running_loop()
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
        return max(self._next_at, ledger, held, self._all_out_at(now))

    def _all_out_at(self, now: float) -> float:
        """When no turn is held up any more, unless it is sent before."""
        while (first := next(iter(self._unsent), None)) is not None:
            if now < first.began + _INSTANT_S:
                return now
            if now < first.began + _LOST_S:
                return first.began + _LOST_S
            first.sent()  # or never
        return now

    def note_sent(self, turn: AdmittedTurn, charge: Charge | None) -> None:
        """Space what comes after a turn from now; a call of :class:`AdmittedTurn`."""
        now = asyncio.get_running_loop().time()
        if self._unsent.pop(turn, turn) is None:
            self._keep_back(now - _INSTANT_S + self._space_s)
            self._changed.set()
        if self._ledger is not None and charge is not None:
            self._ledger.sent(charge, now)

    def note_never_sent(self, turn: AdmittedTurn, charge: Charge | None) -> None:
        """Give back what a turn was charged; a call of :class:`AdmittedTurn`."""
        self._unsent.pop(turn, None)
        self.note_used(charge, 0)
        self._changed.set()

    def note_used(self, charge: Charge | None, tokens: int) -> None:
        """Replace what a turn was charged; a call of :class:`AdmittedTurn`."""
        if self._ledger is not None and charge is not None:
            self._ledger.correct(charge, tokens)
            self._changed.set()

    def note_end(self) -> None:
        """Free a place; a call of :class:`AdmittedTurn`."""
        self._slots.release()
        self._in_flight -= 1
        if not self._in_flight:
            self._is_quiet.set()
            self._changed.set()


class AdmittedTurn:
    """A :class:`~trajcompress.summarize.endpoint.limits.Turn`, to be ended.

    ``began`` is when it was to come, in seconds of the event loop's clock.
    """

    def __init__(self, limiter: RateLimiter, began: float, charge: Charge | None) -> None:
        self.began = began
        self._limiter = limiter
        self._charge = charge
        self._is_sent = False

    def sent(self) -> None:
        """Say that the request goes out at this moment: the next one is spaced from here."""
        if not self._is_sent:
            self._is_sent = True
            self._limiter.note_sent(self, self._charge)

    def settle(self, tokens: int) -> None:
        """Replace the estimate by the ``tokens`` really used."""
        self._limiter.note_used(self._charge, tokens)

    def end(self) -> None:
        """Leave the requests in flight; one that was not sent never will be."""
        if not self._is_sent:
            self._is_sent = True
            self._limiter.note_never_sent(self, self._charge)
        self._limiter.note_end()
