"""Drawing columns, bars and lines as SVG: static, without scripts, in colours that the page gives it.

Colours are CSS variables with a fallback, so one drawing serves light, dark and paper. Text within an SVG shrinks
with it, so whoever shows one on wide and on narrow screens draws it twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal, TypeAlias

LIGHT = {
    "before": "#8794a3",
    "after": "#1d5fd0",
    "target": "#b93815",
    "ink": "#1b1f24",
    "muted": "#57606a",
    "line": "#dfe3e8",
}
DARK = {
    "before": "#66737f",
    "after": "#7ab0ff",
    "target": "#ff9b6b",
    "ink": "#e8ebef",
    "muted": "#a3acb8",
    "line": "#323943",
}
_FONT = "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"
_CHAR = 7.6  # CSS pixels of a character of an axis, of the widest fonts that may be taken; % takes half as much more
_SMALL, _NAME = 12, 13  # sizes of text
_HEIGHT = 220  # of the plot within its axes, in CSS pixels
_TICKS = 4
_LEGEND, _BELOW, _RIGHT, _TOP = 34, 44, 14, 8

Point: TypeAlias = tuple[float, float]
Anchor: TypeAlias = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values from ``low`` to ``high`` to pixels from ``start`` to ``end``, also the other way round."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value; what lies outside is brought to the nearer end."""
        value = min(max(value, self.low), self.high)
        low, high, at = (
            (math.log(each) for each in (self.low, self.high, value))
            if self.is_log
            else (
                self.low,
                self.high,
                value,
            )
        )
        return self.start + (self.end - self.start) * ((at - low) / (high - low) if high > low else 0)


@dataclass(frozen=True, slots=True)
class Axis:
    """The axis across: its range, what it is called, and its ticks with their labels."""

    low: float
    high: float
    title: str
    ticks: Sequence[tuple[float, str]]
    is_log: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column from ``low`` to ``high`` across and from ``bottom`` to ``top``, and what a pointer over it shows."""

    low: float
    high: float
    top: float
    text: str
    bottom: float = 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line that goes through all points, with the area under it."""

    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line up and down at a value, with its name beside it."""

    at: float
    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Columns of several series, a line or a rule over an axis.

    ``series`` are columns by the colour of the theme that they have, in the order in which they are drawn; ``legend``
    names colours. Numbers up the side have ``prefix`` before them.
    """

    axis: Axis
    series: Sequence[tuple[str, Sequence[Column]]] = ()
    legend: Mapping[str, str] = field(default_factory=dict)
    line: Line | None = None
    rule: Rule | None = None
    prefix: str = ""
    whole: bool = True
    """Whether what is counted comes in whole numbers."""


def colour(name: str) -> str:
    """Return a colour of the theme."""
    return f"var(--{name}, {LIGHT[name]})"


def draw(chart: Chart, width: int) -> str:
    """Draw a chart, so many CSS pixels wide."""
    most = max(
        [column.top for _, columns in chart.series for column in columns]
        + [high for _, high in (chart.line.points if chart.line else ())],
        default=0,
    )
    ticks = nice_ticks(most * (1.1 if chart.rule else 1), whole=chart.whole)
    labels = [f"{chart.prefix}{short(tick)}" for tick in ticks]
    left = max(map(_length, labels)) + 10
    top = _LEGEND if chart.legend else _TOP
    x = Scale(chart.axis.low, chart.axis.high, left, width - _RIGHT, is_log=chart.axis.is_log)
    y = Scale(0, max(ticks[-1], most) or 1, top + _HEIGHT, top)
    parts = [*_legend(chart.legend)]
    for tick, label in zip(ticks, labels, strict=True):
        parts += [
            _line((left, y(tick)), (width - _RIGHT, y(tick)), "line"),
            text((left - 8, y(tick) + 4), label, "end"),
        ]
    marks = [_column(column, paint, x, y) for paint, columns in chart.series for column in columns]
    if chart.line:
        marks += _area(chart.line, x, y)
    if chart.rule:
        marks += _rule(chart.rule, x, y)
    parts += ['<g class="role-mark">', *marks, "</g>", *_across(chart.axis, x, top + _HEIGHT, left, width)]
    return document(width, top + _HEIGHT + _BELOW, parts)


