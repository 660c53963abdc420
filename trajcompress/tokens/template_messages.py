"""Messages as a chat template gets them: a turn's own where a trainer leaves it as it is, else one made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from trajcompress.json_values import parse_json
from trajcompress.transcript.trajectory import Message, ToolCall, Turn

ChatMessages: TypeAlias = list[Message]
Arguments: TypeAlias = Callable[[str], Any]
Names: TypeAlias = Sequence[str]

_REPLACED = frozenset({"role", "from", "content", "value", "function_call", "tool_calls"})


def message_of(turn: Turn, name: str) -> Message:
    """Return the message of a turn as it is, where a trainer's preparation leaves it; else with what that maps.

    Its role goes by ``name``, and its calls stand where templates look for them.
    """
    raw = turn.raw
    if raw.get("role") == name and "content" in raw and not raw.get("function_call"):
        return raw
    return plain_message(turn, name, None) | {key: value for key, value in raw.items() if key not in _REPLACED}


def plain_message(turn: Turn, name: str, convert: Arguments | None) -> Message:
    """Return the turn as a message of text and calls only, its role going by that name.

    ``convert`` makes the arguments of a call from their JSON text; None leaves them as the row has them.
    """
    message: Message = {"role": name, "content": "" if _is_only_a_call(turn) else turn.text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls and (calls := structured_calls([turn])):
        own = turn.raw.get("tool_calls")
        message["tool_calls"] = own if convert is None and own else [_openai_call(call, convert) for call in calls]
    if turn.role == "tool":
        message["tool_call_id"] = turn.answers[0] if turn.answers else None
        message["name"] = turn.name
    return message


def _openai_call(call: ToolCall, convert: Arguments | None) -> dict[str, Any]:
    arguments = (convert or parsed)(call.arguments)
    return {"type": "function", "id": call.id, "function": {"name": call.name, "arguments": arguments}}


def structured_calls(turns: Iterable[Turn]) -> list[ToolCall]:
    """Return the calls that do not stand in the text of a message."""
    return [call for turn in turns for call in turn.calls if not call.in_text or _is_only_a_call(turn)]


def _is_only_a_call(turn: Turn) -> bool:
    """Tell a turn whose whole text is a call (ShareGPT ``function_call``) from one that has tags among its words."""
    return bool(turn.calls) and turn.calls[0].in_text and not turn.in_text and "<tool_call>" not in turn.text


def names_all(text: str, calls: list[ToolCall]) -> bool:
    """Tell whether the name of each call occurs as often as it is called."""
    return _names_in_order(text, calls) or _names_often_enough(text, calls)


def _names_in_order(text: str, calls: list[ToolCall]) -> bool:
    """Tell whether the names occur one after the other: so they do where nothing is lost, and one pass shows it."""
    at = 0
    for call in calls:
        found = text.find(call.name, at)
        if found < 0 or not call.name:
            return False
        at = found + len(call.name)
    return True


def _names_often_enough(text: str, calls: list[ToolCall]) -> bool:
    names = Counter(call.name for call in calls)
    return all(text.count(name) >= times for name, times in names.items())


def parsed(arguments: str) -> Any:
    """Return arguments as what their JSON text says; as they are where they are none."""
    try:
        return parse_json(arguments)
    except ValueError:
        return arguments
