"""What an edit brings in: the lines of code that it adds, else those that it takes away."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from trajcompress.outcomes.text import on_one_line, one_line, shorten
from trajcompress.processes.late_patterns import late_re

CHANGE_CHARS = 300
"""What is told of an edit takes so much."""

GIST_CHARS = 90
"""What is told of a script or a new file."""

_OLD_KEYS = ("old_str", "old_string", "old_text", "oldText", "search", "old")
_NEW_KEYS = ("new_str", "new_string", "new_text", "newText", "replacement", "replace", "new")
_WHOLE_KEYS = ("file_text", "content", "contents")
_DIFF_KEYS = ("diff", "patch")
_LIST_KEY = "edits"
BULK_KEYS = frozenset((*_OLD_KEYS, *_NEW_KEYS, *_WHOLE_KEYS, *_DIFF_KEYS, _LIST_KEY))
"""Arguments of an edit that are told as what it brings in."""

_MOST_EDITS = 20
_NOT_CODE = late_re(
    r"\W*$|import|from|#(?!include|define|if|e(?:lse|nd))|//|/\*|\*[ /]|<!--|-- |using|package|try:|def main"
    r"|if __name__|pass\b"
)
_ENDS = ("```", "end_of_edit")  # of what is brought in
_DOCSTRINGS = ('"""', "'''")
_DIFF = late_re(r"^(?:@@|\*\*\* (?:Update|Add) File: |<{5,9} SEARCH)", re.MULTILINE)
_SIDES = {"<<<<<": "-", "=====": "+", ">>>>>": ""}  # what stands below such marks is replaced, and what by


def brought_in(data: Mapping[str, Any]) -> str:
    """Say what the arguments of an edit bring in; nothing where they are none of an edit."""
    listed = data.get(_LIST_KEY)
    edits = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else [data]
    added: list[str] = []
    removed: list[str] = []
    for edit in edits[:_MOST_EDITS]:
        new, old = _both_sides(edit)
        there, left = set(old), set(new)
        added += [line for line in new if line not in there]
        removed += [line for line in old if line not in left]
    if added or removed:
        return told_lines(added) or f"-{told_lines(removed, GIST_CHARS)}"
    return told_lines((_first(data, _WHOLE_KEYS) or "").splitlines(), GIST_CHARS)


def _both_sides(edit: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the new lines of an edit, and those that they replace."""
    if diff := _first(edit, _DIFF_KEYS):
        return diff_sides(diff)
    return (_first(edit, _NEW_KEYS) or "").splitlines(), (_first(edit, _OLD_KEYS) or "").splitlines()


def is_diff(text: str) -> bool:
    """Whether a text is a diff, or blocks to search and replace."""
    return _DIFF.search(text) is not None


def diff_sides(diff: str) -> tuple[list[str], list[str]]:
    """Return the new lines of a diff, or of blocks to search and replace, and those that they replace."""
    sides: dict[str, list[str]] = {"+": [], "-": []}
    side = ""
    lines = diff.splitlines()
    files = {at for at, (a, b) in enumerate(pairwise(lines)) if a.startswith("--- ") and b.startswith("+++ ")}
    for at, line in enumerate(lines):
        if (mark := line[:5]) in _SIDES:
            side = _SIDES[mark]
        elif side:
            sides[side].append(line)
        elif line[:1] in sides and files.isdisjoint((at - 1, at)):  # else it names a file; code may begin as it does
            sides[line[0]].append(line[1:])
    return sides["+"], sides["-"]


def told_lines(lines: Iterable[str], limit: int = CHANGE_CHARS) -> str:
    """Join the first lines of code, or else of comments and imports, that have room, and count the others."""
    given = [line for raw in lines if (line := one_line(raw)) and not line.startswith(_ENDS)]
    code = _code_of(given) or given
    told: list[str] = []
    room = limit
    for line in code:
        if told and len(line) + 2 > room:
            break
        told.append(shorten(line, room))
        room -= len(told[-1]) + 2
    left = len(given) - len(told)
    more = f" (+{left} line{'s' if left > 1 else ''})" if left else ""
    return on_one_line(told) + more


def _code_of(lines: Sequence[str]) -> list[str]:
    """Return lines of code: no comment, import, or what stands in a docstring."""
    code: list[str] = []
    quote = ""
    for line in lines:
        if quote:
            quote = "" if quote in line else quote
        elif line.startswith(_DOCSTRINGS):
            quote = "" if line[:3] in line[3:] else line[:3]
        elif not _NOT_CODE.match(line):
            code.append(line)
    return code


def _first(data: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((value for key in keys if isinstance(value := data.get(key), str) and value.strip()), None)
