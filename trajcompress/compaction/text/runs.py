"""Runs of lines in what the environment printed that are equal, or equal but for a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby, islice
from operator import eq

from trajcompress.compaction.text.cut import is_json
from trajcompress.processes.late_patterns import late_re

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
_LEAST_COMPLAINTS = 20
_FIRST = 2  # of these stay
_LEAST_FREED = 100  # characters, less the mark


def without_runs(text: str, is_said: Callable[[str], bool]) -> str:
    r"""Put a mark that counts them in the place of lines that say the same as those before them.

    JSON stays as it is, and so do lines that are said later. Of complaints about file after file the first two of
    each kind, by each program, stay. Lines that differ in a number all stay: it may be the one that matters.

    Args:
        text: a result.
        is_said: says whether a later turn has a line, or a number that tells it from others.

    >>> without_runs("go\n" + "Waiting for the server …\n" * 60 + "done", lambda _: False)
    'go\nWaiting for the server …\n[… the same line 59 times more …]\ndone'
    """
    if text.count("\n") < _LEAST_EQUAL:
        return text
    lines = text.split("\n")
    may_complain = len(lines) > _LEAST_COMPLAINTS and text.count(": ") >= 2 * _LEAST_COMPLAINTS  # two in each line
    complaints = sum(text.count(f": {message}\n") for message in _MESSAGES) if may_complain else 0
    if complaints >= _LEAST_COMPLAINTS:
        shapes = [_COMPLAINED if _COMPLAINT.match(line) else line for line in lines]
    else:
        shapes = lines
    if not any(map(eq, shapes, islice(shapes, 1, None))):
        return text
    written: list[str] = []
    start = 0
    for shape, group in groupby(shapes):
        end = start + sum(1 for _ in group)
        run = lines[start:end]
        if shape == _COMPLAINED and len(run) >= _LEAST_EQUAL:
            written += _some_of(run, _first_of_each(run), is_said)
        else:
            written += run if shape == _COMPLAINED else _told_once(shape, len(run), is_said)
        start = end
    return "\n".join(written) if len(written) < len(lines) and not is_json(text) else text


def _told_once(line: str, times: int, is_said: Callable[[str], bool]) -> Sequence[str]:
    mark = f"[… the same line {times - 1:,} times more …]"
    freed = (times - 1) * (len(line) + 1) - len(mark)
    return [line] * times if times < _LEAST_EQUAL or freed < _LEAST_FREED or is_said(line) else [line, mark]


def _first_of_each(run: Sequence[str]) -> set[int]:
    """Return the places of the first complaints of each kind."""
    seen: dict[str, int] = {}
    first: set[int] = set()
    for place, line in enumerate(run):
        kind = f"{_program(line)}: {_message(line)}"
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= _FIRST:
            first.add(place)
    return first


def _program(line: str) -> str:
    return line.partition(": ")[0]


def _message(line: str) -> str:
    return line.rpartition(": ")[2]


def _some_of(run: Sequence[str], staying: set[int], is_said: Callable[[str], bool]) -> Sequence[str]:
    """Return the lines at some places, and those that are said later, with marks that count the others."""
    written: list[str] = []
    gone: list[str] = []

    def close() -> None:
        counts = ", ".join(f"{count:,} × {kind}" for kind, count in Counter(map(_message, gone)).items())
        programs = " and ".join(dict.fromkeys(map(_program, gone)))  # others may have complained last
        mark = f"[… {len(gone):,} more such lines of {programs}, with other files ({counts}), elided …]"
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
