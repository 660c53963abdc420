"""The summariser of a run, as settings want it: who is asked, within which limits, and who else where that fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from trajcompress.compaction.region import SummaryShare
from trajcompress.errors import SettingsError
from trajcompress.run.build.calls import Calls, build_calls
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
from trajcompress.summarize.endpoint.priced import PricedSummarizer
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
    calls: Calls | None = None,
    batches: BatchStore | None = None,
) -> Summarizer:
    """Return the summariser: the built-in one unless a model is named.

    Args:
        settings: which, and how it is asked.
        stores: where summaries are kept; nowhere unless given.
        calls: what its calls go by, which others may share; its own unless given.
        batches: the store of batches by which models are asked; one call after the other unless given.

    Raises:
        SettingsError: a key is needed and there is none, or a summariser of the user's own cannot be found.
    """
    chosen = settings.summarization
    if chosen.is_built_in:
        return ExtractiveSummarizer()
    calls = calls or build_calls(settings)
    if chosen.is_custom:
        return _standing_in(_custom(settings, stores, calls), settings)
    models = _models(settings, stores, calls, batches)
    return _standing_in(
        BreakerSummarizer(models, calls.failures, settings.processing.per_trajectory_timeout), settings
    )


def _models(settings: Settings, stores: Stores | None, calls: Calls, batches: BatchStore | None) -> Summarizer:
    """Return the model, and the one that is asked where it fails, if there is one; kept are the answers of each."""
    chosen = settings.summarization
    assert chosen.model is not None  # noqa: S101 - as it is neither built in nor the user's own
    other = chosen.fallback_model
    asked = _model(settings, chosen.model, calls, batches, max_retries=chosen.max_retries, is_last=other is None)
    first = PricedSummarizer(asked, price_of(settings))
    storing = partial(StoredSummarizer, finds_answers=batches is not None, found=calls.failures.known)
    kept = storing(first, stores, fallback=other) if stores else None
    if other is None:
        return kept or first
    asked = _model(settings, other, calls, batches, max_retries=0, is_last=True)
    second = PricedSummarizer(asked, listed_price(other))
    return FallbackSummarizer(
        kept or first,
        model=storing(second, stores) if stores else second,
        replaced=kept.keep_failure if kept else None,
    )


def _model(
    settings: Settings, name: str, calls: Calls, batches: BatchStore | None, *, max_retries: int, is_last: bool
) -> OpenAISummarizer:
    """Return what asks a model, the ``is_last`` that a row is asked of."""
    chosen = settings.summarization
    key = require_api_key(settings)
    return OpenAISummarizer(
        Endpoint(
            model=name,
            base_url=chosen.base_url,
            api_key=key,
            has_key=key != PLACEHOLDER_KEY,
            temperature=chosen.temperature,
            timeout=chosen.timeout,
        ),
        max_retries=max_retries,
        retry_delay=chosen.retry_delay,
        limiter=calls.limiter,
        outage=calls.failures,
        is_last=is_last,
        batches=batches,
        sends_single=chosen.batch_fallback,
        redact_secrets=chosen.redact != "off",
    )


def _custom(settings: Settings, stores: Stores | None, calls: Calls) -> Summarizer:
    """Return the summariser of the user's own that is asked for."""
    chosen = settings.summarization
    assert chosen.summarizer is not None  # noqa: S101 - else nobody asks for it
    own = CustomSummarizer(
        load_summarizer(chosen.summarizer),
        limiter=calls.limiter,
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
