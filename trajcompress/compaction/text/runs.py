"""Runs of lines in what the environment printed that are equal, or equal but for numbers or a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby, islice
from operator import eq

from trajcompress.compaction.text.cut import is_json
from trajcompress.processes.late_patterns import late_re

_DIGITS = late_re(r"\d+")
_LINE_NUMBER = late_re(r"\s*(\d{1,9})[\t:|]")
_MESSAGES = (  # of strerror(3), those that programs print for file after file
    "Permission denied",
    "No such file or directory",
    "Input/output error",
    "Is a directory",
    "Not a directory",
    "Invalid argument",
    "Operation not permitted",
    "Operation not supported",
    "No such device or address",
    "Resource temporarily unavailable",
    "Read-only file system",
    "Too many levels of symbolic links",
)
_COMPLAINT = late_re(rf"^[\w./+-]{{1,60}}: [^\n]{{1,400}}: ({'|'.join(_MESSAGES)})$", re.MULTILINE)
_COMPLAINED = "\0"  # the shape of all of these
_LEAST_EQUAL = 4  # lines
_LEAST_LIKE = 100  # of lines that differ in numbers: a shorter list of figures or names may be what was asked for
_LEAST_COMPLAINTS = 20
_FIRST = 2  # of these stay, and the last: so a reader sees how they go on
_LEAST_FREED = 100  # characters, less the mark


def without_runs(text: str, is_said: Callable[[str], bool]) -> str:
    r"""Put a mark that counts them in the place of lines that say the same as those before them.

    JSON stays as it is, and so do views of files and lines that are said later. Of complaints about file after file
    the first two of each kind, by each program, stay.

    Args:
        text: a result.
        is_said: says whether a later turn has a line, or a number that tells it from others.

    >>> without_runs("go\n" + "Waiting for the server …\n" * 60 + "done", lambda _: False)
    'go\nWaiting for the server …\n[… the same line 59 times more …]\ndone'
    """
    if text.count("\n") < _LEAST_EQUAL:
        return text
    lines = text.split("\n")
    may_complain = text.count(": ") >= 2 * _LEAST_COMPLAINTS  # two in each line
    complaints = sum(text.count(f": {message}\n") for message in _MESSAGES) if may_complain else 0
    if complaints >= _LEAST_COMPLAINTS:
        shapes = [_COMPLAINED if _COMPLAINT.match(line) else line for line in lines]
    else:
        shapes = _DIGITS.sub("0", text).split("\n") if _may_be_like(lines) else lines
    if not any(map(eq, shapes, islice(shapes, 1, None))):
        return text
    written: list[str] = []
    start = 0
    for shape, group in groupby(shapes):
        end = start + sum(1 for _ in group)
        run = lines[start:end]
        if shape == _COMPLAINED and len(run) >= _LEAST_EQUAL:
            written += _some_of(run, _first_of_each(run), is_said, "files")
        else:
            written += _told_once(run, is_said) if len(run) >= _LEAST_EQUAL else run
        start = end
    return "\n".join(written) if len(written) < len(lines) and not is_json(text) else text


def _may_be_like(lines: Sequence[str]) -> bool:
    """Whether many lines that follow each other may be equal but for numbers; two amid each such run tell."""
    few = _LEAST_LIKE // 2
    amid = ((lines[place], lines[place + 1]) for place in range(0, len(lines) - 1, few))
    return len(lines) >= _LEAST_LIKE and any(_DIGITS.sub("0", one) == _DIGITS.sub("0", other) for one, other in amid)


def _told_once(run: Sequence[str], is_said: Callable[[str], bool]) -> Sequence[str]:
    if len(run) >= _LEAST_LIKE and run[0] != run[-1] and not _is_view(run):
        return _some_of(run, {*range(_FIRST), len(run) - 1}, is_said, "numbers")
    written: list[str] = []
    for line, group in groupby(run):
        more = sum(1 for _ in group) - 1
        mark = f"[… the same line {more:,} times more …]"
        freed = more * (len(line) + 1) - len(mark)
        if more + 1 < _LEAST_EQUAL or freed < _LEAST_FREED or is_said(line):
            written += [line] * (more + 1)
        else:
            written += [line, mark]
    return written


def _is_view(run: Sequence[str]) -> bool:
    """Whether lines are those of a file, behind their numbers."""
    first, second = map(_LINE_NUMBER.match, run[:2])
    return bool(first and second and int(second[1]) == int(first[1]) + 1)


def _first_of_each(run: Sequence[str]) -> set[int]:
    """Return the places of the first complaints of each kind."""
    seen: dict[str, int] = {}
    first: set[int] = set()
    for place, line in enumerate(run):
        kind = f"{line.partition(': ')[0]}: {_message(line)}"  # of this program
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= _FIRST:
            first.add(place)
    return first


def _message(line: str) -> str:
    return line.rpartition(": ")[2]


def _some_of(run: Sequence[str], staying: set[int], is_said: Callable[[str], bool], other: str) -> Sequence[str]:
    """Return the lines at some places, and those that are said later, with marks that count the others."""
    written: list[str] = []
    gone: list[str] = []

    def close() -> None:
        kinds = Counter(map(_message, gone)) if other == "files" else {}
        counts = ", ".join(f"{count:,} × {kind}" for kind, count in kinds.items())
        mark = f"[… {len(gone):,} more such lines, with other {other}{counts and f' ({counts})'}, elided …]"
        written.extend([mark] if sum(map(len, gone)) + len(gone) - len(mark) >= _LEAST_FREED else gone)
        gone.clear()

    for place, line in enumerate(run):
        if place in staying or is_said(line):
            close()
            written.append(line)
        else:
            gone.append(line)
    close()
    return written
