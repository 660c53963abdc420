"""What pads a table or a screen: spaces between cells, cells that hold nothing, empty lines."""

from __future__ import annotations

from collections.abc import Callable

from trajcompress.outcomes.text import with_empty_cells_told_once
from trajcompress.processes.late_patterns import late_re

_GAP = late_re(r"(?:(?<=\S) {3,}+|^ {9,}+)(?=\S)")
_LEAST_GAPS = 3  # of a row of a table
_EMPTY_LINES = late_re(r"(?<=\n)(?:[ \t\r]*+\n){4,}+")
_LINE_END = "\\n"
_WIDE, _TALL = "   ", "\n\n\n"


def without_padding(text: str, is_said: Callable[[str], bool]) -> str:
    r"""Leave two spaces between the cells of tables, one of empty cells side by side, and one of empty lines.

    Lines that a later turn has stay as they are.

    Args:
        text: a result.
        is_said: says whether a later turn has a line.

    >>> without_padding("Austria      1973      12.5     NaN     NaN     NaN\n", lambda _: False)
    'Austria  1973  12.5  NaN …\n'
    """
    if _WIDE in text:
        text = "\n".join(_narrow(line, is_said) if _may_be_row(line) else line for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n", text) if _TALL in text else text


def _may_be_row(line: str) -> bool:
    """Whether a line has cells apart, and is no text in a string, whose lines are indented."""
    return _WIDE in line and _LINE_END not in line


def _narrow(line: str, is_said: Callable[[str], bool]) -> str:
    narrow, gaps = _GAP.subn("  ", line)
    return line if gaps < _LEAST_GAPS or is_said(line) else with_empty_cells_told_once(narrow)
