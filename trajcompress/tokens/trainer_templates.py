"""What trainers that render the tokenizer's own template do to a row on the way to it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from trajcompress.json_values import parse_json
from trajcompress.settings.choices import Target
from trajcompress.tokens.chat_template import ChatMessages, ChatTemplate, TemplateRefusedError
from trajcompress.tokens.pieces import CUT
from trajcompress.transcript.trajectory import Message, Trajectory

_NOTHING: Message = {"role": "user", "content": ""}


class AxolotlTemplate(ChatTemplate):
    """axolotl parses the arguments of calls, so a template writes them in its own way."""

    def handed_over(self, messages: ChatMessages) -> ChatMessages:
        """Return the messages with arguments as objects where they are JSON text."""
        return [with_parsed_arguments(message) for message in messages]


class VerlTemplate(ChatTemplate):
    """verl renders each message by itself, and refuses rows that are longer or shorter so, unless told not to."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(tokenizer)
        self._prompt: str | None = None  # what a template writes before each message that it renders alone
        with suppress(Exception):  # a template is a program; whatever it raises is its refusal
            once, twice = (self._apply([_NOTHING] * times, None) for times in (1, 2))
            self._prompt = once[: 2 * len(once) - len(twice)]

    def renderings(self, trajectory: Trajectory) -> list[str]:
        """Return the whole as it is rendered, and its messages as they are by themselves."""
        texts = super().renderings(trajectory)
        with suppress(TemplateRefusedError):
            texts.append(self._one_by_one(trajectory, self._prompt or ""))
        return texts

    def _one_by_one(self, trajectory: Trajectory, prompt: str) -> str:
        texts = []
        for index, message in enumerate(self.messages(trajectory)):
            try:
                text = self._apply([message], None if index else trajectory.tools)
            except Exception as error:  # a template is a program; whatever it raises is its refusal
                raise TemplateRefusedError(str(error)) from error
            texts.append(text[len(prompt) :] if index and message["role"] != "system" else text)
        return CUT.join(texts)


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
