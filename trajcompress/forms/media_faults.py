"""Whether a target pairs the images, videos and sounds of a row with their marks, as its own loader does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from trajcompress.formats.media import MEDIA, is_bare, marks_of, paired
from trajcompress.formats.turns import keys_of
from trajcompress.settings.choices import Target
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.wording import counted

_IMAGES = "images"


def media_faults(trajectory: Trajectory, target: Target) -> Iterator[str]:
    """Yield what of the images and the like of a row the target does not pair as they stand."""
    yield from _FAULTS.get(target, _of_any)(trajectory.turns, trajectory.row)


def _of_any(turns: Sequence[Turn], row: Mapping[str, Any]) -> Iterator[str]:
    """Without any mark a loader may put them in itself."""
    for column, kind in MEDIA.items():
        marks = sum(len(marks_of(turn, kind)) for turn in turns)
        if isinstance(items := row.get(column), list) and items and marks and not paired(turns, items, kind):
            yield _unequal(column, items, marks)


def _of_llama_factory(turns: Sequence[Turn], row: Mapping[str, Any]) -> Iterator[str]:
    """Of a row with any such column it counts the marks of all kinds, but in the system prompt."""
    if not any(column in row for column in MEDIA):
        return
    for column, kind in MEDIA.items():
        items = row.get(column) or []
        marks = sum(len(marks_of(turn, kind)) for turn in turns if turn.role != "system")
        if isinstance(items, list) and len(items) != marks:
            yield _unequal(column, items, marks)


def _of_verl(turns: Sequence[Turn], row: Mapping[str, Any]) -> Iterator[str]:
    """Of a row with such a column it takes the marks in texts, of the system prompt, too; parts it leaves alone."""
    columns = {column: MEDIA[column] for column in (_IMAGES, "videos")}
    if not any(column in row for column in columns):
        return
    texts = [text for turn in turns if isinstance(text := _content(turn), str)]
    for column, kind in columns.items():
        items = row.get(column, [])
        if not isinstance(items, list):
            yield f"column {column!r} is {'null' if items is None else type(items).__name__}; it needs a list"
        elif (marks := sum(text.count(f"<{kind}>") for text in texts)) != len(items):
            yield _unequal(column, items, marks)
        elif not all(isinstance(item, dict) for item in items):
            yield f"{column!r} are no objects such as {{'image': PLACE}}"


def _of_trl(turns: Sequence[Turn], row: Mapping[str, Any]) -> Iterator[str]:
    """It fills parts of the prompt, but in results; where a user's content is text, all images stand before that."""
    items = row.get(_IMAGES)
    items = items if isinstance(items, list) else []
    unfilled = [turn for turn in turns if _bare(turn) and (turn.role == "tool" or turn.in_answer)]
    if unfilled:
        yield f"a {unfilled[0].role} turn has a part that stands for an image, which it does not fill"
        return
    by_text = any(turn.role == "user" and isinstance(_content(turn), str) for turn in turns)
    parts = sum(map(_bare, turns))
    if parts + (len(items) if by_text else 0) != len(items):
        yield f"{counted(len(items), 'image')}, {counted(parts, 'part')} for them" + (
            "; all stand before the first text of the user, too" if by_text and items else ""
        )
    elif items and any(f"<{MEDIA[_IMAGES]}>" in turn.text for turn in turns):
        yield "marks in the text, which it shows as they are: it wants parts"


def _of_axolotl(turns: Sequence[Turn], row: Mapping[str, Any]) -> Iterator[str]:
    """Of a column it takes the first image alone, for the last part without one, or behind the user's first words."""
    items = row.get(_IMAGES)
    parts = sum(map(_bare, turns))
    if isinstance(items, list) and len(items) != 1:
        yield f"{counted(len(items), 'image')} in {_IMAGES!r}; it takes one, and of others parts that have them"
    elif parts > (1 if items else 0):
        yield f"{counted(parts, 'part')} for images that have none"


def _bare(turn: Turn) -> int:
    content = _content(turn)
    return sum(is_bare(part, MEDIA[_IMAGES]) for part in content) if isinstance(content, list) else 0


def _content(turn: Turn) -> Any:
    return turn.raw.get(keys_of(turn.raw).content)


def _unequal(column: str, items: Sequence[Any], marks: int) -> str:
    return f"{len(items)} in {column!r}, {counted(marks, 'mark')} in the messages"


_FAULTS: Mapping[Target, Callable[[Sequence[Turn], Mapping[str, Any]], Iterator[str]]] = {
    "llama-factory": _of_llama_factory,
    "verl": _of_verl,
    "trl": _of_trl,
    "axolotl": _of_axolotl,
}
