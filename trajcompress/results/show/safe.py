"""Text of rows, made safe to look at: rows may hold anything, also what steers a terminal or turns text around."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re

_UNSEEN = late_re(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f"  # controls, which terminals obey
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # what hides or reorders text
    "\ud800-\udfff\U000e0000-\U000e0fff]"  # what has no encoding, and tags that nobody sees
)
_TAB = " " * 4


def printable(text: str) -> str:
    """Return the text with everything that is not seen escaped, as in Python strings; line ends and tabs apart."""
    return _UNSEEN.sub(_escaped, text.replace("\r\n", "\n").replace("\t", _TAB))


def one_line(text: str, limit: int) -> str:
    """Return the start of a text on one line, safe to look at, in at most ``limit`` characters."""
    words = " ".join(text[: 4 * limit].split())
    line = printable(words)
    return f"{line[: limit - 1]}…" if len(line) > limit or len(text) > 4 * limit else line


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
