"""Figures in words."""

from __future__ import annotations

import shlex
from pathlib import Path

_HOUR_S, _DAY_S = 3600, 86400
_EIGHTHS = " ▏▎▍▌▋▊▉"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def counted(number: int, noun: str) -> str:
    """Write how many of something there are.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def in_bytes(size: int) -> str:
    """Write how large something is, in units of a thousand.

    >>> in_bytes(999), in_bytes(12_345), in_bytes(3_400_000)
    ('999 B', '12.3 kB', '3.4 MB')
    """
    power = next(power for power in range(len(_UNITS)) if size < 1000 ** (power + 1) or power == len(_UNITS) - 1)
    return f"{size / 1000**power:,.1f} {_UNITS[power]}" if power else f"{size} B"


def duration(seconds: float) -> str:
    """Write a time as a clock does.

    >>> [duration(each) for each in (5, 75, 4000, 200_000)]
    ['0:05', '1:15', '1:06:40', '2 d 7:33']
    """
    whole = max(0, int(seconds))
    minutes, rest = divmod(whole % _HOUR_S, 60)
    if whole >= _DAY_S:
        return f"{whole // _DAY_S} d {whole % _DAY_S // _HOUR_S}:{minutes:02}"
    return f"{whole // _HOUR_S}:{minutes:02}:{rest:02}" if whole >= _HOUR_S else f"{minutes}:{rest:02}"


def printable(text: str) -> str:
    """Make a text that rows bring fit for a line of a terminal: whatever is no plain character is escaped."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def place_in(file: str, row: int, line: int | None) -> str:
    """Write where a row stands, for people and editors: its line from 1; its place from 0 where there are no lines.

    >>> place_in("a.jsonl", 4, 7), place_in("a.parquet", 4, None)
    ('a.jsonl:line 7', 'a.parquet:4')
    """
    return f"{file}:{row}" if line is None else f"{file}:line {line}"


def command_to_show(folder: str, place: str) -> str:
    """Write the command that shows a row of a run.

    >>> command_to_show("my out", "-:3")
    "trajcompress show 'my out' -- -:3"
    """
    end_of_options = ["--"] * place.startswith("-")  # rows of standard input
    return printable(shlex.join(["trajcompress", "show", folder, *end_of_options, place]))


def last_part(name: str) -> str:
    """Return the name of a tokenizer; of a folder its last part, so that no path is shown."""
    return Path(name).name if Path(name).is_dir() else name


def bar(eighths: int) -> str:
    """Draw a bar, so many eighths of a character long.

    >>> bar(20), bar(0)
    ('██▌', '')
    """
    return f"{'█' * (eighths // 8)}{_EIGHTHS[eighths % 8]}".strip()
