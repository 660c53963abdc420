"""How listings number the lines of a file."""

from __future__ import annotations

NUMBER = r"\d{1,7}(?: ?\||[:\t→])"
"""The number of a line, as `cat -n`, `grep -n`, Claude Code (``7→``) and Roo Code (``7 | ``) give it."""

_SIGNS = ("→", " |", "|", ":", "\t")
_ALIGNED_CHARS = 8  # in which numbers of lines are aligned
_RULES = ("-+-", "---|", "-|-")  # below the heads of a table, whose first column may be numbered, too


def is_line_number(text: str, start: int, end: int) -> bool:
    r"""Whether a figure of a text is the number of a line in a listing: the line before or behind has its neighbour.

    >>> shown = "   9→import os\n  10→\n  11→limit = 10"
    >>> [is_line_number(shown, at, at + 2) for at in (shown.index("10"), shown.rindex("10"))]
    [True, False]
    >>> is_line_number("10:30 Tea\n11:30 Walk", 0, 2)
    False
    """
    sign = next((sign for sign in _SIGNS if text.startswith(sign, end)), "")
    if not sign or not _begins_line(text, start) or (sign == ":" and text[end + 1 : end + 2].isdecimal()):
        return False
    if sign == "→":
        return True
    number = int(text[start:end])
    begins, ends = text.rfind("\n", 0, start), text.find("\n", end)
    before = text[text.rfind("\n", 0, max(begins, 0)) + 1 : max(begins, 0)]
    behind = text[ends + 1 : ends + 1 + 2 * _ALIGNED_CHARS] if ends >= 0 else ""
    beside = ((before, number - 1), (behind, number + 1))
    counts_on = any(line.lstrip(" ").startswith(f"{other}{sign}") for line, other in beside)
    return counts_on and (sign == ":" or not any(rule in text for rule in _RULES))


def _begins_line(text: str, at: int) -> bool:
    """Whether nothing but spaces stands before a place on its line."""
    before = text[max(at - _ALIGNED_CHARS, 0) : at].rstrip(" ")
    return before.endswith(("\n", "\\n")) if before else at <= _ALIGNED_CHARS
