"""Cutting a change as git prints it: what new files hold goes first, as it says nothing of what became of others."""

from __future__ import annotations

from trajcompress.compaction.text.edges import before
from trajcompress.compaction.text.middle import LEAST_CUT, MARK_CHARS, cut_out
from trajcompress.facts.changes import changed_lines, files_of_change
from trajcompress.facts.parts import Part, Wanted

_MOST_BLOCKS = 24
_WEIGHT = 4.0  # as of what later turns need


def without_new_files(text: str, limit: int) -> str:
    """Cut new and binary files out of a change that has others, too, until it is short enough.

    Where that is enough their beginnings stay, or their names; else marks alone.
    """
    found, new = files_of_change(text) if len(text) > limit else ([], [])
    if not found or not new:
        return text
    excess = len(text) - limit
    gone: list[Part] = []
    for file in reversed(new):
        named = file.end("new") - 1 if file["new"] else file.end()
        if excess > 0 and file.end() - named >= LEAST_CUT:
            start = max(before(text, max(file.end() - excess - MARK_CHARS, named)), named)
            gone.append(Part(start, file.end()))
            excess -= max(file.end() - start - MARK_CHARS, 0)
    if excess > 0:
        gone = [Part(max(file.start() - 1, 0), file.end()) for file in reversed(new)]
    return cut_out(text, reversed(gone))


def with_changes(text: str, keep: Wanted) -> Wanted:
    """Add to what is to be kept what a change does to the files that it finds."""
    changed = changed_lines(text)
    return {**dict.fromkeys(changed[:_MOST_BLOCKS], _WEIGHT), **keep} if changed else keep
