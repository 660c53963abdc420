"""What calls of an endpoint go by, built from the settings: for this process, or leased by all workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trajcompress.engine.messages import Channel
from trajcompress.events import Emit
from trajcompress.settings import Settings
from trajcompress.settings.values import mask_secrets
from trajcompress.summarize.endpoint.failures import Failures
from trajcompress.summarize.endpoint.leases.driver import Leases
from trajcompress.summarize.endpoint.leases.worker import LeasedLimiter
from trajcompress.summarize.endpoint.limiter import RateLimiter
from trajcompress.summarize.endpoint.limits import Limiter
from trajcompress.summarize.endpoint.outage import Outage


class Calls(NamedTuple):
    """What all calls of an endpoint go by: who admits them, and what is known of those before."""

    limiter: Limiter
    failures: Failures


def build_calls(settings: Settings) -> Calls:
    """Return what calls go by that are made for whoever asks, also again after all have failed."""
    limiter = _limiter(settings, lambda _: None)
    return Calls(limiter, _outage(settings, limiter))


def build_calls_of_run(settings: Settings, check_cost: Callable[[int], None]) -> Calls:
    """Return what calls go by that this process makes in a run, as long as more may be spent."""
    limiter = _limiter(settings, check_cost)
    return Calls(limiter, _outage(settings, limiter, stops_for_good=True))


def build_leases(settings: Settings, emit: Emit, check_cost: Callable[[int], None]) -> Leases:
    """Return what workers lease their calls of, as long as more may be spent."""
    limiter = _limiter(settings, check_cost)
    return Leases(limiter, _outage(settings, limiter), settings.summarization.timeout, emit)


def build_leased_limiter(settings: Settings, channel: Channel) -> LeasedLimiter:
    """Return what admits calls in a worker: its driver has the limiter of all."""
    chosen = settings.summarization
    spaces = chosen.rpm is not None or chosen.tpm is not None
    return LeasedLimiter(channel, chosen.tpm, settings.processing.max_concurrent_requests, spaces=spaces)


def _limiter(settings: Settings, check_cost: Callable[[int], None]) -> RateLimiter:
    chosen = settings.summarization
    return RateLimiter(chosen.rpm, chosen.tpm, settings.processing.max_concurrent_requests, check_cost)


def _outage(settings: Settings, limiter: RateLimiter, *, stops_for_good: bool = False) -> Outage:
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
        stops_for_good=stops_for_good,
    )
