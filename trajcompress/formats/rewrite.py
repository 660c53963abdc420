"""Rewriting parts of a message in place: the results that it holds, and the arguments of its calls.

Only these change. Roles, ids, names, words around tags, parts of other kinds and fields that nobody knows stay as
they are, in either format and with content of any shape. A turn in which nothing changes is returned itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from msgspec.structs import replace

from trajcompress.formats.content import TEXT_TYPES
from trajcompress.formats.media import IMAGE_MARK, marks_in_text, marks_left, text_with_marks
from trajcompress.formats.turns import RESULTS_JOINT, keys_of, read_turn, without_think
from trajcompress.json_values import is_json
from trajcompress.transcript.roles import CALL_ROLES
from trajcompress.transcript.text_protocols.answered_apart import results_apart
from trajcompress.transcript.text_protocols.heard import heard
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.trajectory import Message, Turn

_ARGUMENTS = ("arguments", "parameters", "input")
_TEXTS = ("text", "value", "refusal", "content")
_CALL_PARTS = frozenset({"tool_use", "toolUse", "server_tool_use", "mcp_tool_use"})


def result_texts(turn: Turn) -> tuple[str, ...]:
    """Return the text of each result that a tool or user turn holds, in the order of ``turn.answers``.

    A tool turn that answers several calls with one text has only that one; results of server-side tools stand in
    an assistant turn and are not among them.
    """
    found: list[str] = []

    def note(_: int, text: str) -> str:
        found.append(text)
        return text

    map_results(turn, note)
    return tuple(found)


def map_results(turn: Turn, rewrite: Callable[[int, str], str]) -> Turn:
    """Return the turn with each of its results as ``rewrite`` makes it, given its place and its text.

    A result that comes as several text parts gets one; parts of other kinds stay. Of an observation in plain text
    what its protocol puts around it stays, and so does what a person says in it, as in any other result. A worked
    example is a result.
    """
    if turn.role not in {"tool", "user"} or not (turn.answers or turn.example):
        return turn
    places = count()

    def next_body(text: str) -> str:
        return rewrite(next(places), text)

    def next_result(text: str) -> str:
        told = heard(text, turn.name)
        first, last = (told.first, told.last) if told else (0, len(text))
        return f"{text[:first]}{next_body(text[first:last])}{text[last:]}"

    key = keys_of(turn.raw).content
    content = turn.raw.get(key)
    if turn.in_text and len(turn.answers) > 1:
        changed = _map_whole(content, lambda text: _map_apart(text, next_body))
    elif turn.in_text:
        changed = _map_whole(content, lambda text: _map_body(text, turn.aside, next_body))
    elif _has_result_parts(content):
        changed = _map_result_parts(content, next_result)
    elif turn.text.lstrip().startswith("<tool_response>"):
        changed = _map_texts(content, lambda text: _map_tagged(text, "tool_response", next_result))
    elif turn.role == "tool" and isinstance(content, str):
        changed = RESULTS_JOINT.join(map(next_result, content.split(RESULTS_JOINT)))
    else:
        changed = _map_whole(content, next_result)
    return _reread(turn, {**turn.raw, key: changed})


def map_request(turn: Turn, rewrite: Callable[[str], str]) -> Turn:
    """Return a turn of a person with its text, of several parts the longest one, as ``rewrite`` makes it."""
    key = keys_of(turn.raw).content
    content = turn.raw.get(key)
    if not isinstance(content, list):
        return _reread(turn, {**turn.raw, key: _map_texts(content, rewrite)})
    longest = max(range(len(content)), key=lambda place: len(text_of(content[place]) or ""), default=0)
    parts = [_map_texts(part, rewrite) if place == longest else part for place, part in enumerate(content)]
    return _reread(turn, {**turn.raw, key: parts})


def map_arguments(turn: Turn, rewrite: Callable[[Any], Any]) -> Turn:
    """Return the turn with the arguments of its calls as ``rewrite`` makes them.

    ``rewrite`` is handed what the row has: an object, its JSON text, or any text. Of calls that stand in text, as in
    ``<tool_call>`` tags, it is handed the JSON of the whole call.
    """
    if not turn.calls:
        return turn
    raw = dict(turn.raw)
    for field in ("tool_calls", "function_call"):
        if raw.get(field):
            raw[field] = _map_calls(raw[field], rewrite)
    keys = keys_of(raw)
    content = raw.get(keys.content)
    if not turn.calls[0].in_text:
        changed = _map_call_parts(content, rewrite)
    elif turn.own_role.lower() in CALL_ROLES and "<tool_call>" not in turn.text:
        changed = _map_texts(content, lambda text: _map_after_think(text, rewrite))
    else:
        changed = _map_texts(content, lambda text: _map_tagged(text, "tool_call", rewrite))
    return _reread(turn, raw if changed == content else {**raw, keys.content: changed})


def _map_body(text: str, aside: int | None, rewrite: Callable[[str], str]) -> str:
    start, end, _ = in_observation(text, aside)
    return text[:start] + rewrite(text[start:end]) + text[end:]


def _map_apart(text: str, rewrite: Callable[[str], str]) -> str:
    parts, at = [], 0
    for start, end in results_apart(text):
        parts += [text[at:start], rewrite(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _reread(turn: Turn, raw: Message) -> Turn:
    if raw == turn.raw:
        return turn
    read = read_turn(raw, turn.own_role, turn.role, "openai" if keys_of(raw).role == "role" else "sharegpt")
    read = replace(read, marks=marks_in_text(read.text)) if turn.marks else read
    if turn.in_text:
        marked = replace(read, calls=turn.calls, answers=turn.answers, in_text=True, aside=turn.aside)
        return replace(marked, in_answer=turn.in_answer, apart=turn.apart)
    return replace(read, example=turn.example, in_answer=turn.in_answer)


def _kind(part: dict[str, Any]) -> str:
    return str(part.get("type") or next((key for key, value in part.items() if value is not None), ""))


def is_result(part: Any) -> bool:
    """Tell whether a part of a message's content is the result of a call."""
    if not isinstance(part, dict):
        return False
    kind = _kind(part)
    return kind in {"tool_result", "toolResult"} or kind.endswith("_tool_result")


