"""One message: read into a turn, changed, made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.errors import RowError
from trajcompress.formats.content import (
    TEXT_TYPES,
    is_call_alone,
    json_text,
    optional_text,
    read_call,
    read_content,
)
from trajcompress.formats.messages import is_message, shown_keys
from trajcompress.settings.choices import MessageFormat, Role
from trajcompress.transcript.roles import CALL_ROLES
from trajcompress.transcript.text_protocols.token_calls import tag_calls
from trajcompress.transcript.trajectory import Message, ToolCall, Trajectory, Turn


class Keys(Struct, frozen=True):
    """The names of the two keys of a message that every format has."""

    role: str
    content: str


RESULTS_JOINT = "\n</tool_response>\n<tool_response>\n"
"""Stands between results that are one turn's text, as LLaMA-Factory joins them."""

_KEYS: dict[MessageFormat, Keys] = {"openai": Keys("role", "content"), "sharegpt": Keys("from", "value")}
_SHAREGPT_NAMES = {"user": "human", "assistant": "gpt"}
_ROLE_KEYS: dict[MessageFormat, tuple[str, str]] = {"openai": ("role", "from"), "sharegpt": ("from", "role")}
_CONTENT_KEYS: dict[MessageFormat, tuple[str, str]] = {
    "openai": ("content", "value"),
    "sharegpt": ("value", "content"),
}


def role_names(messages: Sequence[Any], form: MessageFormat) -> list[str]:
    """Return the messages' own names for their roles.

    Raises:
        RowError: ``turn_not_an_object`` or ``turn_without_role``.
    """
    first, second = _ROLE_KEYS[form]
    names = []
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise RowError("turn_not_an_object", f"turn {index} is {type(message).__name__}")
        name = message.get(first)
        if not isinstance(name, str):
            name = message.get(second)
        if not isinstance(name, str):
            keys = shown_keys(message)
            raise RowError("turn_without_role", f"turn {index} has neither 'role' nor 'from'; its keys: {keys}")
        names.append(name)
    return names


def require_content(messages: Sequence[Message]) -> None:
    """Refuse messages none of which has a key that we read as what is said: what they say would count as nothing.

    Raises:
        RowError: ``turns_without_content``.
    """
    if not any(map(is_message, messages)):
        keys = shown_keys(messages[0])
        raise RowError("turns_without_content", f"no turn has 'content' or 'value'; the keys of turn 0: {keys}")


def read_turn(message: Message, own_role: str, role: Role, form: MessageFormat) -> Turn:
    """Read one message, given its own name for its role, and what that means."""
    first, second = _CONTENT_KEYS[form]
    value = message.get(first)
    content = read_content(message.get(second) if value is None else value)
    text = content.text
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    structured = message.get("tool_calls") or message.get("function_call")
    if structured:
        content.calls += read_call(structured)
    elif role == "assistant" and not content.calls:
        content.calls += _written_calls(text, own_role)
    return Turn(
        role=role,
        text=text,
        raw=message,
        reasoning=json_text(reasoning) if reasoning else "\n".join(content.reasoning),
        calls=tuple(content.calls),
        answers=tuple(content.answers) or _answers(message, role, text),
        images=content.images,
        own_role=own_role,
        name=optional_text(message.get("name")),
    )


def add_text(turn: Turn, *, before: str = "", after: str = "") -> Turn:
    """Return the turn with text set before and after its content; list content gets parts of its own."""
    key = keys_of(turn.raw).content
    content = turn.raw.get(key)
    if isinstance(content, list):
        added = [[_text_part(content, text)] if text else [] for text in (before, after)]
        content = [*added[0], *content, *added[1]]
    else:
        content = before + read_content(content).text + after
    return replace(turn, text=read_content(content).text, raw={**turn.raw, key: content})


def new_user_turn(trajectory: Trajectory, text: str, own_role: str | None = None) -> Turn:
    """Make a user turn in the dialect of the trajectory, as :func:`_new_turn` does; ``own_role`` names its role."""
    made = _new_turn(trajectory, "user", text)
    if own_role in {None, made.own_role}:
        return made
    return replace(made, raw={**made.raw, keys_of(made.raw).role: own_role}, own_role=own_role)


def new_assistant_turn(trajectory: Trajectory, text: str) -> Turn:
    """Make an assistant turn in the dialect of the trajectory, as :func:`_new_turn` does."""
    return _new_turn(trajectory, "assistant", text)


