"""A plan as JSON values: what ``plan --json`` prints, and its tables show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from trajcompress.planning.job import DatasetPlan
from trajcompress.planning.requests import Limits, Requests, Span
from trajcompress.settings import Settings
from trajcompress.summarize.endpoint.priced import Price

_SHARES = (0.5, 0.9, 0.99, 1.0)

Figures: TypeAlias = dict[str, Any]


def as_figures(planned: DatasetPlan, each: Sequence[Settings], price: Price | None) -> Figures:
    """Return a plan as JSON values; its targets are those of ``each`` of the settings.

    ``requests`` are those for the model that is named, or else for one that might be: the built-in summariser needs
    none. Of each span ``low`` is the likely: answers of the length that is asked for.
    """
    settings = each[0]
    chosen = settings.summarization
    limits = Limits(chosen.rpm, chosen.tpm, settings.processing.max_concurrent_requests)
    targets = [
        target.as_dict() | {"way": _way(of_target), "requests": _requests(target.requests, limits, price)}
        for target, of_target in zip(planned.targets, each, strict=True)
    ]
    bins = planned.lengths.bins([target.target_max_tokens for target in planned.targets])
    quantiles = planned.lengths.quantiles(_SHARES)
    return {
        "tokenizer": planned.tokenizer,
        "model": chosen.called,
        "price": {"in": price.sent, "out": price.written} if price else None,
        "tpm": chosen.tpm,
        "targets": targets,
        "lengths": {
            "quantiles": {str(share): tokens for share, tokens in quantiles.items()},
            "bins": [{"over": each.over, "up_to": each.up_to, "rows": each.rows} for each in bins],
        },
        "changed_inputs": dict(planned.changed),
        "left_out": [left.as_dict() for left in planned.left_out],
    }


def _way(settings: Settings) -> str:
    """Name the way in which rows are brought to the target."""
    if settings.compression.mode == "segments":
        return "segments"
    return "summaries only" if settings.compression.prune == "off" else "cleared first"


def _requests(requests: Requests, limits: Limits, price: Price | None) -> Figures:
    minutes, bound_by = requests.minutes(limits)
    return {
        "calls": requests.calls,
        "prompt_tokens": requests.prompt_tokens,
        "completion_tokens": {"low": requests.asked, "high": requests.most_written},
        "most": {"calls": requests.most_calls, "prompt_tokens": requests.most_prompt_tokens},
        "largest": requests.largest,
        "cost_usd": _span(requests.cost_usd(price)) if price else None,
        "minutes": _span(minutes),
        "bound_by": bound_by,
    }


def _span(span: Span) -> Figures:
    return {"low": span.low, "high": span.high}
