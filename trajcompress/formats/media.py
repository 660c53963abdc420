"""Images, videos and sounds of a column that marks in the messages stand for: kept in step with these. Pure.

Loaders pair the n-th mark with the n-th item of the column. LLaMA-Factory's mark is ``<image>`` in the text; TRL,
verl and others have a part ``{"type": "image"}`` without the image itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from trajcompress.formats.content import IMAGE_TYPES
from trajcompress.formats.turns import keys_of
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import Turn

MEDIA = {"images": "image", "videos": "video", "audios": "audio"}
"""The columns, and the type of the parts that stand for an item of each; ``<image>`` in a text does, too."""

MARKS = tuple(f"<{kind}>" for kind in MEDIA.values())
"""Those in a text."""

IMAGE_MARK = MARKS[0]

_MARK = late_re(rf"<({'|'.join(MEDIA.values())})>")
_CONTEXT_CHARS = 12  # behind a mark, by which it is known again in a text that was cut


def with_marks(turns: Sequence[Turn], row: Mapping[str, Any]) -> tuple[Turn, ...]:
    """Count the marks in the text of turns, where the row has an item for each."""
    if not any(paired(turns, row.get(column), kind) for column, kind in MEDIA.items()):
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
        column: [row[column][item] for item in _left(kind, marks, written, places)]
        for column, kind in MEDIA.items()
        if (marks := paired(read, row.get(column), kind, more=more))
    }
    changed = {column: items for column, items in kept.items() if len(items) < len(row[column])}
    return {**row, **changed} if changed else row


def paired(turns: Sequence[Turn], items: Any, kind: str, *, more: bool = False) -> list[list[str]] | None:
    """Return the marks of each turn, as what stands behind each; None where a column has not an item for each.

    A system prompt may tell of marks: its own count where the column has items for them, too.
    """
    if not isinstance(items, list) or not items:
        return None
    marks = [marks_of(turn, kind) for turn in turns]
    said = [[] if turn.role == "system" else each for turn, each in zip(turns, marks, strict=True)]
    exact = next((each for each in (marks, said) if sum(map(len, each)) == len(items)), None)
    return marks if exact is None and more and sum(map(len, marks)) < len(items) else exact


def _left(
    kind: str, marks: Sequence[Sequence[str]], written: Sequence[Turn], places: Sequence[int | None]
) -> Iterator[int]:
    """Yield which items are left, in their order."""
    before = 0
    first = []
    for each in marks:
        first.append(before)
        before += len(each)
    for place, turn in zip(places, written, strict=True):
        if place is not None:
            yield from (first[place] + number for number in _found_again(marks[place], marks_of(turn, kind)))


def _text_of(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def text_with_marks(parts: Sequence[Any]) -> str | None:
    """Return parts as one text with a mark for each image; None where they are not texts and images, some of each."""
    marks = [IMAGE_MARK if isinstance(part, dict) and str(part.get("type")) in IMAGE_TYPES else "" for part in parts]
    if all(marks) or not any(marks):
        return None
    is_told = any(IMAGE_MARK in _text_of(part) for part, mark in zip(parts, marks, strict=True) if not mark)
    return None if is_told else in_one_text(parts, marks)


def in_one_text(parts: Sequence[Any], marks: Sequence[str]) -> str | None:
    """Return parts as one text, each with a mark as that; None where one without a mark is no text."""
    said, after_text = "", False
    for part, mark in zip(parts, marks, strict=True):
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
        if not mark and not isinstance(text, str):
            return None
        said += mark or (f"\n{text}" if after_text else str(text))
        after_text = not mark
    return said


def marks_left(before: str, after: str) -> Iterator[int]:
    """Yield which marks of images of a text are left in what became of it."""
    return _found_again(list(_marks_in(before, "image")), list(_marks_in(after, "image")))


def _found_again(before: Sequence[str], after: Sequence[str]) -> Iterator[int]:
    """Yield which marks of a turn are left in it, by what stands behind each."""
    at = 0
    for number, context in enumerate(after[: len(before)]):
        behind = len(before) - (len(after) - number) + 1  # the others need as many
        at = max(range(at, behind), key=lambda place: _likeness(before[place], context), default=at)
        yield at
        at += 1


def _likeness(before: str, after: str) -> tuple[bool, int]:
    """Return how much of what stood behind a mark stands there still: a cut may have changed its end."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return before == after, sum(1 for _ in same)


def marks_of(turn: Turn, kind: str) -> list[str]:
    """Return what stands behind each mark of a turn, in their order."""
    content = turn.raw.get(keys_of(turn.raw).content)
    return list(_marks_in(content, kind))


def is_bare(part: Any, kind: str) -> bool:
    """Tell whether a part stands for an item of a column: it has none of its own."""
    return (
        isinstance(part, dict)
        and part.get("type") == kind
        and all(value is None for key, value in part.items() if key != "type")
    )


def _marks_in(content: Any, kind: str) -> Iterator[str]:
    if isinstance(content, str):
        mark = f"<{kind}>"
        pieces = content.split(mark)[1:] if mark in content else ()
        yield from (piece[:_CONTEXT_CHARS] for piece in pieces)
    elif isinstance(content, list):
        for part, behind in zip(content, [*content, None][1:], strict=True):
            yield from [_text_of(behind)[:_CONTEXT_CHARS]] if is_bare(part, kind) else _marks_in(part, kind)
    elif isinstance(content, dict) and content.get("type") == kind:
        yield from ("",) if is_bare(content, kind) else ()
    elif isinstance(content, dict):
        yield from _marks_in(content.get("text") or content.get("content"), kind)
