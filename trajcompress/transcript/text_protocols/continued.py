"""Observations by those around them: turns that begin or end as what a row is known to have. Pure.

An agent keeps to its form, and so does its environment. Where most of a row is recognised, a turn that begins with
the label or the header of the others is no person's, from the agent's first turn on; nor is one that ends with the
prompt that waits behind each of them; and a turn that opens with the words of the actions around it acts, whatever it
has executed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence

from trajcompress.transcript.text_protocols.openings import form_of, without_figures
from trajcompress.transcript.trajectory import Turn

_LEAST = 3
_MOSTLY = 0.6  # of what is known
_END_CHARS = 60
_LEAST_LETTERS = 6
_LINES_CHARS, _MOST_LINES = 1_000, 8  # of a turn, in which its action may stand


def continued(
    turns: Sequence[Turn],
    known: Iterable[int],
    others: Iterable[int],
    is_spoken: Callable[[int], bool],
    acts: Container[int],
) -> set[int]:
    """Return which of some user turns are observations by what they have in common with those that are known.

    Args:
        turns: all turns of a row.
        known: the observations that are recognised.
        others: the turns that may be, each behind an assistant's.
        is_spoken: whether a person may have said the turn of an index.
        acts: the turns in which an action can be read.
    """
    known = list(known)
    first = min(known, default=len(turns))  # what stands before it is the task, unless an action is before that
    least = max(_LEAST, _MOSTLY * len(known))
    forms = _often((form_of(turns[i].text) for i in known), least)
    ends = _often((_end_of(turns[i].text) for i in known), least)
    leads = _often((_lead_of(turns[i - 1].text) for i in known), least)

    begins = _often((begin for i in known for begin in _begins_of(turns[i - 1].text)), least) if forms else set()

    def goes_on(index: int) -> bool:
        text, before = turns[index].text, turns[index - 1].text
        is_of_form = form_of(text) in forms
        if index < first:
            return is_of_form and (index - 1 in acts or not begins.isdisjoint(_begins_of(before)))
        return is_of_form or _end_of(text) in ends or (_lead_of(before) in leads and not is_spoken(index))

    return set(filter(goes_on, others))


def _often(texts: Iterable[str], least: float) -> set[str]:
    return {text for text, times in Counter(filter(None, texts)).items() if times >= least}


def _begins_of(text: str) -> set[str]:
    """Return with which words the last lines of a turn begin."""
    lines = text.rstrip()[-_LINES_CHARS:].split("\n")[-_MOST_LINES:]
    begins = (without_figures(line.strip()) for line in lines)
    return {begin for begin in begins if sum(map(str.isalpha, begin)) >= _LEAST_LETTERS}


def _end_of(text: str) -> str:
    """Return the last of some lines, whatever its figures, where it is short."""
    line = text.rstrip()[-_END_CHARS - 1 :].rpartition("\n")
    return without_figures(line[2].strip(), _END_CHARS) if line[1] else ""


def _lead_of(text: str) -> str:
    """Return the words that a turn opens with."""
    lead = without_figures(text.lstrip())
    return lead if lead[:1].isalpha() and sum(map(str.isalpha, lead)) >= _LEAST_LETTERS else ""
