"""A summariser that asks only for what is not stored yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from trajcompress.errors import SummaryError
from trajcompress.summarize.base import Around, Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.opened import SummaryCache
from trajcompress.summarize.retry import OF_THE_SERVER
from trajcompress.summarize.store import Stored, SummaryStore


class KeyedSummarizer(Summarizer, Protocol):
    """A summariser whose requests can be told apart by everything that shapes the answer."""

    def request_key(self, request: SummaryRequest) -> str:
        """Return the same key for two requests only where any answer to one is an answer to the other."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """Where summaries are kept.

    Args:
        record: the summaries of this run, by row and request. What is found there cost what it cost when it was made,
            so that a resumed run reports the same figures as one that was not interrupted.
        cache: the summaries of all runs, by request alone. What is found there cost nothing, and is a cache hit.
    """

    record: SummaryStore
    cache: SummaryStore | SummaryCache | None = None


class StoredSummarizer(Around[KeyedSummarizer]):
    """Looks in two places before it asks.

    Args:
        inner: who is asked.
        stores: where it looks; they belong to whoever opened them.
        fallback: the name of the model that is asked where this one fails, if there is one.
    """

    def __init__(
        self,
        inner: KeyedSummarizer,
        stores: Stores,
        *,
        fallback: str | None = None,
    ) -> None:
        super().__init__(inner)
        self._record = stores.record
        self._cache = stores.cache
        self._fallback = fallback

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Return the stored summary, or ask for one and store it.

        Raises as the inner summariser does, and again as it did for the same request if :meth:`keep_failure` kept it.
        """
        key = self._inner.request_key(request)
        row_key = f"{request.row_id}\n{key}"
        recorded = self._record.find(row_key)
        if recorded is not None:
            usage.add(recorded.usage)
            usage.reused += 1
            return recorded.summary
        if self._fallback is not None:
            self._fail_again(row_key, key, usage)
        own = Usage()
        try:
            summary = await self._ask(request, key, own)
        finally:
            usage.add(own)
        stored = Stored(summary, own)
        self._record.add(row_key, stored)  # first, so that it is kept where the cache cannot be written
        if self._cache and not own.cache_hits:
            self._cache.add(key, stored)
        return summary

    def keep_failure(self, request: SummaryRequest, failure: SummaryError, cost: Usage) -> None:
        """Keep a failure that the fallback has made good: the summary is there, so this one is not asked again.

        Other runs may ask again if it was the server that failed.
        """
        key = self._inner.request_key(request)
        words = Summary(str(failure).removeprefix(f"{failure.reason}: "), failure.reason)
        self._record.add(self._failure_key(f"{request.row_id}\n{key}"), Stored(words, cost))
        if self._cache and failure.reason not in OF_THE_SERVER:
            self._cache.add(self._failure_key(key), Stored(words, cost))

    def _fail_again(self, row_key: str, key: str, usage: Usage) -> None:
        kept = self._record.find(self._failure_key(row_key))
        if kept is not None:
            usage.add(kept.usage)
        elif self._cache:
            kept = self._cache.find(self._failure_key(key))
        if kept is not None:
            raise SummaryError(kept.summary.summarizer, kept.summary.text)

    def _failure_key(self, key: str) -> str:
        """Return where a failure is kept: as a summary whose text is why, and whose author is the reason."""
        return f"{key}\nfailed, then {self._fallback}"

    async def _ask(self, request: SummaryRequest, key: str, usage: Usage) -> Summary:
        cached = self._cache.find(key) if self._cache else None
        if cached is None:
            return await self._inner.summarize(request, usage)
        usage.cache_hits += 1
        usage.reused += 1
        return cached.summary
