"""A summariser whose calls are charged for."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from trajcompress.summarize.base import Around, Summary, SummaryRequest, Usage
from trajcompress.summarize.cache.summarizer import KeyedSummarizer

_MILLION = 1_000_000
BATCH_DISCOUNT = 0.5
"""The share of the price that providers take off for what goes with batches."""


class Price(Struct, frozen=True):
    """USD per million tokens: sent, written by the model, and sent but found in the provider's cache of prefixes.

    ``cached`` None is the price of any that are sent.
    """

    sent: float
    written: float
    cached: float | None = None

    def cost(self, prompt_tokens: int, completion_tokens: int, *, cached_tokens: int = 0) -> float:
        """Return what so many tokens cost, in USD; the cached ones are among those of the prompt."""
        cached = self.sent if self.cached is None else self.cached
        sent = (prompt_tokens - cached_tokens) * self.sent + cached_tokens * cached
        return (sent + completion_tokens * self.written) / _MILLION

    def by_batch(self) -> Price:
        """Return the price of what goes with batches."""
        share = 1 - BATCH_DISCOUNT
        return Price(self.sent * share, self.written * share)

    def cost_of(self, usage: Usage) -> float:
        """Return what calls cost, some of them with batches."""
        sent, written = usage.batched_prompt_tokens, usage.batched_completion_tokens
        whole = self.cost(usage.prompt_tokens, usage.completion_tokens, cached_tokens=usage.cached_tokens)
        return max(whole - self.cost(sent, written) + self.by_batch().cost(sent, written), 0.0)


class Spent(NamedTuple):
    """What calls have cost, in USD, and how many calls that were."""

    usd: float
    calls: int


class PricedSummarizer(Around[KeyedSummarizer]):
    """Adds to the account what the tokens of each summary cost.

    It stands within the stores of summaries: what they keep cost what it cost, whatever the price is by now.

    Args:
        inner: who is asked.
        price: of its tokens; None where nobody knows.
    """

    def __init__(self, inner: KeyedSummarizer, price: Price | None) -> None:
        super().__init__(inner)
        self._price = price

    async def summarize(self, request: SummaryRequest, usage: Usage) -> Summary:
        """Summarise, and charge for it, had or not. Raises as the inner summariser does."""
        own = Usage()
        try:
            return await self._inner.summarize(request, own)
        finally:
            own.cost_usd = self._cost(own)
            usage.add(own)

    def request_key(self, request: SummaryRequest, *, anywhere: bool = False) -> str:
        """Return the key of who is asked."""
        return self._inner.request_key(request, anywhere=anywhere)

    def _cost(self, own: Usage) -> float | None:
        answered = own.api_calls > own.errors or own.non_summaries > 0  # an answer that is none was written, too
        if not (answered or own.prompt_tokens or own.completion_tokens):
            return 0.0
        counts = own.prompt_tokens and (own.completion_tokens or not answered)
        if self._price is None or not counts:  # a server that does not count leaves nothing to go by
            return None
        return self._price.cost_of(own)
