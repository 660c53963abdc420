"""Telling an endpoint that is down from a row that it fails at, from what its calls come to.

The first call goes out alone, and more only once one was answered. Where calls fail and none is answered, all pause,
and one at a time is tried, each time that of another row, after growing pauses. The run stops where that does not
help: soon where nobody was ever answered, as then the settings may be wrong, sooner where nobody was reached; after
``max_outage_s`` where it worked before, or where the server says itself when to come back.

A row is at fault where it fails before and after another row's success, while most calls succeed; or where next to
none but it fail, again and again, though the server has answered before. What concerns one row (too long, filtered,
an empty answer) counts as an answer.
"""

from __future__ import annotations

import asyncio
import math
import random

from msgspec import Struct

from trajcompress.errors import SummarizerUnusableError
from trajcompress.events import Emit
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.retry import Retry, backoff

MAX_PAUSE_S = 30.0
"""Between two calls while none is answered; and how long is tried where none ever was."""
_PAUSES = 15  # MAX_PAUSE_S in first pauses, where these are shorter than usual
_PAUSES_UNREACHED = 5  # the same where nobody was ever reached: then hardly anybody is there
_DOWN_AFTER = 5  # first pauses without an answer
_USUAL_PAUSE_S = 2.0
_SAY_AFTER_S = 10.0  # a first answer that takes longer is waited for, but not silently
_MANY = 3  # rows that fail with no success between: hardly each by its own fault
_TRIES = 2  # after which a row is at fault where only few fail
_MOST_TRIES = 4  # times those of a row, where most calls of others fail as well
DRAIN_S = 8.0
"""What calls under way get where the run stops."""
_STEPS = 5  # of the event loop, in which an answer gets to where it is kept
_UNREACHED = "connection"
_SLOW = "timeout"
BUSY = "rate_limited"
UNCLEAR = "bad_request"
"""Of the settings until something was answered, of the row then."""


class _Row(Struct):
    """A row that failed: when for the first time, how often, and what had become of all calls before."""

    since: float
    answers: int
    failures: int
    tries: int = 0
    alone: bool = False  # whether nothing else was under way the last time; whoever waited longer had a turn


