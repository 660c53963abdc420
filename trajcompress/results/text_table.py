"""Aligned columns of text that fit a width: words stay whole, and names as far as can be. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from textwrap import wrap

_GAP = "  "
_LEAST_NAME = 12
_LEAST_TEXT = 24
_WIDE_TEXT = 40


@dataclass(frozen=True, slots=True)
class Columns:
    """What columns hold, by their header: ``texts`` wrap at words, ``names`` are shortened; all else is numbers."""

    header: tuple[str, ...]
    texts: frozenset[str] = field(default_factory=frozenset)
    names: frozenset[str] = field(default_factory=frozenset)


def lines_of(
    columns: Columns, rows: Sequence[Sequence[str]], width: int | None, *, indent: str = "", titled: bool = True
) -> list[str]:
    """Return the lines of a table; with a ``width`` of None each row is one whole line.

    Where there is no room for whole names they stand above the rest of their row.
    """
    if not titled and not rows:
        return []
    cells = rows if width is None else _without_folder(rows, columns)
    widths = _widths(columns, cells, None if width is None else width - len(indent), titled=titled)
    if width is not None and titled and rows and _cut(columns, cells, widths, width - len(indent)):
        return _stacked(columns, cells, width, indent)
    lines = _header(columns, widths) if titled else []
    lines += [line for row in cells for line in _row(columns, row, widths)]
    return [(indent + line).rstrip() for line in lines]


def _header(columns: Columns, widths: Sequence[int]) -> list[str]:
    return _laid_out(
        [_wrapped(name, size) for name, size in zip(columns.header, widths, strict=True)], columns, widths
    )


def _row(columns: Columns, row: Sequence[str], widths: Sequence[int]) -> list[str]:
    cells = zip(columns.header, row, widths, strict=True)
    return _laid_out([_cell(columns, name, text, size) for name, text, size in cells], columns, widths)


def _cut(columns: Columns, rows: Sequence[Sequence[str]], widths: Sequence[int], room: int) -> bool:
    """Tell whether names are cut in a table that has something besides, or it does not fit all the same."""
    named = [at for at, name in enumerate(columns.header) if name in columns.names]
    if not named or len(named) == len(widths):
        return False
    too_wide = sum(widths) + len(_GAP) * (len(widths) - 1) > room
    return too_wide or any(len(row[at]) > widths[at] for row in rows for at in named)


def _stacked(columns: Columns, rows: Sequence[Sequence[str]], width: int, indent: str) -> list[str]:
    """Return the lines of a table whose names stand above the rest of their row."""
    named = [at for at, name in enumerate(columns.header) if name in columns.names]
    others = [at for at in range(len(columns.header)) if at not in named]
    rest = Columns(tuple(columns.header[at] for at in others), columns.texts)
    cells = [[row[at] for at in others] for row in rows]
    inner = indent + _GAP
    widths = _widths(rest, cells, width - len(inner), titled=True)
    lines = [inner + line for line in _header(rest, widths)]
    for row, below in zip(rows, cells, strict=True):
        names = [row[at] for at in named]
        whole = _GAP.join(names)
        above = [whole] if len(indent + whole) <= width else names
        lines += [indent + shortened(name, width - len(indent)) for name in above]
        lines += [inner + line for line in _row(rest, below, widths)]
    return [line.rstrip() for line in lines]


def shortened(text: str, most: int) -> str:
    """Cut the middle out of a name, as names of one kind differ at their ends."""
    if len(text) <= most:
        return text
    end = (most - 1) * 2 // 3
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def _widths(columns: Columns, rows: Sequence[Sequence[str]], room: int | None, *, titled: bool) -> list[int]:
    """Return widths that fit: texts get narrower and headers wrap, then names are cut."""
    inner = [max((len(row[at]) for row in rows), default=0) for at in range(len(columns.header))]
    words = [_longest_word(name) if titled else 0 for name in columns.header]
    widths = [max(size, len(name) if titled else 0) for size, name in zip(inner, columns.header, strict=True)]
    excess = sum(widths) + len(_GAP) * (len(widths) - 1) - (room or 0)
    if room is None or excess <= 0:
        return widths
    texts, names = (
        [at for at, name in enumerate(columns.header) if name in of] for of in (columns.texts, columns.names)
    )
    narrow = [max(words[at], *(_longest_word(row[at]) for row in rows), 0) for at in range(len(widths))]
    steps: tuple[tuple[Iterable[int], Sequence[int]], ...] = (
        (texts, [max(_WIDE_TEXT, each) for each in narrow]),
        (range(len(widths)), [max(each) for each in zip(inner, words, strict=True)]),
        (texts, [max(_LEAST_TEXT, each) for each in narrow]),
        (names, [max(_LEAST_NAME, each) for each in words]),
        (texts, narrow),
    )
    for chosen, least in steps:
        while excess > 0 and (wide := [at for at in chosen if widths[at] > least[at]]):
            widths[max(wide, key=widths.__getitem__)] -= 1
            excess -= 1
    return widths


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _without_folder(rows: Sequence[Sequence[str]], columns: Columns) -> list[list[str]]:
    """Leave out of names the folder that all of a column lie in."""
    cells = [list(row) for row in rows]
    for at, name in enumerate(columns.header):
        if name in columns.names and len(named := [row[at] for row in rows if row[at]]) > 1:
            folders = [text.split("/")[:-1] for text in named]
            shared = sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False)))
            for row in cells if shared else ():
                row[at] = "/".join(row[at].split("/")[shared:])
    return cells


def _cell(columns: Columns, name: str, text: str, size: int) -> list[str]:
    return [shortened(text, size)] if name in columns.names else _wrapped(text, size)


def _wrapped(text: str, size: int) -> list[str]:
    if len(text) <= size:
        return [text]
    return wrap(text, max(size, 1), break_long_words=False, break_on_hyphens=False) or [""]


def _laid_out(cells: Sequence[Sequence[str]], columns: Columns, widths: Sequence[int]) -> list[str]:
    left = columns.texts | columns.names
    lines = []
    for at in range(max(map(len, cells))):
        words = [each[at] if at < len(each) else "" for each in cells]
        lines.append(
            _GAP.join(
                word.ljust(size) if name in left else word.rjust(size)
                for word, name, size in zip(words, columns.header, widths, strict=True)
            )
        )
    return lines
