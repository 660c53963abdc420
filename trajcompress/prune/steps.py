"""Pruning the middle of a trajectory, step by step, so that a caller may stop as soon as the row fits.

What costs the least to lose goes first: results that a later call gave again, then the text of old results, then long
strings in the arguments of calls, each from the oldest turn to the newest. No turn goes, and nobody's words do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from trajcompress.formats.rewrite import map_arguments, map_results, result_texts
from trajcompress.prune.arguments import shrink_arguments
from trajcompress.prune.calls import Place, action_at, match_calls
from trajcompress.prune.line import LINE_CHARS, label_of, repeat_line, result_line
from trajcompress.summarize.extractive.actions import Action
from trajcompress.trajectory import Region, Turn

LONG_CHARS = 2 * LINE_CHARS
"""Results up to this length stay: a line says little less, and what is a line already is never pruned again."""

Kind: TypeAlias = Literal["repeated_result", "old_result", "arguments"]


@dataclass(frozen=True, slots=True)
class Step:
    """One turn made shorter. ``turn`` holds what earlier steps did to the same turn."""

    index: int
    turn: Turn
    kind: Kind


@dataclass(frozen=True, slots=True)
class Pruned:
    """As many turns as before, and which of them changed, each with what was done to it last."""

    turns: tuple[Turn, ...]
    changed: dict[int, Kind]


def prune(turns: Sequence[Turn], steps: Iterable[Step]) -> Pruned:
    """Take steps."""
    after = list(turns)
    changed: dict[int, Kind] = {}
    for step in steps:
        after[step.index] = step.turn
        changed[step.index] = step.kind
    return Pruned(tuple(after), changed)


def prune_until(turns: Sequence[Turn], steps: Sequence[Step], fits: Callable[[tuple[Turn, ...]], bool]) -> Pruned:
    """Take as few steps as make the row fit, all where that is not enough; asks ``fits`` about log2(steps) times."""
    least = bisect_left(range(len(steps)), x=True, key=lambda taken: fits(prune(turns, steps[:taken]).turns))
    return prune(turns, steps[:least])


def prune_steps(turns: Sequence[Turn], middle: Region) -> Iterator[Step]:
    """Yield every step that makes a turn of the middle shorter, to be taken in this order up to any one of them.

    Args:
        turns: all turns of the row: a result may be given again by a protected turn.
        middle: the turns that are not protected.
    """
    results = _Results(turns, middle)
    now = list(turns)
    passes: tuple[tuple[Kind, Callable[[int], Turn]], ...] = (
        ("repeated_result", lambda index: map_results(now[index], partial(results.once, index))),
        ("old_result", lambda index: map_results(now[index], partial(results.line, index))),
        ("arguments", lambda index: map_arguments(now[index], shrink_arguments)),
    )
    for kind, shorten in passes:
        for index in range(middle.start, middle.end):
            turn = shorten(index)
            if turn is not now[index]:
                now[index] = turn
                yield Step(index, turn, kind)


class _Results:
    """The results of a row: the call that each answers, and where each text stands last."""

    def __init__(self, turns: Sequence[Turn], middle: Region) -> None:
        self._turns = turns
        self._calls = match_calls(turns)
        self._newest = {
            text: (index, number)
            for index in range(middle.start, len(turns))
            for number, text in enumerate(result_texts(turns[index]))
        }

    def once(self, index: int, number: int, text: str) -> str:
        """Return the text, or a line where a later result is the same."""
        newest = self._newest[text]
        if len(text) <= LONG_CHARS or newest == (index, number):
            return text
        return repeat_line(text, self._label(newest))

    def line(self, index: int, number: int, text: str) -> str:
        """Return the text, or a line where that is much shorter."""
        if len(text) <= LONG_CHARS:
            return text
        place = index, number
        return result_line(text, self._label(place), self._action(place))

    def _action(self, place: Place) -> Action | None:
        call = self._calls.get(place)
        return action_at(self._turns, call) if call else None

    def _label(self, place: Place) -> str:
        return label_of(self._action(place), self._turns[place[0]].name)
