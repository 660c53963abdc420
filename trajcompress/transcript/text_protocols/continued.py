"""Observations by those around them: turns that begin or end as what a row is known to have. Pure.

An agent keeps to its form, and so does its environment. Where most of a row is recognised, a turn that begins with
the label of the others, or ends with the prompt that waits behind each of them, is no person's; and a turn that opens
with the words of the actions around it acts, whatever it has executed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from trajcompress.transcript.text_protocols.openings import label_of, without_figures
from trajcompress.transcript.trajectory import Turn

_LEAST = 3
_MOSTLY = 0.6  # of what is known
_END_CHARS = 60
_LEAST_LETTERS = 6


def continued(
    turns: Sequence[Turn],
    known: Iterable[int],
    others: Iterable[int],
    is_spoken: Callable[[int], bool],
) -> set[int]:
    """Return which of some user turns are observations by what they have in common with those that are known.

    Args:
        turns: all turns of a row.
        known: the observations that are recognised.
        others: the turns that may be, each behind an assistant's.
        is_spoken: whether a person may have said the turn of an index.
    """
    known = list(known)
    first = min(known, default=len(turns))  # what stands before it is the task
    least = max(_LEAST, _MOSTLY * len(known))
    labels = _often((label_of(turns[i].text) for i in known), least)
    ends = _often((_end_of(turns[i].text) for i in known), least)
    leads = _often((_lead_of(turns[i - 1].text) for i in known), least)
    return {
        i
        for i in others
        if i > first
        and (
            label_of(turns[i].text) in labels
            or _end_of(turns[i].text) in ends
            or (_lead_of(turns[i - 1].text) in leads and not is_spoken(i))
        )
    }


def _often(texts: Iterable[str], least: float) -> set[str]:
    return {text for text, times in Counter(filter(None, texts)).items() if times >= least}


def _end_of(text: str) -> str:
    """Return the last of some lines, whatever its figures, where it is short."""
    line = text.rstrip()[-_END_CHARS - 1 :].rpartition("\n")
    return without_figures(line[2].strip(), _END_CHARS) if line[1] else ""


def _lead_of(text: str) -> str:
    """Return the words that a turn opens with."""
    lead = without_figures(text.lstrip())
    return lead if lead[:1].isalpha() and sum(map(str.isalpha, lead)) >= _LEAST_LETTERS else ""
