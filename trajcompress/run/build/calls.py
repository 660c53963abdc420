"""Builds rate limiter and outage tracking from the settings: for this process, or leased by all workers."""

from __future__ import annotations

from collections.abc import Callable

from trajcompress.engine.messages import Channel
from trajcompress.events import Emit
from trajcompress.settings import Settings
from trajcompress.settings.values import mask_secrets
from trajcompress.summarize.endpoint.leases.driver import Leases
from trajcompress.summarize.endpoint.leases.worker import LeasedLimiter
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.outage import Outage


def build_limiter(settings: Settings, check_cost: Callable[[], None] = lambda: None) -> RateLimiter:
    """Return what admits calls of the models, as long as more may be spent."""
    chosen = settings.summarization
    return RateLimiter(chosen.rpm, chosen.tpm, settings.processing.max_concurrent_requests, check_cost)


def build_leased_limiter(settings: Settings, channel: Channel) -> LeasedLimiter:
    """Return what admits calls in a worker: its driver has the limiter of all."""
    chosen = settings.summarization
    spaces = chosen.rpm is not None or chosen.tpm is not None
    return LeasedLimiter(channel, chosen.tpm, settings.processing.max_concurrent_requests, spaces=spaces)


def build_leases(settings: Settings, emit: Emit, check_cost: Callable[[], None]) -> Leases:
    """Return what workers lease their calls of, as long as more may be spent."""
    limiter = build_limiter(settings, check_cost)
    return Leases(limiter, build_outage(settings, limiter), settings.summarization.timeout, emit)


def build_outage(settings: Settings, limiter: RateLimiter) -> Outage:
    """Return what is known of the endpoint; it has the limiter hold back calls."""
    chosen = settings.summarization
    return Outage(
        limiter,
        url=mask_secrets(chosen.base_url or "https://api.openai.com/v1"),
        first_pause_s=chosen.retry_delay,
        most_in_a_row=chosen.max_failures_in_a_row,
        max_retries=chosen.max_retries,
        max_outage_s=chosen.max_outage,
        begins_alone=not chosen.is_custom,  # that one has no address to be wrong, and notes no answers here
        is_known=settings.processing.retry_failed,  # only rows that failed before can fail now
    )
