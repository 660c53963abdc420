"""Noticing that it is the server that fails, not a row.

An endpoint that is down would turn every row of a long run into a failed one. So failures in a row, with no success
between, first pause all calls, and if the next call fails too, stop the run, which can go on later. A row that could
not even be sent is asked for again as long as nobody else gets through: only another's success, begun after that, and
one more failure prove that the failure is its own. A summary that was stored proves nothing.
"""

from __future__ import annotations

import asyncio
import math

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage


class BreakerSummarizer:
    """Guards a summariser that calls a server.

    Args:
        inner: who is asked.
        most_in_a_row: failures in a row after which calls are paused.
        pause_s: how long, in seconds.
    """

    def __init__(self, inner: Summarizer, *, most_in_a_row: int, pause_s: float) -> None:
        self._inner = inner
        self._most_in_a_row = most_in_a_row
        self._pause_s = pause_s
        self._in_a_row = 0
        self._success_began = -math.inf  # loop time, of the success that began last
        self._pauses = 0
        self._resume_at = 0.0  # loop time
        self._broken: SummarizerUnusableError | None = None

    @property
    def name(self) -> str:
        """The name of who is asked."""
        return self._inner.name

    async def aclose(self) -> None:
        """Close who is asked."""
        await self._inner.aclose()

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise, once calls are not paused.

        Raises:
            SummaryError: this row's summary failed.
            SummarizerUnusableError: the server refuses every call, or fails at every call.
        """
        now = asyncio.get_running_loop().time
        failed_at = math.inf
        while True:
            with request.waiting():
                await self._wait()
            if self._broken is not None:
                raise self._broken
            pauses, reused, began = self._pauses, usage.reused, now()
            try:
                summary = await self._inner.summarize(request, usage)
            except SummarizerUnusableError:
                raise
            except SummaryError as error:
                self._note_failure(error, pauses)
                if self._broken is not None:
                    raise self._broken from error
                if error.reason != "connection" or self._success_began > failed_at:
                    raise
                failed_at = now()
            except asyncio.CancelledError:  # the time of this row is up, as of all rows where a server only hangs
                self._note_failure(SummaryError("timeout", "no answer within the time for a row"), pauses)
                raise
            else:
                if usage.reused == reused:
                    self._success_began = max(self._success_began, began)
                    self._in_a_row = 0
                return summary

    async def _wait(self) -> None:
        left = self._resume_at - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    def _note_failure(self, error: SummaryError, pauses_before: int) -> None:
        self._in_a_row += 1
        if self._in_a_row < self._most_in_a_row or pauses_before < self._pauses:
            return
        if self._pauses and self._in_a_row > self._most_in_a_row:
            self._broken = SummarizerUnusableError(
                "every_call_fails", f"{self._in_a_row} tries at a summary in a row failed, the last one with: {error}"
            )
            return
        self._pauses += 1
        self._resume_at = asyncio.get_running_loop().time() + self._pause_s
