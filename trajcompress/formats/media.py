"""Images, videos and sounds of a column that marks in the messages stand for: kept in step with these. Pure.

Loaders pair the n-th mark with the n-th item of the column. LLaMA-Factory's mark is ``<image>`` in the text; TRL,
verl and others have a part ``{"type": "image"}`` without the image itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from trajcompress.formats.turns import keys_of
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import Turn

MEDIA = {"images": "image", "videos": "video", "audios": "audio"}
"""The columns, and the type of the parts that stand for an item of each; ``<image>`` in a text does, too."""

MARKS = tuple(f"<{kind}>" for kind in MEDIA.values())
"""Those in a text."""

_MARK = late_re(rf"<({'|'.join(MEDIA.values())})>")
_CONTEXT_CHARS = 12  # behind a mark, by which it is known again in a text that was cut


def with_marks(turns: Sequence[Turn], row: Mapping[str, Any]) -> tuple[Turn, ...]:
    """Count the marks in the text of turns, where the row has an item for each."""
    if not any(_is_paired(turns, row.get(column), kind) for column, kind in MEDIA.items()):
        return tuple(turns)
    return tuple(replace(turn, marks=marks) if (marks := marks_in_text(turn.text)) else turn for turn in turns)


def marks_in_text(text: str) -> int:
    """Return how many marks a text has."""
    return sum(map(text.count, MARKS))


def without_marks(text: str) -> str:
    """Return a text with words in the place of its marks.

    >>> without_marks("<image>a page")
    '(image) a page'
    """
    return _MARK.sub(r"(\1) ", text)


def in_step_with(
    row: dict[str, Any],
    read: Sequence[Turn],
    written: Sequence[Turn],
    places: Sequence[int | None],
    *,
    more: bool = False,
) -> dict[str, Any]:
    """Return a row whose columns of images, videos and sounds have an item for each mark that is left.

    Args:
        row: what is to be written; a column that had not as many items as there were marks is left alone.
        read: the turns that were read.
        written: those of ``row``.
        places: where each of these stands in ``read``; None for one that was made.
        more: whether the columns may have items for turns behind those of ``read``.
    """
    kept = {
        column: [row[column][item] for item in _left(kind, read, written, places)]
        for column, kind in MEDIA.items()
        if _is_paired(read, row.get(column), kind, more=more)
    }
    changed = {column: items for column, items in kept.items() if len(items) < len(row[column])}
    return {**row, **changed} if changed else row


def unpaired(turns: Sequence[Turn], row: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield the columns with another number of items than the messages have marks for them, with both.

    Without any mark a loader may put them in itself.
    """
    for column, kind in MEDIA.items():
        if not isinstance(items := row.get(column), list) or not items:
            continue
        marks = sum(len(_marks(turn, kind)) for turn in turns)
        if marks not in {0, len(items)}:
            yield column, len(items), marks


def _is_paired(turns: Sequence[Turn], items: Any, kind: str, *, more: bool = False) -> bool:
    if not isinstance(items, list) or not items:
        return False
    marks = sum(len(_marks(turn, kind)) for turn in turns)
    return marks == len(items) or (more and marks < len(items))


def _left(kind: str, read: Sequence[Turn], written: Sequence[Turn], places: Sequence[int | None]) -> Iterator[int]:
    """Yield which items are left, in their order."""
    marks = [_marks(turn, kind) for turn in read]
    before = 0
    first = []
    for each in marks:
        first.append(before)
        before += len(each)
    for place, turn in zip(places, written, strict=True):
        if place is not None:
            yield from (first[place] + number for number in _found_again(marks[place], _marks(turn, kind)))


def _found_again(before: Sequence[str], after: Sequence[str]) -> Iterator[int]:
    """Yield which marks of a turn are left in it, by what stands behind each."""
    at = 0
    for number, context in enumerate(after[: len(before)]):
        behind = len(before) - (len(after) - number) + 1  # the others need as many
        at = next((place for place in range(at, behind) if before[place] == context), at)
        yield at
        at += 1


def _marks(turn: Turn, kind: str) -> list[str]:
    """Return what stands behind each mark of a turn, in their order."""
    content = turn.raw.get(keys_of(turn.raw).content)
    return list(_marks_in(content, kind))


def _marks_in(content: Any, kind: str) -> Iterator[str]:
    if isinstance(content, str):
        mark = f"<{kind}>"
        pieces = content.split(mark)[1:] if mark in content else ()
        yield from (piece[:_CONTEXT_CHARS] for piece in pieces)
    elif isinstance(content, list):
        for part in content:
            yield from _marks_in(part, kind)
    elif isinstance(content, dict) and content.get("type") == kind:
        yield from () if any(value is not None for key, value in content.items() if key != "type") else ("",)
    elif isinstance(content, dict):
        yield from _marks_in(content.get("text") or content.get("content"), kind)
