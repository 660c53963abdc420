"""Plots of calls over a run, from its first row to its last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajcompress.results.report.figures import Stretch
from trajcompress.results.report.layers import GAP, HEIGHT, Look, columns
from trajcompress.results.report.svg import Spec, colour, draw


def calls_svg(stretches: Sequence[Stretch], *, width: int = 480) -> str:
    """Draw the calls made over a run, those that failed on top."""
    rows = [
        _stretch(each)
        | {
            "answered": max(0, each.calls - each.failed_calls),
            "calls": each.calls,
            "text": f"{_span(each)}: {each.calls:,} calls, {each.failed_calls:,} failed",
        }
        for each in stretches
    ]
    x, paints = _rows_axis(stretches), {"answered": "after", "failed": "target"}
    low = columns(x, "high", "answered", Look(paints))
    top = columns(x, "high", "calls", Look(paints, series="failed", bottom="answered"))
    return draw({"height": HEIGHT, "data": {"values": rows}, "layer": [low, top]}, width)


def latency_svg(stretches: Sequence[Stretch], *, width: int = 480) -> str:
    """Draw the seconds that rows waited for their summaries, over a run: the mean, and the longest."""
    rows = [
        _stretch(each)
        | {
            "longest": each.longest_latency,
            "mean": each.mean_latency,
            "text": f"{_span(each)}: {each.mean_latency:.2f} s in the mean, {each.longest_latency:.2f} s at most",
        }
        for each in stretches
        if each.mean_latency is not None
    ]
    look = Look({"longest": "before", "mean": "after"}, y_format=",.6~r")
    layers = [columns(_rows_axis(stretches), "high", name, look) for name in look.paints]
    return draw({"height": HEIGHT, "data": {"values": rows}, "layer": layers}, width)


def cost_svg(stretches: Sequence[Stretch], *, width: int = 480) -> str:
    """Draw what a run has cost by each of its rows, in US dollars."""
    spent = 0.0
    rows: list[dict[str, Any]] = [{"row": 0, "spent": 0.0}]
    for each in stretches:
        spent += each.cost_usd or 0.0
        rows.append({"row": each.last + 1, "spent": spent})
    x = {**_rows_axis(stretches), "field": "row"}
    y = {"field": "spent", "type": "quantitative", "axis": {"format": "$,.6~r"}, "scale": {"domainMin": 0}}
    line = {"color": colour("after"), "strokeWidth": 2.5}
    mark = {"type": "area", "color": colour("after"), "fillOpacity": 0.15, "line": line}
    return draw({"height": HEIGHT, "data": {"values": rows}, "mark": mark, "encoding": {"x": x, "y": y}}, width)


def _stretch(stretch: Stretch) -> dict[str, Any]:
    rows = stretch.last + 1 - stretch.first
    return {"low": stretch.first, "high": stretch.first + rows * (1 - GAP)}


def _span(stretch: Stretch) -> str:
    return f"rows {stretch.first + 1:,} to {stretch.last + 1:,}"


def _rows_axis(stretches: Sequence[Stretch]) -> Spec:
    return {
        "field": "low",
        "type": "quantitative",
        "scale": {"domain": [0, stretches[-1].last + 1], "nice": False},
        "axis": {"title": "rows of the run, in order", "format": "~s", "tickCount": 5, "tickMinStep": 1},
    }
