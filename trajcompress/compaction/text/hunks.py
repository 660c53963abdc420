"""The lines that a diff takes out of files and brings into them: what stands around these goes first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trajcompress.facts.changes import hunks
from trajcompress.facts.parts import Part
from trajcompress.processes.late_patterns import late_re

_NEW_FILE = "0,0"
_CHANGE = late_re(r"^[+-][^\n]*+(?:\n[+-][^\n]*+)*+", re.MULTILINE)
_LEAST = 120  # characters of a change that tell something


def changes(text: str, room: int, cost: int, apart: int) -> Sequence[Part]:
    """Return the runs of changed lines in a text's diffs, as much of each as has ``room``, in their order.

    Short ones are whole and leave their share to the long ones, of which the first new lines stay.

    Args:
        text: a result.
        room: characters for all of them.
        cost: characters that each takes besides its own, with marks and the name of its file.
        apart: so many characters stand between two of them at least; those that are nearer are one.
    """
    runs = _changes(text, apart)[: max(room // (_LEAST + cost), 0)]
    share = room
    for done, size in enumerate(sorted(run.end - run.start + cost for run in runs)):
        share = room // (len(runs) - done)
        if size > share:
            break
        room -= size
    return [run for run in (_begun(text, run, share - cost) for run in runs) if run.start < run.end]


def _begun(text: str, run: Part, limit: int) -> Part:
    """Return a run, or the first whole lines that it brings in, as many as so many characters hold."""
    if run.end - run.start <= limit:
        return run
    start = text.find("\n+", run.start - 1, run.end) + 1 or run.start
    return Part(start, max(text.rfind("\n", start, min(start + limit, run.end)), start))


@lru_cache(maxsize=32)  # a text is cut again and again, until its row fits
def _changes(text: str, apart: int) -> Sequence[Part]:
    runs: list[Part] = []
    for hunk in hunks(text):
        for change in _CHANGE.finditer(text, *hunk.span("lines")) if hunk["was"] != _NEW_FILE else ():
            is_near = runs and hunk.start("lines") <= runs[-1].start and change.start() - runs[-1].end < apart
            start = runs.pop().start if is_near else change.start()
            runs.append(Part(start, change.end()))
    return runs
