"""What a section of a page consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

_WIDTHS = {"wide": 920, "half": 490, "third": 320}  # CSS pixels of a drawing
_NARROW = 330  # the same, on a phone


@dataclass(frozen=True, slots=True)
class Table:
    """Figures; the first column names the row."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


class Drawing(NamedTuple):
    """A plot as SVG, for wide and for narrow screens."""

    wide: str
    narrow: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot; ``drawing`` is None where there is nothing to draw, which ``text`` then says."""

    id: str
    title: str
    text: str
    label: str = ""  # what it shows, for those who do not see it
    drawing: Drawing | None = None
    notes: Sequence[tuple[str, str]] = ()  # what names in the drawing mean
    table: Table | None = None
    size: Literal["wide", "half", "third"] = "half"  # of the page's width, where that is wide


def drawn(draw: Callable[[int], str], size: str = "half") -> Drawing:
    """Draw a plot for the widths that it is shown at."""
    return Drawing(draw(_WIDTHS[size]), draw(_NARROW))
