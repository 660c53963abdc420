"""What the calls of a run have cost in all its sessions, and what they may."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from trajcompress.errors import SettingsError, SummarizerUnusableError
from trajcompress.run.build.prices import listed_price, price_of
from trajcompress.run.folder.summaries import RunSummaries
from trajcompress.settings import Settings


def check_priced(settings: Settings) -> None:
    """Refuse a ceiling that nobody could hold.

    Raises:
        SettingsError: a model has no price, or calls go out before anybody knows what they cost.
    """
    chosen = settings.summarization
    if chosen.max_cost is None or chosen.is_built_in:
        return
    if chosen.batch:
        raise SettingsError(
            "summarization.max_cost: --max-cost is for single calls; --batch sends all before its cost is known: "
            "see trajcompress plan"
        )
    if chosen.is_custom:
        raise SettingsError(
            f"summarization.max_cost: nobody knows what {chosen.called} costs; --max-cost is for calls of a --model"
        )
    if price_of(settings) is None:
        raise SettingsError(
            f"summarization.max_cost: nobody knows what {chosen.called} costs; give --price-in and --price-out"
        )
    if chosen.fallback_model is not None and listed_price(chosen.fallback_model) is None:
        raise SettingsError(
            f"summarization.max_cost: nobody knows what the fallback {chosen.fallback_model} costs; only models of "
            "configs/prices.yaml can be one with --max-cost"
        )


def spent_before(settings: Settings, summaries: RunSummaries, note: Callable[[str], None]) -> float:
    """Return what earlier sessions of a run have paid for the summaries that it keeps, in USD.

    Those that are damaged are repaired, which is noted.

    Raises:
        OutputError: they cannot be read.
    """
    if settings.summarization.max_cost is None or not summaries.exists():
        return 0.0
    price = price_of(settings)
    with contextlib.closing(summaries.open(note)) as store:
        store.fetch()
        return sum(
            usage.cost_usd if usage.cost_usd is not None else price.cost_of(usage) if price else 0.0
            for usage in store.usages()
        )


def ceiling(settings: Settings, before: float, spent: Callable[[], float | None]) -> Callable[[], None]:
    """Return what raises SummarizerUnusableError once no more may be spent.

    Args:
        settings: say how much may be.
        before: what was, in earlier sessions, in USD.
        spent: gives what this session has spent, None where nobody knows.
    """
    most = settings.summarization.max_cost

    def check() -> None:
        if most is None:
            return
        if (now := spent()) is None:
            raise SummarizerUnusableError(
                "unknown_cost",
                "the server does not count tokens, so nobody knows what its answers cost; go on without --max-cost",
                has_answered=True,
            )
        if before + now >= most:
            raise SummarizerUnusableError(
                "max_cost", f"${before + now:,.4f} are spent, and --max-cost is {most:g}", has_answered=True
            )

    return check
