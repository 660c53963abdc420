"""What several plots are made of: columns that stand side by side, within or on top of each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trajcompress.results.report.svg import Spec, colour

HEIGHT = 220  # of a plot, in CSS pixels
GAP = 0.08  # of a column's width, to the next one
WHOLE = "~s"  # how numbers of rows and calls are written: 12k, 3M


@dataclass(frozen=True, slots=True)
class Look:
    """How columns look: as which of several painted series, on top of which field, on what scale."""

    paints: Mapping[str, str] = field(default_factory=dict)  # series to colour of the theme
    series: str | None = None  # by default the name of the field
    bottom: str | None = None
    y_scale: Spec = field(default_factory=dict)
    y_format: str = WHOLE


def columns(x: Spec, x_end: str, field: str, look: Look | None = None) -> Spec:
    """Return a layer of columns as high as ``field`` that stand from ``x`` to ``x_end``."""
    look = look or Look()
    axis = {"format": look.y_format, **({"tickMinStep": 1} if look.y_format == WHOLE else {})}
    encoding = {
        "x": x,
        "x2": {"field": x_end},
        "y": {"field": field, "type": "quantitative", "axis": axis, "scale": look.y_scale},
        "y2": {"field": look.bottom} if look.bottom else {"datum": 0},
        "description": {"field": "text"},
    }
    if look.paints:
        paints = {"domain": list(look.paints), "range": [colour(paint) for paint in look.paints.values()]}
        encoding["color"] = {"datum": look.series or field, "scale": paints}
    return {"mark": {"type": "rect", "color": colour("after")}, "encoding": encoding}
