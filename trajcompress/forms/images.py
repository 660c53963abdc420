"""Images of a column in the form of a trainer: as marks in the text, or as parts, with the image or without it. Pure.

Which of these a trainer pairs with the right image was seen with its own loader.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from trajcompress.formats.content import IMAGE_TYPES
from trajcompress.formats.media import IMAGE_MARK, MEDIA, in_one_text, is_bare, marks_of, paired
from trajcompress.formats.turns import keys_of
from trajcompress.forms.form import Draft, UnfitError
from trajcompress.transcript.trajectory import Turn
from trajcompress.wording import counted

COLUMN = "images"
_BARE = {"type": "image"}
_HOLD = ("image", "image_url", "url", "path", "base64")
"""Keys under which a part may have its image: itself, where it lies, or as base64."""
_KINDS = {b"\xff\xd8\xff": "jpeg", b"RIFF": "webp", b"GIF8": "gif"}


def as_marks(turns: Sequence[Turn], draft: Draft) -> Sequence[Turn]:
    """Return turns with marks in their text for the parts that stand for images and the like of a column."""
    kinds = [kind for column, kind in MEDIA.items() if paired(turns, draft.columns.get(column), kind)]
    made = [_with_marks(turn, kinds) for turn in turns]
    if not any(new is not old for new, old in zip(made, turns, strict=True)):
        return turns
    draft.changes.add("content")
    return made


def as_objects(draft: Draft) -> None:
    """Write the images of a column as objects: where they lie under ``image``, or their bytes."""
    if COLUMN not in draft.columns:
        return
    items = draft.columns[COLUMN]
    made = [_object(item) for item in items] if isinstance(items, list) else [] if items is None else items
    if made != items:
        draft.changes.add("columns")
        draft.columns = {**draft.columns, COLUMN: made}


def _object(item: Any) -> Any:
    if isinstance(item, dict) and item.get("path") is not None and item.get("bytes") is None:
        item = item["path"]
    return {"image": item} if isinstance(item, str) else item


def as_parts(turns: Sequence[Turn], draft: Draft, *, holds: Callable[[Turn], bool]) -> Sequence[Turn]:
    """Return turns with parts for images: where ``holds`` says so, with the image, else for those of the column.

    Images without any mark stand before the first words of the user, where trainers put them.

    Raises:
        UnfitError: there are not as many images as marks, one is within a part, or neither a place nor bytes.
    """
    given = draft.columns.get(COLUMN)
    items = given if isinstance(given, list) else []
    if not items and not any(turn.images for turn in turns):
        return turns
    marks = [marks_of(turn, "image") for turn in turns] if items else [[] for _ in turns]
    found = paired(turns, items, "image") or marks
    if items and not any(found):
        found, turns = _opened(turns, len(items))
    if (count := sum(map(len, found))) != len(items):
        raise UnfitError(f"media_mismatch: {counted(len(items), 'image')}, {counted(count, 'mark')} in the messages")
    left, kept, made = iter(items), [], []
    for turn, own in zip(turns, found, strict=True):
        content = turn.raw.get(keys_of(turn.raw).content)
        parts = list(_parts(content, marked=bool(own)))
        bare = sum(part == _BARE for part in parts)
        if bare != len(own) or turn.images > sum(map(_is_image, parts)):
            raise UnfitError(f"content_shape: a {turn.role} turn holds an image within a part")
        held = [next(left) for _ in own]
        if holds(turn):
            shown = iter(held)
            parts = [{**_BARE, "image": _as_text(next(shown))} if part == _BARE else part for part in parts]
        else:
            kept += held
        made.append(_with_parts(turn, parts) if own or turn.images else turn)
    draft.changes.add("content")
    draft.columns = {**draft.columns, COLUMN: kept}
    return made


def _opened(turns: Sequence[Turn], images: int) -> tuple[list[list[str]], Sequence[Turn]]:
    """Return turns with a part for each image before the first words of the user."""
    at = next((index for index, turn in enumerate(turns) if turn.role == "user"), None)
    if at is None:
        raise UnfitError("media_mismatch: images without a mark, and no user turn")
    parts = [_BARE] * images + list(_parts(turns[at].raw.get(keys_of(turns[at].raw).content), marked=False))
    opened = [*turns[:at], _with_parts(turns[at], parts), *turns[at + 1 :]]
    return [[""] * images if index == at else [] for index in range(len(turns))], opened


def _with_parts(turn: Turn, parts: list[Any]) -> Turn:
    raw = {**turn.raw, keys_of(turn.raw).content: parts}
    return replace(turn, raw=raw, images=sum(map(_is_image, parts)), marks=0)


def _is_image(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "image"


def _parts(content: Any, *, marked: bool) -> Iterator[Any]:
    """Yield content as parts; images with their own have it under ``image``, where all look."""
    for part in content if isinstance(content, list) else [content]:
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, dict) else None
        if is_bare(part, "image"):
            yield _BARE
        elif isinstance(part, dict) and str(part.get("type")) in IMAGE_TYPES:
            yield {**_BARE, "image": _own(part)}
        elif not isinstance(text, str):
            yield from () if part is None else (part,)
        else:
            first, *pieces = text.split(IMAGE_MARK) if marked else [text]
            yield from ({"type": "text", "text": first},) if first or not pieces else ()
            for piece in pieces:
                yield _BARE
                yield from ({"type": "text", "text": piece},) if piece else ()


def _own(part: dict[str, Any]) -> str:
    """Return the image that a part has."""
    value = next((part[key] for key in _HOLD if part.get(key) is not None), None)
    return _as_text(value.get("url", value) if isinstance(value, dict) else value)


def _as_text(image: Any) -> str:
    """Return an image as the place where it lies, or as a URL with its bytes.

    Raises:
        UnfitError: it is neither.
    """
    if isinstance(image, dict):
        image = next((image[key] for key in ("bytes", "path", "image") if image.get(key) is not None), None)
    if isinstance(image, bytes):
        kind = next((kind for magic, kind in _KINDS.items() if image.startswith(magic)), "png")
        return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"
    if not isinstance(image, str):
        raise UnfitError(f"content_shape: an image is {type(image).__name__}, neither a place nor bytes")
    return image


def _with_marks(turn: Turn, kinds: Sequence[str]) -> Turn:
    key = keys_of(turn.raw).content
    content = turn.raw.get(key)
    parts = content if isinstance(content, list) else []
    marks = [next((f"<{kind}>" for kind in kinds if is_bare(part, kind)), "") for part in parts]
    if (
        not any(marks) or (said := in_one_text(parts, marks)) is None
    ):  # what has no form in text whoever writes it says
        return turn
    return replace(turn, text=said, raw={**turn.raw, key: said}, images=0)
