"""Recognise our own output: a summary that a previous run put into a row, which the next one updates. Pure.

A user turn that starts with the prefix is a summary as a whole. A summary that shares a turn ends with the end
marker, and stands at the very start of a user turn or at the very end of a user turn or a tool's. Anything else is
the speaker's own words, whatever they quote.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajcompress.formats.edges import edge_text, with_edge_text
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Region, Turn


class PreviousSummary(Struct, frozen=True):
    """The summary of a previous run, and the turns of the row without it.

    ``text`` starts with the prefix. ``index`` is that of the turn in the row that is or holds it, ``seam`` the
    position in ``turns`` where it stood: between what was before the region that it replaced, and what was after.
    """

    text: str
    index: int
    seam: int
    turns: tuple[Turn, ...]
    own_turn: bool

    def in_row(self, region: Region) -> Region:
        """Map a region of ``turns`` around the seam to the row, where it takes in the turn of the summary."""
        return Region(region.start, region.end + 1) if self.own_turn else region


def find_previous(
    turns: Sequence[Turn], known: int | None = None, within: Region | None = None
) -> PreviousSummary | None:
    """Find the previous summary of a row: the one in the turn that is known to hold it, else the first.

    Outside ``within`` a turn of its own is no summary, whatever is known: the first request and the last turns are
    what somebody said, also where they begin with the prefix.
    """
    order = list(range(len(turns)))
    if known is not None and 0 <= known < len(turns):
        order.insert(0, known)
    for index in order:
        found = read_summary(turns, index)
        if found is not None and (not found.own_turn or within is None or within.start <= index < within.end):
            return found
    return None


def read_summary(turns: Sequence[Turn], index: int) -> PreviousSummary | None:
    """Read the summary that a turn is or holds; None where it looks like neither."""
    turn = turns[index]
    if turn.role == "user" and not turn.answers and not turn.images and turn.text.startswith(SUMMARY_PREFIX):
        text = edge_text(turn, last=False)
        body, end, rest = text.partition(SUMMARY_END)
        if not end or (rest.strip() == "" and turn.text.strip() == text.strip()):
            return PreviousSummary(
                _bare(turn.text), index, index, (*turns[:index], *turns[index + 1 :]), own_turn=True
            )
        kept = with_edge_text(turn, rest.removeprefix("\n\n"), last=False)
        return PreviousSummary(_bare(body), index, index, _with(turns, index, kept), own_turn=False)
    if turn.role in {"user", "tool"} and SUMMARY_END in turn.text:
        before, prefix, body = edge_text(turn, last=True).rpartition(f"\n\n{SUMMARY_PREFIX}")
        if prefix and body.endswith(SUMMARY_END):
            kept = with_edge_text(turn, before, last=True)
            return PreviousSummary(
                _bare(SUMMARY_PREFIX + body), index, index + 1, _with(turns, index, kept), own_turn=False
            )
    return None


def _bare(text: str) -> str:
    return text.replace(SUMMARY_END, "").strip()


def _with(turns: Sequence[Turn], index: int, turn: Turn) -> tuple[Turn, ...]:
    return (*turns[:index], turn, *turns[index + 1 :])