def _has_result_parts(content: Any) -> bool:
    return any(map(is_result, content)) if isinstance(content, list) else is_result(content)


def _map_result_parts(content: Any, rewrite: Callable[[str], str]) -> Any:
    if isinstance(content, list):
        return [_map_result_parts(part, rewrite) for part in content]
    if not is_result(content):
        return content
    inner = content.get(_kind(content))
    if isinstance(inner, dict):
        return {**content, _kind(content): {**inner, "content": _map_whole(inner.get("content"), rewrite)}}
    changed = _map_whole(content.get("content"), rewrite)  # one without content has its place, too
    return {**content, "content": changed} if "content" in content else content


def _map_whole(content: Any, rewrite: Callable[[str], str]) -> Any:
    """Rewrite content as one text, which takes the place of the first text part and of all others.

    Images among them are marks in that text, and go with what goes of it.
    """
    parts = content if isinstance(content, list) else [content]
    if shown := text_with_marks(parts):
        return _map_shown(content, shown, rewrite)
    said = [text for part in parts if (text := text_of(part)) is not None]
    old = "\n".join(said)
    new = rewrite(old)
    if new == old or not said:
        return content
    changed = []
    for part in parts:
        if text_of(part) is None:
            changed.append(part)
        elif said:
            changed.append(with_text(part, new))
            said = []
    return changed if isinstance(content, list) else changed[0]


def _map_shown(parts: list[Any], shown: str, rewrite: Callable[[str], str]) -> list[Any]:
    """Rewrite parts that are texts and images, as the text with marks that ``shown`` is."""
    new = rewrite(shown)
    if new == shown:
        return parts
    model = next(part for part in parts if text_of(part) is not None)
    images = [part for part in parts if text_of(part) is None]
    first, *pieces = new.split(IMAGE_MARK)
    left = list(marks_left(shown, new))
    changed = [with_text(model, first)] if first or not left else []
    for image, piece in zip(left, pieces, strict=False):
        changed += [images[image], *([with_text(model, piece)] if piece else [])]
    return changed


def _map_texts(content: Any, rewrite: Callable[[str], str]) -> Any:
    if isinstance(content, list):
        return [_map_texts(part, rewrite) for part in content]
    text = text_of(content)
    return content if text is None else with_text(content, rewrite(text))


def _text_key(part: dict[str, Any]) -> str | None:
    if _kind(part) not in TEXT_TYPES:
        return None
    key = next((key for key in _TEXTS if part.get(key) is not None), None)
    return key if key is not None and isinstance(part[key], str) else None


def text_of(part: Any) -> str | None:
    """Return the text of a message's content, or of one part of it; None where it is no text."""
    if isinstance(part, str):
        return part
    key = _text_key(part) if isinstance(part, dict) else None
    return None if key is None else str(part[key])


def with_text(part: Any, text: str) -> Any:
    """Return the content or the part, of which :func:`text_of` found a text, with another text."""
    return text if isinstance(part, str) else {**part, _text_key(part): text}


def _map_tagged(text: str, tag: str, rewrite: Callable[[str], str]) -> str:
    """Rewrite what stands between tags, but for the space around it; what is never closed stays."""
    start, end = f"<{tag}>", f"</{tag}>"
    before, *pieces = text.split(start)
    for number, piece in enumerate(pieces):
        body, closed, after = piece.partition(end)
        inner = body.strip() if closed else ""
        changed = rewrite(inner)
        if inner:
            lead = len(body) - len(body.lstrip())
            pieces[number] = body[:lead] + changed + body[lead + len(inner) :] + closed + after
    return start.join((before, *pieces))


def _map_after_think(text: str, rewrite: Callable[[str], str]) -> str:
    said = without_think(text)
    return text[: len(text) - len(said)] + rewrite(said)


def _map_call_parts(content: Any, rewrite: Callable[[Any], Any]) -> Any:
    if isinstance(content, list):
        return [_map_call_parts(part, rewrite) for part in content]
    if not isinstance(content, dict):
        return content
    kind = _kind(content)
    if kind == "tool_call":
        key = "value" if content.get("value") else None
        return {**content, key: _map_calls(content[key], rewrite)} if key else _map_calls(content, rewrite)
    if kind not in _CALL_PARTS:
        return content
    inner = content.get(kind)
    if isinstance(inner, dict):
        return {**content, kind: {**inner, "input": rewrite(inner.get("input"))}} if "input" in inner else content
    return {**content, "input": rewrite(content["input"])} if "input" in content else content


def _map_calls(value: Any, rewrite: Callable[[Any], Any]) -> Any:
    """Rewrite the arguments of a call in any of the shapes that the reader takes."""
    if isinstance(value, list):
        return [_map_calls(item, rewrite) for item in value]
    if isinstance(value, str):
        return rewrite(value) if is_json(value) else value
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("function"), dict):
        return {**value, "function": _map_calls(value["function"], rewrite)}
    key = next((key for key in _ARGUMENTS if value.get(key) is not None), None)
    return value if key is None else {**value, key: rewrite(value[key])}
