"""The driver's side: one limiter and one view of the endpoint, of which all workers lease."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from typing import Any

from trajcompress.errors import SummarizerUnusableError
from trajcompress.events import Emit
from trajcompress.summarize.endpoint.leases.messages import (
    CallAnswered,
    CallFailed,
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
from trajcompress.summarize.endpoint.limiter import AdmittedTurn, RateLimiter
from trajcompress.summarize.endpoint.outage import Outage


class Leases:
    """Gives turns to workers, and takes them back from those that die. Lives on one event loop.

    Args:
        limiter: admits the requests of all workers.
        outage: knows what becomes of them.
        timeout_s: how long a request may take, in seconds.
        emit: sink of events, for pauses.
    """

    def __init__(self, limiter: RateLimiter, outage: Outage, timeout_s: float, emit: Emit) -> None:
        self._limiter = limiter
        self._outage = outage
        self._timeout_s = timeout_s
        self._emit = emit
        self._given: dict[tuple[int, int], AdmittedTurn] = {}  # by worker and number
        self._waiting: dict[tuple[int, int], asyncio.Task[Any] | None] = {}
        self._withdrawn: set[tuple[int, int]] = set()  # before they were looked at

    async def answer(self, worker: int, question: LeaseQuestion) -> Any:
        """Answer a worker's question, when it is time."""
        match question:
            case TurnWanted(turn, tokens):
                try:
                    return await self._give((worker, turn), tokens)
                except SummarizerUnusableError as error:
                    return self._stopped(error)
            case CallFailed(failure, row_id, age_s, is_last, before):
                self.emitted(worker, before)
                began = asyncio.get_running_loop().time() - age_s
                try:
                    return await self._outage.failed(failure, row_id, began, self._emit, is_last=is_last)
                except SummarizerUnusableError as error:
                    return self._stopped(error)
            case RowFailed(row_id, reason, in_time):
                return await self._outage.retry_in(row_id, reason, in_time=in_time)

    def _stopped(self, error: SummarizerUnusableError) -> SummarizerUnusableError:
        """Admit nobody any more; return what whoever asked is to raise."""
        self._limiter.admit_one_at_a_time(math.inf)
        return error

    async def _give(self, key: tuple[int, int], tokens: int) -> TurnGiven | None:
        if key in self._withdrawn:
            self._withdrawn.discard(key)
            return None
        self._waiting[key] = asyncio.current_task()
        try:
            turn = await self._limiter.admit(tokens)
        finally:
            del self._waiting[key]
        self._given[key] = turn
        self._outage.sent(self._timeout_s, self._emit)
        return TurnGiven(self._outage.has_answered)

    def emitted(self, worker: int, news: Iterable[LeaseNews]) -> None:
        """Take note of what a worker wants known."""
        for each in news:
            self._note(worker, each)

    def _note(self, worker: int, news: LeaseNews) -> None:
        match news:
            case TurnSent(turn):
                if given := self._given.get((worker, turn)):
                    given.sent()
            case TurnEnded(turn):
                self._end((worker, turn), news)
            case CallsPaused(seconds):
                self._limiter.pause(seconds)
            case CallAnswered(age_s):
                self._outage.answered(asyncio.get_running_loop().time() - age_s, self._emit)
            case RowForgotten(row_id):
                self._outage.forget(row_id)
            case CallsEnd():
                self._limiter.admit_one_at_a_time(math.inf)

    def _end(self, key: tuple[int, int], ended: TurnEnded) -> None:
        if (given := self._given.pop(key, None)) is None:
            if waiting := self._waiting.get(key):
                waiting.cancel()
            else:
                self._withdrawn.add(key)
            return
        if ended.was_sent:
            given.sent()
        if ended.tokens is not None:
            given.settle(ended.tokens)
        given.end()

    def died(self, worker: int) -> None:
        """Take back the turns of a worker that is gone; their requests may have gone out."""
        for key in [key for key in self._given if key[0] == worker]:
            given = self._given.pop(key)
            given.sent()
            given.end()
        self._withdrawn = {key for key in self._withdrawn if key[0] != worker}