def _new_turn(trajectory: Trajectory, role: Literal["user", "assistant"], text: str) -> Turn:
    """Make a turn in the dialect of the trajectory.

    It has every key that all the messages have, so that a column of equal messages stays one: flags such as ``loss``
    are those of the first turn of its role, anything else that is not the role or the content is None. The content is
    a list of parts where every other one is.
    """
    said = (turn for turn in trajectory.turns if turn.role == role and turn.own_role.lower() not in CALL_ROLES)
    model = next((turn.raw for turn in said), None)
    if model is None:
        keys = _KEYS[trajectory.format]
        own_role = role if trajectory.format == "openai" else _SHAREGPT_NAMES[role]
        return Turn(role, text, {keys.role: own_role, keys.content: text}, own_role=own_role)
    keys = keys_of(model)
    shared = [key for key in model if all(key in turn.raw for turn in trajectory.turns)]
    raw: Message = {key: model[key] if isinstance(model[key], bool | int | float) else None for key in shared}
    contents = [turn.raw.get(keys.content) for turn in trajectory.turns]
    only_lists = all(isinstance(content, list) for content in contents if content is not None)
    sample = model[keys.content] if only_lists else None
    raw |= {keys.role: model[keys.role], keys.content: [_text_part(sample, text)] if sample else text}
    return Turn(role, text, raw, own_role=str(model[keys.role]))


def _written_calls(text: str, own_role: str) -> list[ToolCall]:
    """Return the calls that an assistant's text is, or has among its words."""
    calls = [call for body in _call_bodies(text, own_role) for call in read_call(body.strip(), in_text=True)]
    if len(calls) == 1 and not calls[0].name and (tagged := tag_calls(text)):
        return list(tagged[0])  # a function_call that says <function=…>, as OpenHands does
    return calls


def says_more_than_calls(turn: Turn) -> bool:
    """Tell whether a turn whose role is to call writes no call, or one with more than a name and arguments."""
    is_written = bool(turn.calls) and turn.calls[0].in_text and turn.own_role.lower() in CALL_ROLES
    return is_written and not all(map(is_call_alone, _call_bodies(turn.text, turn.own_role)))


def _call_bodies(text: str, own_role: str) -> list[str]:
    is_call = own_role.lower() in CALL_ROLES and "<tool_call>" not in text
    return [without_think(text)] if is_call else _tagged_calls(text)


def _answers(message: Message, role: Role, text: str) -> tuple[str | None, ...]:
    """Return the calls that a message of text answers."""
    if role not in {"tool", "user"}:
        return ()
    if role == "user":
        return (None,) * _tagged_answers(text)
    for key in ("tool_call_id", "call_id", "id"):
        if message.get(key) is not None:
            return (optional_text(message[key]),)
    ids = message.get("tool_call_ids")
    if isinstance(ids, list) and ids:
        return tuple(optional_text(each) for each in ids)
    return (None,) * max(1 + text.count(RESULTS_JOINT), _tagged_answers(text))


def _tagged_answers(text: str) -> int:
    return text.count("<tool_response>") if text.lstrip().startswith("<tool_response>") else 0


def _tagged_calls(text: str) -> list[str]:
    """Return what stands in ``<tool_call>`` tags; linear in time, however many tags a model opens and never ends."""
    pieces = (piece.partition("</tool_call>") for piece in text.split("<tool_call>")[1:])
    return [body for body, end, _ in pieces if end]


def without_think(text: str) -> str:
    """Return what follows a thought that opens a text."""
    _, end, rest = text.partition("</think>")
    return rest if end and text.lstrip().startswith("<think>") else text


def keys_of(message: Message) -> Keys:
    """Tell which keys of a message hold its role and its content; a struct column may give it both formats' keys."""
    form: MessageFormat = "openai" if message.get("role") is not None or "from" not in message else "sharegpt"
    usual = _KEYS[form]
    if message.get(usual.content) is not None:
        return usual
    other = _CONTENT_KEYS[form][1]
    other_is_it = other in message and (usual.content not in message or message[other] is not None)
    return Keys(usual.role, other) if other_is_it else usual


def _text_part(parts: list[Any], text: str) -> Any:
    """Write a text part the way the other parts of the message are written."""
    if parts and all(isinstance(part, str) for part in parts):
        return text
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else ""
        if kind is None and isinstance(part.get("text"), str):
            return {"text": text}
        if isinstance(kind, str) and kind in TEXT_TYPES:
            return {"type": kind, "value" if isinstance(part.get("value"), str) else "text": text}
    return {"type": "text", "text": text}
