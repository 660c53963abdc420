"""What pads a table or a screen: spaces between cells, cells that hold nothing, empty lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from trajcompress.outcomes.text import EMPTY, is_empty_row, with_empty_cells_told_once
from trajcompress.processes.late_patterns import holds_any, late_re
from trajcompress.transcript.summary_marks import elided

_GAP = late_re(r"(?:(?<=\S) {3,}+|^ {9,}+)(?=\S)")
_LEAST_GAPS = 3  # of a row of a table
_EMPTY_LINES = late_re(r"(?<=\n)(?:[ \t\r]*+\n){4,}+")
_LEAST_EMPTY = 40  # characters, more than the mark takes
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
    pads = (_WIDE, *EMPTY)
    if holds_any(text, pads):
        lines = [_narrow(line, is_said) if holds_any(line, pads) else line for line in text.split("\n")]
        text = "\n".join(_without_empty_rows(lines))
    return _EMPTY_LINES.sub("\n", text) if _TALL in text else text


def _narrow(line: str, is_said: Callable[[str], bool]) -> str:
    """Return a row of a table without its padding; no text in a string, whose lines are indented, is one."""
    narrow, gaps = _GAP.subn("  ", line) if _LINE_END not in line else (line, 0)
    narrow = with_empty_cells_told_once(narrow if gaps >= _LEAST_GAPS else line)
    return line if narrow == line or is_said(line) else narrow


def _without_empty_rows(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines, of rows side by side that hold nothing the first alone, and how much goes."""
    for empty, group in groupby(lines, is_empty_row):
        run = list(group)
        size = len("\n".join(run[1:]))
        yield from [run[0], elided(size)] if empty and size > _LEAST_EMPTY else run
