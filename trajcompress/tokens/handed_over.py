"""What each trainer hands to the chat template: a row's messages and tools, changed as the trainer changes them.

Nothing else is changed: a form that would be rendered better is not what is trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trajcompress.json_values import parse_json
from trajcompress.settings.choices import Target
from trajcompress.tokens.trainer_templates import with_parsed_arguments
from trajcompress.transcript.message_shape import content_of
from trajcompress.transcript.trajectory import Message, Trajectory, Turn


def handed_over(trajectory: Trajectory, target: Target) -> tuple[list[Message], list[dict[str, Any]] | None]:
    """Return the messages and the tools of a row, as the trainer hands them over."""
    messages = [_MESSAGE[target](turn) for turn in trajectory.turns]
    if trajectory.system is not None and target in _READ_SYSTEM_COLUMN:
        messages.insert(0, {"role": "system", "content": trajectory.system})
    return messages, trajectory.tools if target == "template" else _tools(trajectory.row.get("tools"))


_READ_SYSTEM_COLUMN = frozenset({"template", "axolotl"})


def _renamed(turn: Turn, role: Any) -> Message:
    """Return a message with ``role`` and ``content`` in the place of ShareGPT's keys."""
    if "role" in turn.raw and "content" in turn.raw and turn.raw["role"] == role:
        return turn.raw
    message = {key: value for key, value in turn.raw.items() if key not in {"from", "value"}}
    return message | {"role": role, "content": content_of(turn)}


def _by_meaning(turn: Turn) -> Message:
    return _renamed(turn, turn.own_role if turn.own_role == "developer" else turn.role)


def _by_own_name(turn: Turn) -> Message:
    return _renamed(turn, turn.own_role)


_AXOLOTL_ROLES = {"human": "user", "gpt": "assistant"}


def _by_axolotl(turn: Turn) -> Message:
    message = _renamed(turn, _AXOLOTL_ROLES.get(turn.own_role, turn.own_role))
    message = {key: value for key, value in message.items() if value is not None}
    if isinstance(content := message.get("content"), list):
        message["content"] = "".join(map(_text_of_part, content))
    return with_parsed_arguments(message)


def _text_of_part(part: Any) -> str:
    text = (part.get("text") or part.get("content") or part.get("value")) if isinstance(part, dict) else None
    return text if isinstance(text, str) else ""


_MESSAGE: Mapping[Target, Callable[[Turn], Message]] = {
    "template": _by_meaning,
    "trl": _by_own_name,
    "axolotl": _by_axolotl,
    "verl": _by_own_name,
}


def _tools(given: Any) -> list[dict[str, Any]] | None:
    """Return the tools of column ``tools``; of what is no list of definitions, ``tools_shape`` tells."""
    if isinstance(given, str):
        try:
            given = parse_json(given)
        except ValueError:
            return None
    if not isinstance(given, list):
        return None
    return [tool for tool in given if isinstance(tool, dict)] or None