def document(width: float, height: float, parts: Sequence[str]) -> str:
    """Return an SVG with such parts."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
    return f'{head}height="{height:g}" font-family="{_FONT}" font-size="{_SMALL}">{"".join(parts)}</svg>'


def text(at: Point, words: str, anchor: Anchor = "start", paint: str = "muted", more: str = "") -> str:
    """Return a line of text with its foot at a point; ``more`` are attributes."""
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}" fill="{colour(paint)}"'
    return f"<text {place}{more}>{escape(words)}</text>"


def box(corner: Point, size: Point, paint: str, title: str) -> str:
    """Return a rectangle with its upper left corner at a point; one of no width is seen all the same."""
    (x, y), width, height = corner, max(size[0], 0.5), size[1]
    shape = f"M{x:.1f},{y:.1f}h{width:.1f}v{height:.1f}h{-width:.1f}Z"
    return f'<path d="{shape}" fill="{colour(paint)}"><title>{escape(title)}</title></path>'


def nice_ticks(most: float, *, whole: bool) -> list[float]:
    """Return about four round numbers from 0 to what is at least ``most``.

    >>> nice_ticks(7, whole=True), nice_ticks(0.012, whole=False)
    ([0, 2, 4, 6, 8], [0.0, 0.005, 0.01, 0.015])
    """
    if most <= 0:
        return [0, 1]
    rough = most / _TICKS
    unit = 10 ** math.floor(math.log10(rough))
    step = next(times * unit for times in (1, 2, 5, 10) if times * unit >= rough)
    if whole:
        step = max(1, round(step))
    count = math.ceil(most / step - 1e-9)
    return [at * step if whole else round(at * step, 12) for at in range(count + 1)]


def short(number: float) -> str:
    """Write a number in few characters.

    >>> [short(each) for each in (0, 1200, 30_000, 2_500_000, 0.015)]
    ['0', '1.2k', '30k', '2.5M', '0.015']
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.4g}{unit}"
    return f"{number:.4g}"


def _column(column: Column, paint: str, x: Scale, y: Scale) -> str:
    left, top = x(column.low), y(column.top)
    size = x(column.high) - left, y(column.bottom) - top
    return box((left, top), size, paint, column.text) if column.top else ""


def _area(line: Line, x: Scale, y: Scale) -> list[str]:
    points = [f"{x(across):.1f},{y(up):.1f}" for across, up in line.points]
    first, last, floor = x(line.points[0][0]), x(line.points[-1][0]), y(0)
    area = f"M{first:.1f},{floor:.1f}L{'L'.join(points)}L{last:.1f},{floor:.1f}Z"
    return [
        f'<path d="{area}" fill="{colour("after")}" fill-opacity="0.15"/>',
        f'<path d="M{"L".join(points)}" fill="none" stroke="{colour("after")}" stroke-width="2.5"/>',
    ]


def _rule(rule: Rule, x: Scale, y: Scale) -> list[str]:
    at, is_right = x(rule.at), x(rule.at) > (x.start + x.end) / 2
    dashed = ' stroke-width="2" stroke-dasharray="5 3"'
    return [
        _line((at, y.start), (at, y.end), "target", dashed),
        text(
            (at + (-6 if is_right else 6), y.end + 10),
            rule.name,
            "end" if is_right else "start",
            "target",
            ' font-weight="600"',
        ),
    ]


def _line(start: Point, end: Point, paint: str, more: str = ' stroke-width="1"') -> str:
    place = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {place} stroke="{colour(paint)}"{more}/>'


def _across(axis: Axis, x: Scale, floor: float, left: float, width: int) -> list[str]:
    parts = [_line((left, floor), (width - _RIGHT, floor), "muted")]
    free = 0.0
    for value, label in axis.ticks:
        at, half = x(value), _length(label) / 2
        at_label = min(at, width - half)
        if at_label - half < free:  # it would run into the one before
            continue
        free = at_label + half + 6
        parts += [_line((at, floor), (at, floor + 4), "muted"), text((at_label, floor + 17), label, "middle")]
    return [*parts, text(((left + width - _RIGHT) / 2, floor + 37), axis.title, "middle")]


def _length(label: str) -> float:
    return (len(label) + label.count("%") / 2) * _CHAR


def _legend(legend: Mapping[str, str]) -> list[str]:
    parts, at = [], 2.0
    for name, paint in legend.items():
        parts += [
            f'<path d="M{at:.1f},5h11v11h-11Z" fill="{colour(paint)}"/>',
            text((at + 17, 15), name, "start", "ink", f' font-size="{_NAME}"'),
        ]
        at += 17 + len(name) * 7.4 + 18
    return parts
