"""A summariser that asks only for what is not stored yet."""

from __future__ import annotations

from typing import Protocol

from trajcompress.summarize.base import Summarizer, Summary, SummaryRequest, Usage
from trajcompress.summarize.store import Stored, SummaryStore


class KeyedSummarizer(Summarizer, Protocol):
    """A summariser whose requests can be told apart by everything that shapes the answer."""

    def request_key(self, request: SummaryRequest) -> str:
        """Return the same key for two requests only where any answer to one is an answer to the other."""
        ...


class StoredSummarizer:
    """Looks in two places before it asks.

    Args:
        inner: who is asked.
        record: the summaries of this run, by row and request. What is found there cost what it cost when it was made,
            so that a resumed run reports the same figures as one that was not interrupted.
        cache: the summaries of all runs, by request alone. What is found there cost nothing, and is a cache hit.
    """

    def __init__(self, inner: KeyedSummarizer, record: SummaryStore, cache: SummaryStore | None) -> None:
        self._inner = inner
        self._record = record
        self._cache = cache

    @property
    def name(self) -> str:
        """The name of who is asked."""
        return self._inner.name

    async def aclose(self) -> None:
        """Close who is asked; the stores belong to whoever opened them."""
        await self._inner.aclose()

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Return the stored summary, or ask for one and store it. Raises as the inner summariser does."""
        key = self._inner.request_key(request)
        row_key = f"{request.row_id}\n{key}"
        recorded = self._record.find(row_key)
        if recorded is not None:
            usage.add(recorded.usage)
            usage.reused += 1
            return recorded.summary
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

    async def _ask(self, request: SummaryRequest, key: str, usage: Usage) -> Summary:
        cached = self._cache.find(key) if self._cache else None
        if cached is None:
            return await self._inner.summarize(request, usage)
        usage.cache_hits += 1
        usage.reused += 1
        return cached.summary