class Outage:
    """The :class:`~trajcompress.summarize.endpoint.failures.Failures` of a run; has ``limiter`` hold back its calls.

    Args:
        limiter: admits all calls of the endpoint.
        url: of the endpoint, to be shown.
        first_pause_s: the shortest pause, in seconds; 0 is taken for the usual one.
        most_in_a_row: failed calls in a row after which all pause.
        max_retries: of a row, after which it may be at fault.
        max_outage_s: how long an outage may last, in seconds.
        begins_alone: whether more calls than one wait for the first answer.
        is_known: as :attr:`~trajcompress.summarize.endpoint.failures.Failures.is_known`.
        stops_for_good: whether nobody asks again once it has stopped, but for rows that get to it too late.
    """

    def __init__(
        self,
        limiter: RateLimiter,
        *,
        url: str,
        first_pause_s: float,
        most_in_a_row: int,
        max_retries: int,
        max_outage_s: float,
        begins_alone: bool = True,
        is_known: bool = False,
        stops_for_good: bool = False,
    ) -> None:
        self._limiter = limiter
        self._url = url
        self._first_pause_s = first_pause_s or _USUAL_PAUSE_S
        self._longest_pause_s = min(MAX_PAUSE_S, _PAUSES * self._first_pause_s)
        self._was_reached = False
        self._most_in_a_row = most_in_a_row
        self._max_retries = max_retries
        self._max_outage_s = max_outage_s
        self.has_answered = not begins_alone
        """Whether a call was ever answered, or nobody doubts that it will be."""
        self.is_known = is_known
        """Whether such requests were answered before: what is refused now is so for its row."""
        self._answer_began = -math.inf  # loop time, of the answered call that began last
        self._answers = self._failures = 0
        self._rows: dict[str, _Row] = {}
        self._refused: set[str] = set()  # rows, for a reason that may be that of all
        self._rng = random.Random()  # noqa: S311 - spreads retries, protects nothing
        self._say_later: asyncio.TimerHandle | None = None
        self._stops_for_good = stops_for_good
        self._is_stopped = False
        self._has_said = False  # that calls are waited for
        self._settle()
        if begins_alone:
            limiter.admit_one_at_a_time()

    def _settle(self) -> None:
        """Forget the failures before an answer."""
        self._since: float | None = None  # the first failure
        self._unasked_since: float | None = None  # the first of those in a row that ask for no patience
        self._in_a_row = 0
        self._failing: set[str] = set()
        self._is_down = False
        self._pauses = 0
        self._paused_at = -math.inf

    def known(self) -> None:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.known`."""
        self.is_known = True

    def sent(self, timeout_s: float, emit: Emit) -> None:
        """Note that a call goes out: where no other was answered yet, it is said that it is waited for."""
        if not self.has_answered and self._say_later is None and self._since is None:
            self._say_later = asyncio.get_running_loop().call_later(
                min(_SAY_AFTER_S, timeout_s / 2), self._say_waiting, timeout_s, emit
            )

    def answered(self, began: float, emit: Emit) -> None:
        """Note that the server has answered a call that began at ``began`` (loop time)."""
        self.has_answered = True
        self._answers += 1
        self._answer_began = max(self._answer_began, began)
        self._say_no_more()
        if self._answers == 1 or self._is_down:
            self._limiter.admit_all()
        if self._has_said:
            self._has_said = False
            emit("answered")
        if self._since is not None:
            self._settle()

    async def failed(self, failure: Retry, row_id: str, began: float, emit: Emit, *, is_last: bool = True) -> bool:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.failed`."""
        now = asyncio.get_running_loop().time()
        self._say_no_more()
        self._note(failure, row_id, began, now)
        if failure.reason == UNCLEAR:
            self._refused.add(row_id)
            if len(self._refused) >= min(_MANY, self._most_in_a_row):
                raise self._stopped(failure, now, f"the first {len(self._refused)} rows are refused")
            self._limiter.admit_one_at_a_time(now + self._first_pause_s)
            return True
        since = self._since or now
        if failure.wait and now + failure.wait > since + self._max_outage_s:
            why = f"the server asks to wait {_seconds(failure.wait)} s, beyond --max-outage: run this again then"
            raise self._stopped(failure, now, why)
        deadline = self._deadline(since)
        if now >= deadline and is_last and not self._limiter.in_flight:
            raise self._stopped(failure, now, f"no call was answered for {now - since:.0f} s")
        self._is_down = self._is_down or (
            not self.has_answered
            or self._in_a_row >= self._most_in_a_row
            or now - since >= _DOWN_AFTER * self._first_pause_s
        )
        if not self._is_down:
            if failure.wait:  # the limiter keeps it; nobody else is held back
                self._say_paused(failure, failure.wait, deadline - now, emit)
            return False
        self._pause(failure, began, now, deadline, emit)
        return is_last or self.has_answered or now >= deadline

    async def retry_in(self, row_id: str, reason: str, *, in_time: bool = True) -> float | None:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.retry_in`."""
        return None if self._is_own(row_id, reason, in_time=in_time) else self._pause_of(row_id)

    def _is_own(self, row_id: str, reason: str, *, in_time: bool) -> bool:
        row = self._rows.get(row_id)
        if row is None:
            return True  # the server has answered
        now = asyncio.get_running_loop().time()
        if reason == UNCLEAR:
            return self.has_answered or row.tries >= _TRIES
        was_busy = reason == BUSY and now - row.since < self._max_outage_s
        if was_busy or (in_time and row.tries <= self._max_retries):
            return False
        if self._answer_began > row.since:
            others = self._failures - row.failures - row.tries
            most_are_answered = others <= self._answers - row.answers
            return most_are_answered or not in_time or row.tries > _MOST_TRIES * self._max_retries
        few = len(self._failing) < min(_MANY, self._most_in_a_row)
        return few and row.alone and row.tries >= _TRIES and self.has_answered and reason != _UNREACHED

    def _pause_of(self, row_id: str) -> float:
        row = self._rows.get(row_id)
        if self._is_down or row is None:
            return 0.0
        return min(backoff(row.tries - 1, self._first_pause_s, self._rng), self._longest_pause_s)

    async def drain(self) -> None:
        """Wait for the calls under way, as the run stops: their answers are paid for, and to be kept."""
        await self._limiter.drain(DRAIN_S)
        for _ in range(_STEPS):
            await asyncio.sleep(0)
        self._is_stopped = True

    def ask_again(self) -> None:
        """As :meth:`~trajcompress.summarize.endpoint.failures.Failures.ask_again`."""
        if self._is_stopped and not self._stops_for_good:
            self._is_stopped = False
            self._limiter.admit_one_at_a_time()

    def forget(self, row_id: str) -> None:
        """Forget a row, as it is done."""
        self._rows.pop(row_id, None)

    def _note(self, failure: Retry, row_id: str, began: float, now: float) -> None:
        hung = failure.reason == _SLOW  # it had failed long before it was given up
        row = self._rows.get(row_id)
        if row is None:
            first = (began + now) / 2 if hung else now
            row = self._rows[row_id] = _Row(first, self._answers, self._failures)
        row.tries += 1
        row.alone = not self._limiter.in_flight
        self._failures += 1
        self._was_reached = self._was_reached or failure.reason != _UNREACHED
        if failure.reason == UNCLEAR:
            return
        self._in_a_row += 1
        self._failing.add(row_id)
        if self._since is None:
            self._since = now
        if failure.wait:
            self._unasked_since = None
        elif self._unasked_since is None:
            self._unasked_since = now

    def _deadline(self, since: float) -> float:
        if self.has_answered or self._unasked_since is None:
            return since + self._max_outage_s
        pauses = self._longest_pause_s if self._was_reached else _PAUSES_UNREACHED * self._first_pause_s
        return min(self._unasked_since + pauses, since + self._max_outage_s)

    def _pause(self, failure: Retry, began: float, now: float, deadline: float, emit: Emit) -> None:
        if began < self._paused_at:  # it was under way already
            return
        self._paused_at = now
        pause = min(backoff(self._pauses, self._first_pause_s, self._rng), self._longest_pause_s)
        self._pauses += 1
        pause = max(min(pause, deadline - now), 0.0, failure.wait or 0.0)
        self._limiter.admit_one_at_a_time(now + pause)
        self._say_paused(failure, pause, deadline - now, emit)

    def _say_paused(self, failure: Retry, pause: float, left: float, emit: Emit) -> None:
        self._has_said = True
        emit(
            "paused",
            reason=failure.reason,
            seconds=round(pause, 3),
            detail=_in_words(failure),
            stops_in=round(max(left, 0.0), 3),
        )

    def _stopped(self, failure: Retry, now: float, why: str) -> SummarizerUnusableError:
        calls = f"{self._in_a_row} calls" if self._in_a_row > 1 else "one call"
        tried = f" at {self._url}: {calls} in {now - (self._since or now):.0f} s" if self._in_a_row else ""
        return SummarizerUnusableError(
            "every_call_fails",
            f"{why}{tried}, the last one with: {failure.reason}: {_in_words(failure)}",
            has_answered=self.has_answered,
        )

    def _say_waiting(self, timeout_s: float, emit: Emit) -> None:
        self._has_said = True
        emit("waiting", detail=f"no answer yet from {self._url}; a call may take {timeout_s:g} s")

    def _say_no_more(self) -> None:
        if self._say_later is not None:
            self._say_later.cancel()


def _in_words(failure: Retry) -> str:
    """Say what came of a call, and what helps."""
    remedy = "; see that the server runs, and check --base-url" if failure.reason == _UNREACHED else ""
    return f"{failure.detail}{remedy}"


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 1 else f"{seconds:.2g}"
