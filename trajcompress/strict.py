"""The last resort for a row that is still too long: its long tool results lose their middle.

Of a row that takes part in this no turn goes, and no word of the user or the assistant. Where not even that makes it
fit, nothing is cut.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

from trajcompress.facts import facts_kept
from trajcompress.facts.ledger import FactLedger
from trajcompress.prune import elide_results
from trajcompress.trajectory import Turn

T = TypeVar("T")

_TRIES = 4  # a template may write less than it is given, so that cutting frees less than was cut


@dataclass(frozen=True, slots=True)
class Elided(Generic[T]):
    """Turns that were cut until they fit, which of them, and what ``build`` made of them."""

    turns: tuple[Turn, ...]
    changed: frozenset[int]
    built: T
    facts_needed: int
    facts_kept: int


def elide_until(
    turns: tuple[Turn, ...],
    may_change: Collection[int],
    *,
    excess: int,
    build: Callable[[tuple[Turn, ...]], tuple[T, int]],
    count: Callable[[str], int],
) -> Elided[T] | None:
    """Cut long results, oldest first, each no more than needed; None where that is not enough.

    Args:
        turns: all turns of the row.
        may_change: which of them may be cut.
        excess: tokens that must go.
        build: makes the row of such turns, and says how many tokens it is still over the limit.
        count: counts the tokens of a text.
    """
    asked = excess
    for _ in range(_TRIES):
        after = elide_results(turns, may_change, asked, count)
        changed = frozenset(index for index, turn in enumerate(after) if turn is not turns[index])
        if not changed:
            return None
        built, over = build(after)
        if over <= 0:
            needed = FactLedger(turns).needed(changed)
            kept = sum(len(facts_kept(facts, after[index].text)) for index, facts in needed.items())
            return Elided(after, changed, built, sum(map(len, needed.values())), kept)
        asked += over
    return None
