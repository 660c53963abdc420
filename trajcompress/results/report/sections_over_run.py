"""The sections on calls, latency and cost."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.results.report import plots_over_run
from trajcompress.results.report.figures import Figures, Stretch
from trajcompress.results.report.parts import Plot, Table, drawn
from trajcompress.wording import counted


def calls_over_run(figures: Figures) -> list[Plot]:
    """Return the sections; one that says so where no call was made."""
    stretches = figures.stretches
    if not stretches:
        text = "No call was made: the summaries are the built-in summariser's."
        return [Plot("calls", "Calls, latency and cost", text, size="wide")]
    totals = figures.totals
    failed = f"; {totals.summarization_errors:,} failed" if totals.summarization_errors else ""
    hits = f"; {totals.cache_hits:,} summaries came from a store instead" if totals.cache_hits else ""
    waited = [each for each in stretches if each.mean_latency is not None]
    longest = max((each.longest_latency or 0 for each in waited), default=0)
    table = _stretch_table(stretches)
    made = Plot(
        "calls",
        "Calls over the run",
        f"{totals.summarization_api_calls:,} HTTP requests, retries included{failed}{hits}.",
        label=f"Columns of calls by stretch of rows; {totals.summarization_api_calls:,} in all.",
        table=table,
        drawing=drawn(lambda width: plots_over_run.calls_svg(stretches, width=width), "third"),
        size="third",
    )
    if not waited:
        return [made]
    latency = Plot(
        "latency",
        "Latency over the run",
        f"Seconds that a row waited for its summary; {longest:,.1f} s at most.",
        label=f"Columns of mean and longest latency by stretch of rows; {longest:,.1f} seconds at most.",
        table=table,
        drawing=drawn(lambda width: plots_over_run.latency_svg(stretches, width=width), "third"),
        size="third",
    )
    return [made, latency, _cost(figures, table)]


def _cost(figures: Figures, table: Table) -> Plot:
    totals = figures.totals
    title, unknown, known = "Cost over the run", totals.asked_without_price, f"{totals.known_cost_usd:,.2f}"
    if not totals.has_price:
        return Plot(
            "cost",
            title,
            f"Not known: the metrics have no price of the calls of {counted(unknown, 'row')}.",
            size="third",
        )
    more = f" What {counted(unknown, 'row')} cost beside that is not known." if unknown else ""
    return Plot(
        "cost",
        title,
        f"${known} in all.{more}",
        label=f"A line that rises from 0 to {known} US dollars.",
        table=table,
        drawing=drawn(lambda width: plots_over_run.cost_svg(figures.stretches, width=width), "third"),
        size="third",
    )


def _stretch_table(stretches: Sequence[Stretch]) -> Table:
    return Table(
        ("Rows", "Calls", "Failed", "From a store", "Mean s", "Longest s", "US$"),
        [
            (
                f"{each.first + 1:,} to {each.last + 1:,}",
                f"{each.calls:,}",
                f"{each.failed_calls:,}",
                f"{each.cache_hits:,}",
                "" if each.mean_latency is None else f"{each.mean_latency:.2f}",
                "" if each.longest_latency is None else f"{each.longest_latency:.2f}",
                "" if each.cost_usd is None else f"{each.cost_usd:.4f}",
            )
            for each in stretches
        ],
    )
