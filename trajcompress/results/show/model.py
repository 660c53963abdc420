"""The view model of a row before and after: figures, sections of turns, summary; for terminal, page and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trajcompress.metrics.reasons import Reason
from trajcompress.metrics.row import RowMetrics
from trajcompress.results.show.figures import Figure
from trajcompress.results.show.summary import SummaryView
from trajcompress.transcript import text_protocol

Part: TypeAlias = Literal["head", "region", "summary", "middle", "tail", "kept", "written"]
"""What a turn was to the plan: ``middle`` could have been replaced but was not, ``kept`` where there was no plan.

``written`` are the turns of one of several rows that were written for it.
"""

TITLES: Mapping[Part, str] = {
    "head": "protected at the start",
    "region": "replaced by the summary",
    "summary": "the summary",
    "middle": "not protected, and kept",
    "tail": "protected at the end",
    "kept": "turns",
    "written": "written",
}


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn on one side. ``index`` counts from 0; ``tokens`` are those of its own text, None where unknown.

    ``protocol_part`` is what it is to a text protocol, where it is more than its role says.
    """

    index: int
    label: str
    own_role: str | None  # where it is another
    tokens: int | None
    text: str
    excerpt: str
    protocol_part: text_protocol.Part | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One turn before and after; one side is None where the turn was replaced, or is the summary."""

    part: Part
    before: TurnView | None
    after: TurnView | None
    changes: tuple[str, ...] = ()

    @property
    def turn(self) -> TurnView:
        """The turn as it is in the dataset, else as it was."""
        turn = self.after or self.before
        if turn is None:
            raise ValueError("a step has at least one side")
        return turn


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive turns of one part; ``number``, from 1, and ``name`` tell rows apart where several were written."""

    part: Part
    steps: tuple[Step, ...]
    number: int | None = None
    name: str | None = None

    @property
    def title(self) -> str:
        """What its turns are."""
        return self.name or TITLES[self.part]

    @property
    def tokens(self) -> int | None:
        """The tokens of its turns before, else after; None where one is unknown."""
        sizes = [(step.before or step.turn).tokens for step in self.steps]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None


@dataclass(frozen=True, slots=True)
class View:
    """A row before and after. ``why`` is the reason of the metrics in words, ``raw`` the text of a rejected row.

    ``helps`` is what was found to help one that is still over its limit.
    """

    title: str
    metrics: RowMetrics
    figures: tuple[Figure, ...]
    why: Reason | None
    sections: tuple[Section, ...]
    summary: SummaryView | None
    raw: str | None
    notes: tuple[str, ...]
    helps: tuple[str, ...] = ()
