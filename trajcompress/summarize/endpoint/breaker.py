"""Asking for a row again where it is the server that failed, and not the row."""

from __future__ import annotations

import asyncio
import itertools

from trajcompress.errors import SummarizerUnusableError, SummaryError
from trajcompress.summarize.base import Around, Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.endpoint.failures import Failures
from trajcompress.summarize.endpoint.outage import UNCLEAR
from trajcompress.summarize.retry import OF_THE_SERVER, Retry


class BreakerSummarizer(Around[Summarizer]):
    """Guards a summariser that calls a server: no row fails by an outage.

    Args:
        inner: who is asked; it notes in ``outage`` what its calls come to.
        outage: what is known of the server.
        time_s: what a row has for its calls, in seconds, for messages.
    """

    def __init__(self, inner: Summarizer, outage: Failures, time_s: float) -> None:
        super().__init__(inner)
        self._outage = outage
        self._time_s = time_s

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise, as often as the server and not the row is at fault.

        Raises:
            SummaryError: this row's summary failed.
            TimeoutError: this row's time is up.
            SummarizerUnusableError: the server refuses every call, or has failed at every call for too long.
        """
        self._outage.ask_again()
        try:
            return await self._ask(request, usage)
        except SummarizerUnusableError as failure:
            with request.waiting():  # else the end of the row's time would hide why the run stops
                await self._outage.drain()
            raise failure.with_traceback(None) from failure.__cause__
        except SummaryError as failure:
            # A frame that it passed holds it: with that, it and the row would live until cycles are looked for.
            raise failure.with_traceback(None) from failure.__cause__
        finally:
            self._outage.forget(request.row_id)

    async def _ask(self, request: SummaryRequest, usage: Usage) -> Summary:
        for tries in itertools.count(1):
            began = asyncio.get_running_loop().time()
            try:
                return await self._inner.summarize(request, usage)
            except SummarizerUnusableError:
                raise
            except SummaryError as failure:
                if not _is_of_the_server(failure):
                    raise
                reason = failure.reason
                if (pause := await self._outage.retry_in(request.row_id, reason)) is None:
                    raise
            except asyncio.CancelledError as cancelled:
                if not await request.renew(cancelled):
                    raise
                hung = Retry("timeout", f"{self.name}: no answer within the {self._time_s:g} s that a row has")
                await self._outage.failed(hung, request.row_id, began, request.emit)
                reason = hung.reason
                if (pause := await self._outage.retry_in(request.row_id, reason, in_time=False)) is None:
                    raise TimeoutError from None
            request.emit("retried", model=self.name, attempt=tries, reason=reason)
            with request.waiting():
                await asyncio.sleep(pause)
        raise AssertionError


def _is_of_the_server(failure: SummaryError) -> bool:
    return failure.reason in OF_THE_SERVER or failure.reason == UNCLEAR
