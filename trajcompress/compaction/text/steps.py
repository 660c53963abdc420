"""Pruning the middle of a trajectory, step by step, so that a caller may stop as soon as the row fits.

What costs the least to lose goes first: results that a later call gave again, then the text of old results, then what
their lines tell besides what is needed, then long strings in the arguments of calls, each from the oldest turn to the
newest, but for short results, which come last. No turn goes, and nobody's words do. What is needed later is named in
the line, and arguments that hold such a thing, or a secret, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, TypeAlias

from msgspec import Struct

from trajcompress.compaction.text.arguments import shrink_arguments
from trajcompress.compaction.text.elide import SHORT_CHARS
from trajcompress.compaction.text.result_lines import ResultLines
from trajcompress.facts import facts_in
from trajcompress.formats.rewrite import map_arguments, map_results
from trajcompress.redact import redact
from trajcompress.transcript.trajectory import Turn

Kind: TypeAlias = Literal[
    "repeated_result",
    "old_result",
    "shortest_line",
    "shortest_excerpt",
    "bare_line",
    "arguments",
]


class Step(Struct, frozen=True):
    """One turn made shorter. ``turn`` holds what earlier steps did to the same turn."""

    index: int
    turn: Turn
    kind: Kind


class Pruned(Struct, frozen=True):
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


def prune_steps(
    lines: ResultLines,
    *,
    spared: Collection[int] = (),
    arguments: bool = True,
    cut: Sequence[Turn] | None = None,
) -> Iterator[Step]:
    """Yield every step that makes a turn of the middle shorter, to be taken in this order up to any one of them.

    Args:
        lines: those of the row, and what must still be told.
        spared: turns of the middle that stay as they are.
        arguments: whether long arguments are made shorter as well.
        cut: the turns as they are now, where long results were cut: lines are made of the whole ones.
    """

    def whole(index: int) -> Turn:
        return lines.turns[index] if cut and now[index] is cut[index] else now[index]

    now = list(cut or lines.turns)
    passes: Sequence[tuple[Kind, Callable[[int], Turn]]] = (
        ("repeated_result", lines.without_repeated),
        ("old_result", lambda index: map_results(whole(index), partial(lines.line, index))),
        ("arguments", lambda index: map_arguments(now[index], shrink_arguments)),
    )
    for kind, shorten in passes if arguments else passes[:-1]:
        for index in _may_change(lines, spared):
            turn = shorten(index)
            if turn is now[index] or (cut and len(turn.text) >= len(now[index].text)):
                continue
            if kind == "arguments" and not _may_lose(now[index], turn, lines.needed(index)):
                continue
            now[index] = turn
            yield Step(index, turn, kind)


def shorter_steps(lines: ResultLines, pruned: Sequence[Turn], *, spared: Collection[int] = ()) -> Iterator[Step]:
    """Yield steps that make the lines of results shorter, and at last what stays of those that later calls quote.

    Args:
        lines: those of the row.
        pruned: what earlier steps made of the turns.
        spared: turns of the middle that stay as they are.
    """
    now = list(pruned)
    kinds: Sequence[Kind] = ("shortest_line", "shortest_excerpt")
    for kind in kinds:
        for index in _may_change(lines, spared):
            if bool(lines.quoted(index)) != (kind == "shortest_excerpt"):
                continue
            turn = lines.shorter(index, now[index])
            if turn is not now[index]:
                now[index] = turn
                yield Step(index, turn, kind)


def bare_steps(lines: ResultLines, pruned: Sequence[Turn], *, spared: Collection[int] = ()) -> Iterator[Step]:
    """Yield steps that leave next to nothing of results; as :func:`shorter_steps`."""
    for index in sorted(_may_change(lines, spared), key=lambda index: bool(lines.quoted(index))):
        turn = lines.bare(index, pruned[index])
        if turn is not pruned[index]:
            yield Step(index, turn, "bare_line")


def _may_change(lines: ResultLines, spared: Collection[int]) -> list[int]:
    """Return the turns of the middle that may change, short results last."""
    turns, middle = lines.turns, lines.middle
    may_change = [index for index in range(middle.start, middle.end) if index not in spared]
    return sorted(may_change, key=lambda at: bool(turns[at].answers) and len(turns[at].text) <= SHORT_CHARS)


def _may_lose(before: Turn, after: Turn, needed: Sequence[str]) -> bool:
    """Whether arguments may be cut: with half of a secret gone nobody may know the other half for one."""
    whole, short = ("\n".join(call.arguments for call in turn.calls) for turn in (before, after))
    return facts_in(needed, whole) == facts_in(needed, short) and not redact(whole).count
