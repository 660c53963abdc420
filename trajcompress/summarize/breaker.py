"""Noticing that it is the server that fails, not a row.

An endpoint that is down would turn every row of a long run into a failed one. So failures of the server in a row,
with no success between, first pause all calls; then one call is let through, and if that fails too, the run stops,
which can go on later. What concerns one row (too long, filtered, an empty answer) counts for nothing here.

Whose failure it was is not known at once. It is the row's own if the row failed both before and after another's
success; or if it fails again and again where next to none but it do, and the server has answered before. Until then
the row is held back, and asked for again when somebody else got through, or after a while if everybody who asks is
held back. Nobody reached is a row's own failure only by the former. A summary that was stored proves nothing.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.events import Tell
from trajcompress.summarize.base import Around, Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.callback import CallableBack, CalledBackError
from trajcompress.summarize.retry import ANSWERED, OF_THE_SERVER

_UNREACHED = "connection"
_UNCLEAR = "bad_request"  # of the settings until something was answered, of the row then
_TIME_IS_UP = "trajectory_timeout"
_SLOW = {"timeout", _TIME_IS_UP}
_TRIES = 2  # after which a row is at fault where only few fail
_MANY = 3  # rows that fail with no success between: hardly each by its own fault


class BreakerSummarizer(Around[Summarizer]):
    """Guards a summariser that calls a server.

    Args:
        inner: who is asked.
        most_in_a_row: failures in a row after which calls are paused.
        pause_s: how long, in seconds.
    """

    def __init__(self, inner: Summarizer, *, most_in_a_row: int, pause_s: float) -> None:
        super().__init__(inner)
        self._most_in_a_row = most_in_a_row
        self._pause_s = pause_s
        self._failures = 0  # since the last success
        self._failing: set[str] = set()  # rows, since the last success
        self._success_began = -math.inf  # loop time, of the success that began last
        self._ever_answered = False  # in this run, or where stored summaries are from
        self._pauses = 0
        self._resume_at: float | None = None  # loop time; None: no pause
        self._probe = asyncio.Lock()  # while calls are paused: held by the one that is let through
        self._broken: SummarizerUnusableError | None = None
        self._asking: set[object] = set()
        self._held: set[object] = set()
        self._round = 0  # of asking again for all that were held
        self._next_round: asyncio.TimerHandle | None = None
        self._changed = asyncio.Event()
        self._queued = CallableBack()

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise, once calls are not paused.

        Raises:
            SummaryError: this row's summary failed.
            TimeoutError: this row's time is up.
            SummarizerUnusableError: the server refuses every call, or fails at every call.
        """
        asker = object()
        self._asking.add(asker)
        try:
            return await self._ask(asker, request, usage)
        except SummaryError as failure:
            # A frame that it passed holds it: with that, it and the row would live until cycles are looked for.
            raise failure.with_traceback(None) from failure.__cause__
        finally:
            self._asking.discard(asker)
            self._ask_again_if_all_are_held()

    async def _ask(self, asker: object, request: SummaryRequest, usage: Usage) -> Summary:
        now = asyncio.get_running_loop().time
        tries, since = 0, math.inf
        while True:
            tried = await self._try(request, usage)
            if isinstance(tried, Summary):
                return tried
            if tried is None:
                continue
            failure = tried.failure
            if failure.reason in ANSWERED:
                self._note_success(tried.began)
            if not self._is_of_the_server(failure):
                raise failure
            tries += 1
            self._note_failure(tried, request, tries)
            if self._broken is not None:
                raise self._broken from failure
            since = min(since, tried.failed_at)
            if self._is_own(failure, tries, since):
                raise TimeoutError if failure.reason == _TIME_IS_UP else failure
            since = now()
            with request.waiting():
                await self._hold(asker, since)

    async def _try(self, request: SummaryRequest, usage: Usage) -> Summary | _Failed | None:
        """Ask once; return None where calls were paused before it was sent."""
        with request.waiting():
            probing = await self._turn()
        loop = asyncio.get_running_loop()
        pauses, reused, began = self._pauses, usage.reused, loop.time()
        turns: list[float] = []  # loop times: an attempt that needs another has failed
        queueing = partial(self._queueing, request, turns, probing=probing)

        def failed(failure: SummaryError) -> _Failed:
            hung = (began + loop.time()) / 2 if failure.reason in _SLOW else math.inf  # failed long before given up
            return _Failed(failure, began, pauses, min([hung, *turns[1:]]))

        try:
            summary = await self._inner.summarize(replace(request, waiting=queueing), usage)
        except CalledBackError:
            return None
        except SummaryError as error:
            if isinstance(error, SummarizerUnusableError):
                raise
            return failed(error)
        except asyncio.CancelledError as cancelled:
            if not await request.renew(cancelled):
                raise
            return failed(SummaryError(_TIME_IS_UP, "no answer within the time for a row"))
        finally:
            if probing:
                self._probe.release()
        if usage.reused == reused:
            self._note_success(began)
        self._ever_answered = True
        return summary

    def _is_of_the_server(self, failure: SummaryError) -> bool:
        if failure.reason == _UNCLEAR:
            return not self._ever_answered
        return failure.reason in OF_THE_SERVER or failure.reason == _TIME_IS_UP

    def _is_own(self, failure: SummaryError, tries: int, since: float) -> bool:
        if self._success_began > since or failure.reason == _UNCLEAR:
            return True
        return failure.reason != _UNREACHED and tries >= _TRIES and self._has_answered and not self._many_fail

    @property
    def _many_fail(self) -> bool:
        return len(self._failing) >= min(_MANY, self._most_in_a_row)

    @property
    def _has_answered(self) -> bool:
        return self._success_began > -math.inf

    def _note_success(self, began: float) -> None:
        self._ever_answered = True
        self._success_began = max(self._success_began, began)
        self._failures = 0
        self._failing.clear()
        self._resume_at = None
        self._changed.set()

    def _note_failure(self, failed: _Failed, request: SummaryRequest, tries: int) -> None:
        """Count a failure; pause, or give up, where it is one too many and its call began after the last pause."""
        self._failures += 1
        self._failing.add(request.row_id)
        if failed.pauses != self._pauses:
            return
        if self._resume_at is None:
            if self._failures >= self._most_in_a_row or (tries >= _TRIES and not self._has_answered):
                self._pause(failed.failure, request.tell)
        elif self._many_fail or failed.failure.reason == _UNREACHED or not self._has_answered:
            self._break(failed.failure)

    def _break(self, failure: SummaryError) -> None:
        self._broken = SummarizerUnusableError(
            "every_call_fails", f"{self._failures} tries at a summary in a row failed, the last one with: {failure}"
        )
        self._changed.set()

    def _pause(self, failure: SummaryError, tell: Tell) -> None:
        self._pauses += 1
        self._resume_at = asyncio.get_running_loop().time() + self._pause_s
        self._changed.set()
        self._queued.call_back()
        tell("paused", reason=failure.reason, seconds=self._pause_s)

    async def _turn(self) -> bool:
        """Wait while calls are paused; return whether this one is let through to see whether the pause may end."""
        loop = asyncio.get_running_loop()
        while self._broken is None and self._resume_at is not None:
            await asyncio.sleep(self._resume_at - loop.time())
            await self._probe.acquire()
            if self._broken is None and self._resume_at is not None and self._resume_at <= loop.time():
                return True
            self._probe.release()
        if self._broken is not None:
            raise self._broken
        return False

    async def _hold(self, asker: object, since: float) -> None:
        """Wait until a success began after ``since``, calls are paused, or all who ask have been held a while."""
        self._held.add(asker)
        this_round = self._round
        self._ask_again_if_all_are_held()
        try:
            while (
                self._round == this_round
                and self._success_began <= since
                and self._resume_at is None
                and self._broken is None
            ):
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._held.discard(asker)

    def _ask_again_if_all_are_held(self) -> None:
        if self._held and self._asking <= self._held and self._next_round is None:
            self._next_round = asyncio.get_running_loop().call_later(self._pause_s, self._begin_round)

    def _begin_round(self) -> None:
        self._next_round = None
        if self._asking <= self._held:
            self._round += 1
            self._changed.set()

    @contextmanager
    def _queueing(self, request: SummaryRequest, turns: list[float], *, probing: bool) -> Iterator[None]:
        """Stand for ``request.waiting`` while a call waits for its turn; it is called back if calls are paused."""
        if self._resume_at is not None and not probing:
            raise CalledBackError
        turns.append(asyncio.get_running_loop().time())
        with nullcontext() if probing else self._queued.waiting(), request.waiting():
            yield


@dataclass(frozen=True, slots=True)
class _Failed:
    """A try that failed: when it began, and after how many pauses."""

    failure: SummaryError
    began: float
    pauses: int
    failed_at: float  # loop time, by which it had failed for the first time
