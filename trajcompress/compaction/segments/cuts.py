"""Where a segment may end: behind an assistant turn whose tool group is over but for what was observed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trajcompress.transcript.tool_groups import tool_groups
from trajcompress.transcript.trajectory import Turn


class Cut(NamedTuple):
    """A stretch may end before turn ``end``; the next one begins at ``resume``.

    Turns between these are the observations that answer the last of the stretch: the next assistant turn has to see
    them, so the next segment tells them word for word in front of its stretch.
    """

    end: int
    resume: int


def find_cuts(turns: Sequence[Turn], start: int) -> list[Cut]:
    """Return the places at which the turns from ``start`` on may be cut, the end of the transcript last.

    None of the others is so late that no assistant turn is left behind it. A tool group is cut only behind the last
    of its assistant turns, so that no result loses its call in any other way than by being told in words.
    """
    spans = dict(tool_groups(turns))
    cuts: list[Cut] = []
    index = start
    while index < len(turns):
        end = spans.get(index, index + 1)
        last = next((i for i in reversed(range(index, end)) if turns[i].role == "assistant"), None)
        if last is not None and all(turns[i].answers for i in range(last + 1, end)):
            cuts.append(Cut(last + 1, end))
        index = end
    last_said = max((i for i, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
    return [*(cut for cut in cuts if cut.resume <= last_said), Cut(len(turns), len(turns))]
