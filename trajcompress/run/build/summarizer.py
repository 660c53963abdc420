"""The summariser of a run, as settings want it: who is asked, within which limits, and who else where that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from trajcompress.compaction.region import SummaryShare
from trajcompress.errors import SettingsError
from trajcompress.run.build.calls import build_limiter, build_outage
from trajcompress.run.build.prices import listed_price, price_of
from trajcompress.settings import Settings, require_api_key
from trajcompress.settings.credentials import PLACEHOLDER_KEY
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.cache.claims import Claims
from trajcompress.summarize.cache.recovery import SummaryCache
from trajcompress.summarize.cache.summarizer import StoredSummarizer, Stores
from trajcompress.summarize.chunks import ChunkingSummarizer, least_context
from trajcompress.summarize.custom.load import load_summarizer
from trajcompress.summarize.custom.summarizer import CustomSummarizer
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.summarize.endpoint.breaker import BreakerSummarizer
from trajcompress.summarize.endpoint.client import OpenAISummarizer
from trajcompress.summarize.endpoint.connection import Endpoint
from trajcompress.summarize.endpoint.failures import Failures
from trajcompress.summarize.endpoint.limits import Limiter
from trajcompress.summarize.endpoint.priced import Price, PricedSummarizer
from trajcompress.summarize.extractive import ExtractiveSummarizer
from trajcompress.summarize.fallback import FallbackSummarizer
from trajcompress.tokens.counter import TokenCounter


def require_context(settings: Settings, counter: TokenCounter) -> None:
    """Raise SettingsError where what a model takes at once leaves no room for turns."""
    context, size = settings.summarization.context_tokens, settings.compression.summary_target_tokens
    if context is None:
        return
    most = SummaryShare().ceiling if size == "auto" else size
    if context < (least := least_context(most, counter.count_text)):
        raise SettingsError(
            f"summarization.context_tokens: {context} leaves no room for turns beside the instructions and "
            f"summaries of {most} tokens; it should be {least} at least (--summarizer-context), or the summaries "
            "shorter (--summary-target-tokens)"
        )


@contextlib.contextmanager
def open_cache(
    settings: Settings, note: Callable[[str], None]
) -> Iterator[tuple[SummaryCache, Claims] | tuple[None, None]]:
    """Open the summaries that runs share, and the claims of those that share them; None where there are none."""
    if settings.summarization.cache is None:
        yield None, None
        return
    folder = Path(settings.summarization.cache)
    with (
        contextlib.closing(SummaryCache(folder / "summaries.sqlite", note)) as cache,
        contextlib.closing(Claims(folder / "claims.sqlite", note)) as claims,
    ):
        yield cache, claims


def build_summarizer(
    settings: Settings,
    stores: Stores | None = None,
    limiter: Limiter | None = None,
    failures: Failures | None = None,
    batches: BatchStore | None = None,
) -> Summarizer:
    """Return the summariser: the built-in one unless a model is named.

    Its calls are admitted by the ``limiter`` and noted in ``failures``, both its own where they are not given. With a
    store of ``batches`` models are asked by these.

    Raises:
        SettingsError: a key is needed and there is none.
    """
    chosen = settings.summarization
    if chosen.is_built_in:
        return ExtractiveSummarizer()
    if chosen.is_custom:
        return _standing_in(build_custom(settings, stores, limiter), settings)
    assert chosen.model is not None  # noqa: S101 - as it is neither of these
    key = require_api_key(settings)
    admitting: Limiter
    if limiter is None or failures is None:
        admitting = own = build_limiter(settings)
        outage: Failures = build_outage(settings, own)
    else:
        admitting, outage = limiter, failures

    def model(name: str, max_retries: int, price: Price | None, *, is_last: bool) -> PricedSummarizer:
        endpoint = Endpoint(
            model=name,
            base_url=chosen.base_url,
            api_key=key,
            has_key=key != PLACEHOLDER_KEY,
            temperature=chosen.temperature,
            timeout=chosen.timeout,
        )
        asked = OpenAISummarizer(
            endpoint,
            max_retries=max_retries,
            retry_delay=chosen.retry_delay,
            limiter=admitting,
            outage=outage,
            is_last=is_last,
            batches=batches,
            sends_single=chosen.batch_fallback,
            redact_secrets=chosen.redact != "off",
        )
        return PricedSummarizer(asked, price)

    other = chosen.fallback_model
    first = model(chosen.model, chosen.max_retries, price_of(settings), is_last=other is None)
    by_batches = batches is not None
    storing = partial(StoredSummarizer, finds_answers=by_batches, found=outage.known)
    kept = storing(first, stores, fallback=other) if stores else None
    models: Summarizer = kept or first
    if other is not None:
        second = model(other, 0, listed_price(other), is_last=True)
        models = FallbackSummarizer(
            models,
            model=storing(second, stores) if stores else second,
            replaced=kept.keep_failure if kept else None,
        )
    return _standing_in(BreakerSummarizer(models, outage, settings.processing.per_trajectory_timeout), settings)


def build_custom(settings: Settings, stores: Stores | None, limiter: Limiter | None) -> Summarizer:
    """Return the summariser of the user's own that is asked for.

    Raises:
        SettingsError: it cannot be found, or is none.
    """
    chosen = settings.summarization
    assert chosen.summarizer is not None  # noqa: S101 - else nobody asks for it
    own = CustomSummarizer(
        load_summarizer(chosen.summarizer),
        limiter=limiter or build_limiter(settings),
        redact_secrets=chosen.redact != "off",
        most_in_a_row=chosen.max_failures_in_a_row,
    )
    return StoredSummarizer(own, stores) if stores else own


def _standing_in(summarizer: Summarizer, settings: Settings) -> Summarizer:
    """Return it within its context, and with its fallback."""
    chosen = settings.summarization
    if chosen.context_tokens is not None:
        summarizer = ChunkingSummarizer(summarizer, chosen.context_tokens)
    if chosen.on_failure == "extractive":
        return FallbackSummarizer(summarizer, builtin=ExtractiveSummarizer())
    return summarizer
