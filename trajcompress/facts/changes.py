"""The files and the hunks of a change as git prints it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcompress.processes.late_patterns import late_re

_HINT = "diff --git "
_FILE = late_re(
    rf"^{_HINT}[^\n]*\n"
    r"(?P<new>(?:new|deleted) file mode [^\n]*\n)?(?:index [^\n]*\n)?(?P<binary>Binary files [^\n]*\n)?"
    r"(?:(?:[ +@\\-]|\[… |(?:index|similarity|rename|old mode|new mode|GIT binary) )[^\n]*(?:\n|\Z))*+",
    re.MULTILINE,
)

_BEGINS = "@@ -"
_HUNK = late_re(
    rf"^{_BEGINS}(?P<was>[\d,]{{1,20}}) \+[\d,]{{1,20}} @@[^\n]*+\n"
    r"(?P<lines>(?:(?!--- [^\n]*+\n\+\+\+ )[ +\\-][^\n]*+(?:\n|\Z)|\r?\n)*+)",
    re.MULTILINE,
)


def hunks(text: str) -> Iterator[re.Match[str]]:
    """Return the hunks of the diffs in a text.

    The group ``was`` says where one stood in the file before, ``0,0`` where there was none; ``lines`` are its own.
    """
    return _HUNK.finditer(text) if _BEGINS in text else iter(())


def files_of_change(text: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """Return the files that a change finds and those that it brings or takes away, or that are binary.

    A group ``new`` is how it says the latter.
    """
    files = list(_FILE.finditer(text)) if _HINT in text else []
    new = [file for file in files if file["new"] or file["binary"]]
    return [file for file in files if not (file["new"] or file["binary"])], new
