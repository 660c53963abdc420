"""What trainers that render the tokenizer's own template do to a row on the way to it."""

from __future__ import annotations

from typing import Any

from trajcompress.json_values import parse_json
from trajcompress.settings.choices import Target
from trajcompress.tokens.chat_template import ChatTemplate
from trajcompress.tokens.message_by_message import MessageByMessage
from trajcompress.tokens.pieces import CUT
from trajcompress.tokens.row_options import options_of
from trajcompress.tokens.template_messages import ChatMessages
from trajcompress.transcript.trajectory import Message, Trajectory


class AxolotlTemplate(ChatTemplate):
    """axolotl parses the arguments of calls, so a template writes them in its own way."""

    target = "axolotl"

    def handed_over(self, messages: ChatMessages) -> ChatMessages:
        """Return the messages with arguments as objects where they are JSON text."""
        return [with_parsed_arguments(message) for message in messages]


class VerlTemplate(ChatTemplate):
    """verl tokenizes each message by itself. The whole it renders only to compare."""

    target = "verl"

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(tokenizer)
        self._one_by_one = MessageByMessage(self._apply)

    def renderings(self, trajectory: Trajectory) -> list[str]:
        """Return the messages as they are by themselves; the whole where the template refuses one of them alone."""
        options = options_of(trajectory.row, self.target)
        try:
            pieces = list(self._one_by_one.pieces(self.messages(trajectory), trajectory.tools, options))
        except Exception:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
            return super().renderings(trajectory)
        return [CUT.join(piece.text for piece in pieces)]


def chat_template_of(tokenizer: Any, target: Target) -> ChatTemplate:
    """Return what renders with the tokenizer's own template for a target."""
    kinds: dict[Target, type[ChatTemplate]] = {"axolotl": AxolotlTemplate, "verl": VerlTemplate}
    return kinds.get(target, ChatTemplate)(tokenizer)


def with_parsed_arguments(message: Message) -> Message:
    """Return a message whose calls have arguments as objects, where they are JSON text."""
    calls = message.get("tool_calls")
    return {**message, "tool_calls": [_parsed(call) for call in calls]} if isinstance(calls, list) else message


def _parsed(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return call
    try:
        return call | {"function": function | {"arguments": parse_json(function["arguments"])}}
    except ValueError:
        return call
