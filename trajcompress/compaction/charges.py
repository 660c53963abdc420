"""What the summaries of a row cost, in its metrics."""

from __future__ import annotations

from dataclasses import replace

from trajcompress.metrics.row import RowMetrics
from trajcompress.summarize.base import Usage, add_costs

_NOTHING = Usage()


def charged(metrics: RowMetrics, usage: Usage) -> RowMetrics:
    """Add what the summaries of a row cost, had or not."""
    if usage == _NOTHING:
        return metrics
    return replace(
        metrics,
        summarization_api_calls=metrics.summarization_api_calls + usage.api_calls,
        summarization_errors=metrics.summarization_errors + usage.errors,
        non_summaries=metrics.non_summaries + usage.non_summaries,
        cache_hits=metrics.cache_hits + usage.cache_hits,
        prompt_tokens=metrics.prompt_tokens + usage.prompt_tokens,
        cached_tokens=metrics.cached_tokens + usage.cached_tokens,
        completion_tokens=metrics.completion_tokens + usage.completion_tokens,
        cost_usd=add_costs(metrics.cost_usd, usage.cost_usd),
        redactions=metrics.redactions + usage.redactions,
        latency_s=metrics.latency_s + usage.latency_s,
    )


def charged_in_all(metrics: RowMetrics, usage: Usage) -> RowMetrics:
    """Say what all tries of a row cost, in place of the last one alone; times and cache hits stay those of that."""
    return replace(
        metrics,
        summarization_api_calls=usage.api_calls,
        summarization_errors=usage.errors,
        non_summaries=usage.non_summaries,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost_usd=usage.cost_usd,
    )


def charged_besides(metrics: RowMetrics, other: RowMetrics) -> RowMetrics:
    """Add what another try at the same row cost."""
    return replace(
        charged(
            metrics,
            Usage(
                api_calls=other.summarization_api_calls,
                errors=other.summarization_errors,
                cache_hits=other.cache_hits,
                prompt_tokens=other.prompt_tokens,
                completion_tokens=other.completion_tokens,
                cached_tokens=other.cached_tokens,
                redactions=other.redactions,
                latency_s=other.latency_s,
                cost_usd=other.cost_usd,
                non_summaries=other.non_summaries,
            ),
        ),
        passes=metrics.passes + other.passes,
    )
