"""One segment of a trajectory, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from trajcompress.compaction.segments.compose import Composed
from trajcompress.facts.count import FactCount
from trajcompress.tokens.counter import Count

Kind: TypeAlias = Literal["stretch", "summary"]
"""What a segment teaches: the assistant's turns of a stretch, or to write the running summary."""

Over: TypeAlias = Literal["single_turn", "tool_group"]
"""Why a segment is over the budget: one turn alone is too long, or a tool group that cannot be cut."""


class SegmentSummary(Struct, frozen=True):
    """The summary of all turns before a stretch. ``notes`` are the words in which facts were added to it."""

    text: str
    summarizer: str
    tokens: int
    facts: FactCount
    redactions: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """One row of a trajectory in segments.

    The turns ``[first, end)`` of the input row stand in it in full, but for observations in ``truncated``.
    ``assistant_tokens`` are those of its assistant turns that are trained, ``context_tokens`` those of assistant
    turns that stand again. ``summary`` is the one that it begins with; of the kind ``summary`` that it ends with.
    """

    kind: Kind
    composed: Composed
    count: Count = field(repr=False)
    first: int
    end: int
    assistant_tokens: int
    summary: SegmentSummary | None = None
    context_tokens: int = 0
    truncated: frozenset[int] = frozenset()
    over: Over | None = None

    @property
    def tokens(self) -> int:
        """Tokens of the row."""
        return self.count.tokens
