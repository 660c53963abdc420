"""What the calls of a run have cost in all its sessions, and what they may."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from trajcompress.errors import SettingsError, SummarizerUnusableError
from trajcompress.run.build.prices import listed_price, price_of
from trajcompress.run.folder.summaries import RunSummaries
from trajcompress.settings import Settings
from trajcompress.summarize.endpoint.priced import Spent
from trajcompress.wording import counted


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


def spent_before(settings: Settings, summaries: RunSummaries, note: Callable[[str], None]) -> Spent:
    """Return what earlier sessions of a run have paid for the summaries that it keeps.

    Those that are damaged are repaired, which is noted.

    Raises:
        OutputError: they cannot be read.
    """
    if settings.summarization.max_cost is None or not summaries.exists():
        return Spent(0.0, 0)
    price = price_of(settings)
    with contextlib.closing(summaries.open(note)) as store:
        store.fetch()
        usages = list(store.usages())
    costs = (each.cost_usd if each.cost_usd is not None else price.cost_of(each) if price else 0.0 for each in usages)
    return Spent(sum(costs), sum(each.api_calls for each in usages))


def ceiling(settings: Settings, before: Spent, spent: Callable[[], Spent | None]) -> Callable[[int], None]:
    """Return what is given how many calls are open, and raises SummarizerUnusableError where one more costs too much.

    What calls will cost is the average of those before.

    Args:
        settings: say how much may be spent.
        before: what was, in earlier sessions.
        spent: gives what this session has spent, None where nobody knows.
    """
    most = settings.summarization.max_cost

    def check(open_calls: int) -> None:
        if most is None:
            return
        if (now := spent()) is None:
            raise SummarizerUnusableError(
                "unknown_cost",
                "the server does not count tokens, so nobody knows what its answers cost; go on without --max-cost",
                has_answered=True,
            )
        usd, calls = before.usd + now.usd, before.calls + now.calls
        each = usd / calls if calls else 0.0
        if usd >= most or usd + (open_calls + 1) * each > most:
            opened = f", {counted(open_calls, 'call')} under way" if open_calls else ""
            raise SummarizerUnusableError(
                "max_cost",
                f"${usd:,.4f} are spent{opened}, a call costs some ${each:,.4f}, and --max-cost is {most:g}",
                has_answered=True,
            )

    return check
