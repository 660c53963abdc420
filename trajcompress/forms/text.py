"""What a turn says, as text: for targets that read nothing else. Nothing is left out without a word."""

from __future__ import annotations

from trajcompress.formats.content import PAYLOAD_PLACEHOLDER, json_text, read_content
from trajcompress.formats.rewrite import is_result, result_texts
from trajcompress.formats.turns import without_think
from trajcompress.forms.form import UnfitError
from trajcompress.json_values import parse_json
from trajcompress.transcript.trajectory import Turn

CALL_OPENS, CALL_CLOSES = "<tool_call>", "</tool_call>"


def text_of(turn: Turn) -> str:
    """Return the text of a turn.

    Raises:
        UnfitError: it holds an image or other data, which would be lost.
    """
    if turn.images:
        raise UnfitError(f"content_shape: a {turn.role} turn holds an image, which text does not show")
    if PAYLOAD_PLACEHOLDER in turn.text and PAYLOAD_PLACEHOLDER not in json_text(turn.raw.get("content")):
        raise UnfitError(f"content_shape: a {turn.role} turn holds data, which text does not show")
    return turn.text


def words_beside_calls(value: str) -> str:
    """Return what a turn whose role is to call says beside its calls: its thought, or the words around their tags."""
    bare = without_think(value)
    try:
        parse_json(bare)
    except ValueError:
        before, *pieces = value.split(CALL_OPENS)
        return (before + "".join(piece.partition(CALL_CLOSES)[2] for piece in pieces)).strip() if pieces else ""
    return value.removesuffix(bare).strip()


def results_apart(turn: Turn) -> tuple[tuple[str, ...], str] | None:
    """Return the results that are parts of a user turn, and what the person says beside them; None without any.

    Raises:
        UnfitError: it holds an image or other data, which would be lost.
    """
    content = turn.raw.get("content")
    if turn.role != "user" or not isinstance(content, list) or not any(map(is_result, content)):
        return None
    text_of(turn)
    whole = (read_content([part]).text for part in content if is_result(part))  # of one that holds no text its JSON
    results = tuple(text or shown for text, shown in zip(result_texts(turn), whole, strict=True))
    return results, read_content([part for part in content if not is_result(part)]).text
