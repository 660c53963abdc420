"""The plots of a page with what stands around them: a heading, a sentence, a text alternative, and the figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trajcompress.results.kept import Kept
from trajcompress.results.report import plots
from trajcompress.results.report.figures import FACTS_SHARES, Figures, Stretch
from trajcompress.results.report.parts import Plot, Table, drawn, explanation
from trajcompress.results.report.plots import Bar
from trajcompress.wording import counted


def plots_of(figures: Figures, names: Mapping[str, str]) -> list[Plot]:
    """Return the plots in the order of the page; ``names`` are what files are called on it."""
    return [
        _lengths(figures),
        _causes(figures),
        *_segments(figures),
        _ratios(figures),
        *_assistant_kept(figures, names),
        _sources(figures, names),
        _facts(figures),
        *calls_over_run(figures),
    ]


def _lengths(figures: Figures) -> Plot:
    title = "Lengths before and after"
    if not figures.lengths:
        return Plot("lengths", title, "No row could be counted.", size="wide")
    target = figures.target
    over = [
        sum(getattr(each, when) for each in figures.lengths if each.low >= target) for when in ("before", "after")
    ]
    return Plot(
        "lengths",
        title,
        f"{over[0]:,} rows were longer than the target of {target:,} tokens; {over[1]:,} still are.",
        label=f"Histogram of rows by length. Longer than {target:,} tokens: {over[0]:,} before, {over[1]:,} after.",
        table=Table(
            ("Tokens", "Rows before", "Rows after"),
            [
                (f"{each.low:,.0f} to {each.high:,.0f}", f"{each.before:,}", f"{each.after:,}")
                for each in figures.lengths
            ],
        ),
        size="wide",
        drawing=drawn(lambda width: plots.length_histogram_svg(figures.lengths, target, width=width), size="wide"),
    )


def _causes(figures: Figures) -> Plot:
    title = "Why rows are still over the target"
    if not figures.causes:
        return Plot("causes", title, "No row is: every row that could be counted fits.", size="wide")
    bars = [Bar(each.reason, each.rows, counted(each.rows, "row")) for each in figures.causes]
    return Plot(
        "causes",
        title,
        "Only the middle of a row is ever summarised. What is left is too long because of:",
        label="Bars: " + ", ".join(f"{bar.name} {bar.text}" for bar in bars) + ".",
        notes=[(each.reason, explanation(each.reason, each.outcome)) for each in figures.causes],
        table=Table(
            ("Cause", "Rows", "Tokens over, in all", "At most"),
            [
                (bar.name, f"{each.rows:,}", f"{each.excess:,}", f"{each.largest_excess:,}")
                for bar, each in zip(bars, figures.causes, strict=True)
            ],
        ),
        size="wide",
        drawing=drawn(lambda width: plots.bars_svg(bars, width=width, paint="target"), size="wide"),
    )


def _segments(figures: Figures) -> Iterator[Plot]:
    """Show how many segments rows became, where any became several, and what that costs in tokens."""
    groups = figures.segmented
    if not groups:
        return
    names = [f"{each.low:,}" if each.low == each.high else f"{each.low:,} to {each.high:,}" for each in groups]
    bars = [Bar(name, each.rows, counted(each.rows, "row")) for name, each in zip(names, groups, strict=True)]
    tokens_in, tokens_out = (sum(getattr(each, name) for each in groups) for name in ("tokens_in", "tokens_out"))
    rows, ratio = sum(each.rows for each in groups), tokens_out / max(tokens_in, 1)
    yield Plot(
        "segments",
        "Segments of a row",
        f"{counted(rows, 'row')} became several, which have {ratio:.2f} times the tokens of before.",
        label="Bars of rows by the number of segments: " + ", ".join(f"{bar.name}: {bar.text}" for bar in bars) + ".",
        table=Table(
            ("Segments", "Rows", "Tokens before", "Tokens after", "After by before"),
            [
                (
                    name,
                    f"{each.rows:,}",
                    f"{each.tokens_in:,}",
                    f"{each.tokens_out:,}",
                    f"{each.tokens_out / max(each.tokens_in, 1):.2f}",
                )
                for name, each in zip(names, groups, strict=True)
            ],
        ),
        drawing=drawn(lambda width: plots.bars_svg(bars, width=width)),
    )


def _ratios(figures: Figures) -> Plot:
    title = "Compression ratio"
    rows = sum(figures.ratios)
    if not rows:
        return Plot("ratio", title, "No row was compressed.")
    step = 1 / len(figures.ratios)
    spans = [f"{at * step:.0%} to {(at + 1) * step:.0%}" for at in range(len(figures.ratios))]
    half = sum(figures.ratios[: len(figures.ratios) // 2])
    return Plot(
        "ratio",
        title,
        f"Tokens after, as a share of those before, of the {counted(rows, 'row')} that were compressed.",
        label=f"Histogram of compressed rows by ratio. {half:,} of {counted(rows, 'row')} were cut to half or less.",
        table=Table(
            ("Of the tokens are left", "Rows"),
            [(span, f"{count:,}") for span, count in zip(spans, figures.ratios, strict=True)],
        ),
        drawing=drawn(lambda width: plots.ratio_histogram_svg(figures.ratios, width=width)),
    )


def _assistant_kept(figures: Figures, names: Mapping[str, str]) -> Iterator[Plot]:
    """Show what is kept of the assistant, of rows over the target, by length and by input."""
    by_length = [(each.name, each) for each in figures.kept_by_length]
    by_input = [(names.get(each.name, each.name), each) for each in figures.kept_by_input]
    if not by_length:
        return
    yield _kept_plot(
        "kept-by-length", "Assistant tokens kept, by length", "The longer a row was, the more goes.", by_length
    )
    if len(by_input) > 1:
        text = "Those that keep least come first: look at their rows, or give them a target of their own."
        yield _kept_plot("kept-by-input", "Assistant tokens kept, by file", text, by_input)


def _kept_plot(id_: str, title: str, text: str, groups: Sequence[tuple[str, Kept]]) -> Plot:
    bars = [Bar(name, each.share, f"{each.share:.1%}") for name, each in groups]
    return Plot(
        id_,
        title,
        f"Share of what the assistant wrote that is still there, of rows over the target. {text}",
        label="Bars: " + ", ".join(f"{bar.name} {bar.text}" for bar in bars) + ".",
        table=Table(
            ("Rows over the target", "Rows", "Tokens before", "Tokens kept"),
            [(name, f"{each.rows:,}", f"{each.original:,}", f"{each.kept:,}") for name, each in groups],
        ),
        drawing=drawn(lambda width: plots.bars_svg(bars, width=width, whole=1.0)),
    )


def _sources(figures: Figures, names: Mapping[str, str]) -> Plot:
    shown = [(names.get(each.name, each.name), each) for each in figures.sources]
    saving = [
        Bar(name, each.tokens_saved, f"{each.tokens_saved:,}")
        for name, each in shown
        if each.tokens_saved and each.files == 1  # what many save together would dwarf each of the others
    ]
    table = Table(
        ("File", "Rows", "Still over", "Tokens before", "Tokens saved"),
        [
            (name, f"{each.rows:,}", f"{each.still_over:,}", f"{each.tokens_before:,}", f"{each.tokens_saved:,}")
            for name, each in shown
        ],
    )
    title = "Tokens saved by file"
    if not saving:
        return Plot("sources", title, "No tokens were saved.", table=table)
    rest = sum(each.files for _, each in shown) - len(saving)
    more = sum(each.tokens_saved for _, each in shown if each.files > 1)
    others = (
        f" {rest:,} more save {more:,} tokens together." if more else f" {rest:,} more save none." if rest else ""
    )
    return Plot(
        "sources",
        title,
        f"{_files(len(saving))} with the largest savings.{others}",
        label="Bars: " + ", ".join(f"{bar.name} {bar.text}" for bar in saving) + " tokens.",
        table=table,
        drawing=drawn(lambda width: plots.bars_svg(saving, width=width)),
    )


def _facts(figures: Figures) -> Plot:
    title = "Facts kept"
    totals = figures.totals
    if not totals.facts_needed:
        return Plot(
            "facts",
            title,
            "No kept turn relies on anything that only replaced turns told, or nobody looked (--no-facts).",
            size="wide",
        )
    named = zip((name for _, name in FACTS_SHARES), figures.facts_shares, strict=True)
    bars = [Bar(name, count, counted(count, "row")) for name, count in named]
    return Plot(
        "facts",
        title,
        "Paths, ids, numbers and names that kept turns rely on and only replaced turns told: "
        f"{totals.facts_kept:,} of {totals.facts_needed:,} are in the summaries. Rows by the share of theirs:",
        label="Bars: " + ", ".join(f"{bar.name} {bar.text}" for bar in bars) + ".",
        table=Table(("Facts kept", "Rows"), [(bar.name, f"{bar.value:,}") for bar in bars]),
        drawing=drawn(lambda width: plots.bars_svg(bars, width=width), "wide"),
        size="wide",
    )


def _files(count: int) -> str:
    return "The file" if count == 1 else f"The {count:,} files"


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
        drawing=drawn(lambda width: plots.calls_svg(stretches, width=width), "third"),
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
        drawing=drawn(lambda width: plots.latency_svg(stretches, width=width), "third"),
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
        drawing=drawn(lambda width: plots.cost_svg(figures.stretches, width=width), "third"),
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
