"""A summariser that asks only for what is not stored yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Protocol

from msgspec import Struct

from trajcompress.errors import AwaitsBatchError, OutputError, SummaryError
from trajcompress.summarize.answers.judge import judge_text
from trajcompress.summarize.base import Around, Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.cache.claims import Claims
from trajcompress.summarize.cache.recovery import SummaryCache
from trajcompress.summarize.cache.store import Stored, SummaryStore
from trajcompress.summarize.retry import OF_THE_SERVER, Retry

_SPENT = "\nspent"
"""Ends the key of what tries have cost that gave no summary."""
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0
"""How often is looked for a summary that somebody else asks for."""


class KeyedSummarizer(Summarizer, Protocol):
    """A summariser whose requests can be distinguished by everything that shapes the answer."""

    def request_key(self, request: SummaryRequest, *, anywhere: bool = False) -> str:
        """Return the same key for two requests only where any answer to one is an answer to the other.

        By ``anywhere`` also where another endpoint is asked, at which the name of the model may mean another.
        """
        ...


class Stores(Struct, frozen=True):
    """Where summaries are kept.

    Args:
        of_run: the summaries of this run, by row and request, from whatever endpoint: it may move meanwhile. What is
            found there cost what it cost when it was made, so that a resumed run reports the same figures as one that
            was not interrupted. None where there is no run.
        cache: the summaries of all runs, by request and endpoint alone. What is found there cost nothing, and is a
            cache hit.
        replaced: the summaries of runs that this one replaces in its folder, by request from whatever endpoint. What
            is found there is a cache hit, too.
        claims: who of those that share the cache is asking for what; None where nobody else does.
    """

    of_run: SummaryStore | None
    cache: SummaryStore | SummaryCache | None = None
    replaced: SummaryStore | None = None
    claims: Claims | None = None


class StoredSummarizer(Around[KeyedSummarizer]):
    """Looks where summaries are kept before it asks.

    Args:
        inner: who is asked.
        stores: where it looks; they belong to whoever opened them.
        fallback: the name of the model that is asked where this one fails, if there is one.
        finds_answers: whether ``inner`` finds all answers of the run again, also those that were no summary, and
            counts what they cost each time, as one does that asks by batches.
        found: called with each summary that was kept and can be used.
    """

    def __init__(
        self,
        inner: KeyedSummarizer,
        stores: Stores,
        *,
        fallback: str | None = None,
        finds_answers: bool = False,
        found: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(inner)
        self._of_run = stores.of_run
        self._cache = stores.cache
        self._replaced = stores.replaced
        self._claims = stores.claims
        self._fallback = fallback
        self._finds_answers = finds_answers
        self._found = found or (lambda: None)
        self._charged: set[str] = set()  # requests whose earlier tries are in the figures of their row

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Return the stored summary, or ask for one and store it.

        What is stored is judged as an answer is: another version, or a run with another tokenizer, may have kept it.
        One that cannot be used is asked for anew, and gives its place to what comes.

        Raises as the inner summariser does, and again as it did for the same request if :meth:`keep_failure` kept it.
        """
        key = self._inner.request_key(request, anywhere=True)
        row_key = f"{request.row_id}\n{key}"
        known = self._of_run.find(row_key) if self._of_run else None
        if (usable := _judged(known, request)) is not None and known is not None:
            usage.add(known.usage)
            usage.reused += 1
            self._found()
            return usable
        shared_key = self._shared_key(request)
        if self._fallback is not None:
            self._fail_again(row_key, shared_key, usage)
        replaced = self._replaced.find(key) if self._replaced else None
        async with self._claimed(shared_key, request, replaced) as cached:
            own = Usage()
            summary = await self._ask_and_charge(request, row_key, (cached, replaced), usage, own)
            stored = Stored(summary, own)
            if self._of_run and self._of_run.is_remote:
                await asyncio.to_thread(self._of_run.add, row_key, stored, instead_of=known)
            elif self._of_run:  # first: it is kept where the cache cannot be written
                self._of_run.add(row_key, stored, instead_of=known)
            if self._cache and not own.cache_hits:
                self._cache.add(shared_key, stored, instead_of=cached)
        return summary

    @asynccontextmanager
    async def _claimed(
        self, key: str, request: SummaryRequest, replaced: Stored | None
    ) -> AsyncIterator[Stored | None]:
        """Give what the cache holds; where that cannot be used, nobody else that shares it asks for it meanwhile."""
        cached = self._cache.find(key) if self._cache else None
        if not self._cache or not self._claims or _usable((cached, replaced), request) is not None:
            yield cached
        elif (found := await self._taken_or_found(self._cache, self._claims, key, request)) is not None:
            yield found
        else:
            try:
                yield self._cache.find(key)  # whoever had the claim before may have added it
            finally:
                self._claims.release(key)

    @staticmethod
    async def _taken_or_found(
        cache: SummaryStore | SummaryCache, claims: Claims, key: str, request: SummaryRequest
    ) -> Stored | None:
        """Wait until a key is claimed, or until the cache has a summary that can be used; return that."""
        pause = _FIRST_PAUSE_S
        with request.waiting():
            while not claims.take(key):
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
                if _judged(found := cache.find(key), request) is not None:
                    return found
        return None

    async def _ask_and_charge(
        self, request: SummaryRequest, row_key: str, kept: Sequence[Stored | None], usage: Usage, own: Usage
    ) -> Summary:
        """Ask, and add what it has cost to ``usage`` and ``own``, also where it gave no summary."""
        spent = self._spent(row_key, usage)
        try:
            return await self._ask(request, kept, own)
        except AwaitsBatchError:  # what it has cost so far is found with the replies in the next round
            raise
        except BaseException:  # an interrupt, too, comes after answers that were paid for
            self._spend(row_key, spent, own)
            raise
        finally:
            usage.add(own)

    def _spent(self, row_key: str, usage: Usage) -> Stored | None:
        """Add what tries of a request have cost that gave no summary, in sessions before this one."""
        spent = self._of_run.find(row_key + _SPENT) if self._of_run else None
        if spent is not None and row_key not in self._charged and not self._finds_answers:
            self._charged.add(row_key)
            usage.add(spent.usage)
        return spent

    def _spend(self, row_key: str, before: Stored | None, own: Usage) -> None:
        """Keep what a try has cost that gave no summary, where answers were paid for, by it or by those before."""
        if self._of_run is None or not (own.completion_tokens or own.prompt_tokens or (before and own.api_calls)):
            return
        total = Usage()
        for usage in (before.usage if before and not self._finds_answers else Usage(), own):
            total.add(usage)
        self._charged.add(row_key)
        with suppress(OutputError):  # another error is on its way
            self._of_run.add(row_key + _SPENT, Stored(Summary("", "spent"), total), instead_of=before)

    def keep_failure(self, request: SummaryRequest, failure: SummaryError, cost: Usage) -> None:
        """Keep a failure that the fallback has made good: the summary is there, so this one is not asked again.

        Other runs may ask again if it was the server that failed.
        """
        key = self._inner.request_key(request, anywhere=True)
        words = Summary(str(failure).removeprefix(f"{failure.reason}: "), failure.reason)
        if self._of_run:
            self._of_run.add(self._failure_key(f"{request.row_id}\n{key}"), Stored(words, cost))
            self._of_run.remove(f"{request.row_id}\n{key}{_SPENT}")  # it is in that cost
        if self._cache and failure.reason not in OF_THE_SERVER:
            self._cache.add(self._failure_key(self._shared_key(request)), Stored(words, cost))

    def _shared_key(self, request: SummaryRequest) -> str:
        return self._inner.request_key(request) if self._cache else ""

    def _fail_again(self, row_key: str, shared_key: str, usage: Usage) -> None:
        kept = self._of_run.find(self._failure_key(row_key)) if self._of_run else None
        if kept is not None:
            usage.add(kept.usage)
        elif self._cache:
            kept = self._cache.find(self._failure_key(shared_key))
        if kept is not None:
            raise SummaryError(kept.summary.summarizer, kept.summary.text)

    def _failure_key(self, key: str) -> str:
        """Return where a failure is kept: as a summary whose text is why, and whose author is the reason."""
        return f"{key}\nfailed, then {self._fallback}"

    async def _ask(self, request: SummaryRequest, kept: Iterable[Stored | None], usage: Usage) -> Summary:
        usable = _usable(kept, request)
        if usable is None:
            return await self._inner.summarize(request, usage)
        usage.cache_hits += 1
        usage.reused += 1
        self._found()
        return usable


def _usable(kept: Iterable[Stored | None], request: SummaryRequest) -> Summary | None:
    """Return the first that can be used."""
    return next((summary for each in kept if (summary := _judged(each, request)) is not None), None)


def _judged(stored: Stored | None, request: SummaryRequest) -> Summary | None:
    """Return a stored summary as far as it can be used."""
    if stored is None:
        return None
    verdict = judge_text(stored.summary.text, request)
    return None if isinstance(verdict, Retry) else replace(stored.summary, text=verdict)
