"""Plots of rows by length, by ratio, by name, and of calls over a run, from its first row to its last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajcompress.results.report.figures import LengthBin, Stretch
from trajcompress.results.report.svg import (
    Axis,
    Chart,
    Column,
    Line,
    Rule,
    box,
    document,
    draw,
    nice_ticks,
    short,
    text,
)

_INSET = 0.25  # of a bar's width, on either side of the bar that stands within it
_GAP = 0.08  # of a column's width, to the next one
_BAR_STEP = 44
_FEW_DECADES = 500


class Bar(NamedTuple):
    """A bar that lies, with its name and what it stands for written above it."""

    name: str
    value: float
    text: str


def length_histogram_svg(bins: Sequence[LengthBin], target: int, *, width: int = 640) -> str:
    """Draw rows by length, before and after, with a line at the target.

    There is one bin at least; all are neighbours, of equal width on a logarithmic scale.
    """
    low, high = min(bins[0].low, target * 0.9), max(bins[-1].high, target * 1.1)
    words = [
        f"{each.low:,.0f} to {each.high:,.0f} tokens: {each.before:,} rows before, {each.after:,} after"
        for each in bins
    ]
    before = [Column(each.low, each.high, each.before, said) for each, said in zip(bins, words, strict=True)]
    after = [  # within the bar of what was, so that neither hides the other
        Column(
            each.low ** (1 - _INSET) * each.high**_INSET,
            each.low**_INSET * each.high ** (1 - _INSET),
            each.after,
            said,
        )
        for each, said in zip(bins, words, strict=True)
    ]
    ticks = [(number, short(number)) for number in _round_numbers(low, high)]
    return draw(
        Chart(
            Axis(low, high, "tokens of a row", ticks, is_log=True),
            [("before", before), ("after", after)],
            {"before": "before", "after": "after"},
            rule=Rule(target, f"target {target:,}"),
        ),
        width,
    )


def ratio_histogram_svg(counts: Sequence[int], *, width: int = 480) -> str:
    """Draw compressed rows by compression ratio; ``counts`` are in equal steps from 0 to 1."""
    step = 1 / len(counts)
    columns = [
        Column(
            at * step,
            (at + 1 - _GAP) * step,
            count,
            f"{at * step:.0%} to {(at + 1) * step:.0%} of the tokens: {count:,} rows",
        )
        for at, count in enumerate(counts)
    ]
    ticks = [(fifth / 5, f"{fifth / 5:.0%}") for fifth in range(6)]
    return draw(Chart(Axis(0, 1, "tokens after, of those before", ticks), [("after", columns)]), width)


def bars_svg(bars: Sequence[Bar], *, width: int = 480, paint: str = "after", whole: float | None = None) -> str:
    """Draw bars that lie one below the other; ``paint`` is a colour of the theme, ``whole`` a full one's value."""
    name_chars = max(12, int(width / 7.2) - max(len(bar.text) for bar in bars) - 3)
    most = whole or max(bar.value for bar in bars) or 1
    marks = []
    for at, bar in enumerate(bars):
        top = at * _BAR_STEP
        if bar.value:
            marks.append(box((0, top + 24), (width * bar.value / most, 12), paint, f"{bar.name}: {bar.text}"))
        marks += [
            text((0, top + 17), _shortened(bar.name, name_chars), paint="ink", more=' font-size="13"'),
            text((width, top + 17), bar.text, "end", more=' font-size="13"'),
        ]
    return document(width, _BAR_STEP * len(bars), ['<g class="role-mark">', *marks, "</g>"])


def _round_numbers(low: float, high: float) -> list[float]:
    """Return what to label on a logarithmic axis: powers of ten, and where there are few 2 and 5 times them too."""
    steps = (1, 2, 5) if high / low < _FEW_DECADES else (1,)
    every = [step * 10.0**power for power in range(10) for step in steps]
    return [each for each in every if low <= each <= high]


def _shortened(name: str, most: int) -> str:
    """Cut the middle out of a name: files of one folder differ at their ends."""
    if len(name) <= most:
        return name
    start = most // 3
    return f"{name[:start]}…{name[start - most + 1 :]}"


def calls_svg(stretches: Sequence[Stretch], *, width: int = 480) -> str:
    """Draw the calls made over a run, those that failed on top."""
    answered, failed = [], []
    for each in stretches:
        words = f"{_span(each)}: {each.calls:,} calls, {each.failed_calls:,} failed"
        well = max(0, each.calls - each.failed_calls)
        answered.append(Column(*_ends(each), well, words))
        if each.failed_calls:
            failed.append(Column(*_ends(each), each.calls, words, bottom=well))
    legend = {"answered": "after", "failed": "target"}
    return draw(Chart(_rows_axis(stretches), [("after", answered), ("target", failed)], legend), width)


def latency_svg(stretches: Sequence[Stretch], *, width: int = 480) -> str:
    """Draw the seconds that rows waited for their summaries, over a run: the mean, and the longest."""
    longest, mean = [], []
    for each in stretches:
        if each.mean_latency is not None and each.longest_latency is not None:
            words = f"{_span(each)}: {each.mean_latency:.2f} s in the mean, {each.longest_latency:.2f} s at most"
            longest.append(Column(*_ends(each), each.longest_latency, words))
            mean.append(Column(*_ends(each), each.mean_latency, words))
    legend = {"longest": "before", "mean": "after"}
    chart = Chart(_rows_axis(stretches), [("before", longest), ("after", mean)], legend, whole=False)
    return draw(chart, width)


def cost_svg(stretches: Sequence[Stretch], *, width: int = 480) -> str:
    """Draw what a run has cost by each of its rows, in US dollars."""
    spent = 0.0
    points = [(0.0, 0.0)]
    for each in stretches:
        spent += each.cost_usd or 0.0
        points.append((each.last + 1, spent))
    return draw(Chart(_rows_axis(stretches), line=Line(points), prefix="$", whole=False), width)


def _ends(stretch: Stretch) -> tuple[float, float]:
    rows = stretch.last + 1 - stretch.first
    return stretch.first, stretch.first + rows * (1 - _GAP)


def _span(stretch: Stretch) -> str:
    return f"rows {stretch.first + 1:,} to {stretch.last + 1:,}"


def _rows_axis(stretches: Sequence[Stretch]) -> Axis:
    rows = stretches[-1].last + 1
    ticks = [(tick, short(tick)) for tick in nice_ticks(rows, whole=True) if tick <= rows]
    return Axis(0, rows, "rows of the run, in order", ticks)
