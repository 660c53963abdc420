"""A measured row of which some turns have become shorter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trajcompress.compaction.measure import Measured
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn


def shorten(measured: Measured, turns: Sequence[Turn], counter: TokenCounter) -> Measured:
    """Return the same row with other turns in the place of its own; only those that changed are counted.

    The tokens of the whole are those of the row before less what went, so rather an estimate with a chat template.
    """
    before = measured.trajectory.turns
    changed = [index for index, turn in enumerate(turns) if turn is not before[index]]
    if not changed:
        return measured
    old = counter.count_turns([before[index] for index in changed], measured.known)
    new = counter.count_turns([turns[index] for index in changed], measured.known)
    sizes = list(measured.sizes)
    for index, tokens, fewer in zip(changed, old, new, strict=True):
        sizes[index] = max(0, sizes[index] + fewer - tokens)  # the template may leave out what was cut
    count = replace(measured.count, tokens=measured.count.tokens - sum(old) + sum(new), by_turn=None)
    return replace(
        measured,
        count=count,
        sizes=tuple(sizes),
        trajectory=replace(measured.trajectory, turns=tuple(turns)),
    )


def whole_row(trajectory: Trajectory, measured: Measured, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Put an earlier summary back to where it stood in the row."""
    earlier = measured.earlier
    if earlier is None:
        return tuple(turns)
    index = earlier.index
    return (*turns[:index], trajectory.turns[index], *turns[index + (not earlier.own_turn) :])


def shared_turn(measured: Measured) -> int | None:
    """Return the turn that an earlier summary shares, None where there is no such turn: it must stay as it is."""
    earlier = measured.earlier
    return earlier.index if earlier is not None and not earlier.own_turn else None
