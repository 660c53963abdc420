"""The first and the last text of a message: where other text is put beside it, and taken off again."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from trajcompress.formats.content import read_content
from trajcompress.formats.rewrite import text_of, with_text
from trajcompress.formats.turns import keys_of
from trajcompress.transcript.trajectory import Turn


def edge_text(turn: Turn, *, last: bool) -> str:
    """Return a message's text, or where its content is a list of parts the first or last one, if that is text."""
    content = turn.raw.get(keys_of(turn.raw).content)
    return text_of(_edge(content, last=last)) or ""


def with_edge_text(turn: Turn, text: str, *, last: bool) -> Turn:
    """Return the turn with another text in that place; a part without any text left goes."""
    key = keys_of(turn.raw).content
    content = turn.raw.get(key)
    changed: Any
    if isinstance(content, list):
        part = [with_text(_edge(content, last=last), text)] if text else []
        changed = [*content[:-1], *part] if last else [*part, *content[1:]]
    else:
        changed = with_text(content, text)
    return replace(turn, text=read_content(changed).text, raw={**turn.raw, key: changed})


def _edge(content: Any, *, last: bool) -> Any:
    if not isinstance(content, list):
        return content
    return content[-1 if last else 0] if content else None
