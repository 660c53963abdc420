"""Patches of ``apply_patch``, which name the files that they add, update, move and delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from trajcompress.outcomes.action.change import CHANGE_CHARS, GIST_CHARS, diff_sides, told_lines
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import late_re

_BEGIN = "*** Begin Patch"
_APPLIES = late_re(r"(?:cd [^\n]{1,400}?(?:&&|;|\n)\s{0,8})?(?:apply_patch|applypatch)\b[^\n]{0,100}\n?\s{0,8}\Z")
_FILE = late_re(r"^\*\*\* (Add|Update|Delete) File: ([^\r\n]{1,400})")
_MOVED = "*** Move to: "
_MOST_FILES = 100  # are read
_KEYS = ("input", "patch", "patchText", "patch_text", "diff", "command", "cmd")


class Patch(NamedTuple):
    """What a patch does: to which files, what it brings in, and which get another name."""

    files: Sequence[str]
    change: str
    moves: Sequence[tuple[str, str]]


def patch_of(given: Any) -> Patch | None:
    """Read the patch that a call is given, as its only text or as one of its arguments; None where there is none."""
    held = given if isinstance(given, dict) else {"": given}
    for text in map(held.get, ("", *_KEYS)):
        before, begin, patch = text.partition(_BEGIN) if isinstance(text, str) else ("", "", "")
        if begin and (not before.strip() or _APPLIES.match(before)):
            return _read(patch)
    return None


def _read(text: str) -> Patch | None:
    files: dict[str, None] = {}
    moves: list[tuple[str, str]] = []
    is_new = True
    name = ""
    for line in text.splitlines():
        if not line.startswith("*** "):
            continue
        if len(files) + len(moves) >= _MOST_FILES:
            break
        if found := _FILE.match(line):
            name = one_line(found[2])
            files[name] = None
            is_new = is_new and found[1] == "Add"
        elif line.startswith(_MOVED) and name:
            moved = one_line(line[len(_MOVED) :])
            moves.append((name, moved))
            files = {moved if file == name else file: None for file in files}
    if not files:
        return None
    return Patch([*files], told_lines(diff_sides(text)[0], GIST_CHARS if is_new else CHANGE_CHARS), moves)
