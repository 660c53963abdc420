"""The files of a change as git prints it."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re

_HINT = "diff --git "
_FILE = late_re(
    rf"^{_HINT}[^\n]*\n"
    r"(?P<new>(?:new|deleted) file mode [^\n]*\n)?(?:index [^\n]*\n)?(?P<binary>Binary files [^\n]*\n)?"
    r"(?:(?:[ +@\\-]|\[… |(?:index|similarity|rename|old mode|new mode|GIT binary) )[^\n]*(?:\n|\Z))*+",
    re.MULTILINE,
)
_CHANGED = late_re(r"\n[+-][^\n]*(?:\n[+-][^\n]*)*+")
_HEADS = "\n--- ", "\n+++ "


def files_of_change(text: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """Return the files that a change finds and those that it brings or takes away, or that are binary.

    A group ``new`` is how it says the latter.
    """
    files = list(_FILE.finditer(text)) if _HINT in text else []
    new = [file for file in files if file["new"] or file["binary"]]
    return [file for file in files if not (file["new"] or file["binary"])], new


def changed_lines(text: str) -> list[str]:
    """Return the lines that a change takes from files that it finds, or brings into them, in runs."""
    found: list[str] = []
    for file in files_of_change(text)[0]:
        blocks = (block[0] for block in _CHANGED.finditer(text, *file.span()))
        found += [block[1:] for block in blocks if not block.startswith(_HEADS)]
    return found
