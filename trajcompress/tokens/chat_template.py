"""Rendering a trajectory the way a trainer renders it.

A trainer hands the row's messages and tools to ``apply_chat_template``. So does this, with the messages as they are
but for what a trainer's own preparation maps: role names, ShareGPT keys, legacy calls. Where the template refuses
that, plainer forms are tried in turn: content as text, arguments as text, arguments as an object. A form that loses
calls is no rendering, and is refused like an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from trajcompress.errors import TrajcompressError, UncountableTextError
from trajcompress.trajectory import Message, ToolCall, Trajectory, Turn

ChatMessages: TypeAlias = list[Message]
Arguments: TypeAlias = Callable[[str], Any]


class TemplateRefusedError(TrajcompressError):
    """The chat template refuses every form of a trajectory; the message is the template's own."""


class ChatTemplate:
    """The chat template of a tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._takes_parts = self._probe_parts()

    def render(self, trajectory: Trajectory) -> str:
        """Return the text that a trainer would tokenize, special tokens included.

        Raises:
            TemplateRefusedError: the template refuses the row in every form.
            UncountableTextError: the row holds lone surrogates that the template cannot carry.
        """
        refusal: Exception | None = None
        for messages, calls in self._forms(trajectory):
            try:
                text = self._apply(messages, trajectory.tools)
            except UnicodeEncodeError as error:
                raise UncountableTextError("the chat template meets a lone surrogate") from error
            except Exception as error:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
                refusal = refusal or error
                continue
            if all(call.name in text for call in calls):
                return text
        raise TemplateRefusedError(_first_line(refusal) if refusal else "it leaves out the tool calls")

    def _apply(self, messages: ChatMessages, tools: list[dict[str, Any]] | None) -> str:
        return str(self._tokenizer.apply_chat_template(messages, tools=tools, tokenize=False))

    def _forms(self, trajectory: Trajectory) -> Iterator[tuple[ChatMessages, list[ToolCall]]]:
        """Yield forms to try, each with the calls that its rendering must not lose."""
        calls = [call for turn in trajectory.turns for call in turn.calls if not call.in_text]
        as_they_are = [_as_it_is(turn) for turn in trajectory.turns]
        if self._takes_parts or not any(isinstance(message.get("content"), list) for message in as_they_are):
            yield as_they_are, []
        yield [_plain(turn, arguments=None) for turn in trajectory.turns], calls
        if calls:
            yield [_plain(turn, arguments=str) for turn in trajectory.turns], calls
            yield [_plain(turn, arguments=_parsed) for turn in trajectory.turns], calls

    def _probe_parts(self) -> bool:
        """Tell whether the template reads the text in list content, rather than failing or printing the list."""
        try:
            as_parts = self._apply([{"role": "user", "content": [{"type": "text", "text": "probe"}]}], None)
            as_text = self._apply([{"role": "user", "content": "probe"}], None)
        except Exception:  # noqa: BLE001  a template is a program; whatever it raises says no
            return False
        return as_parts == as_text


def _as_it_is(turn: Turn) -> Message:
    """Return the turn's message as a trainer's preparation would: known role names, calls where templates look."""
    raw = turn.raw
    if raw.get("role") == turn.role and "content" in raw and "function_call" not in raw:
        return raw
    return _plain(turn, arguments=None) | {key: raw[key] for key in raw if key not in _REPLACED}


_REPLACED = frozenset({"role", "from", "content", "value", "function_call", "tool_calls"})


def _plain(turn: Turn, *, arguments: Arguments | None) -> Message:
    """Return the turn as a message of text and calls only."""
    calls = turn.calls
    text = turn.text
    if turn.role == "assistant" and _is_only_a_call(turn):
        text = ""
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in calls)
    message: Message = {"role": turn.role, "content": text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    structured = [call for call in calls if not call.in_text]
    if structured:
        convert = arguments or _parsed
        message["tool_calls"] = [
            {"type": "function", "id": call.id, "function": {"name": call.name, "arguments": convert(call.arguments)}}
            for call in structured
        ]
    if turn.role == "tool":
        message |= {"tool_call_id": turn.answers[0] if turn.answers else None, "name": turn.name}
    return message


def _is_only_a_call(turn: Turn) -> bool:
    """Tell a turn whose whole text is a call (ShareGPT ``function_call``) from one that has tags among its words."""
    return bool(turn.calls) and turn.calls[0].in_text and "<tool_call>" not in turn.text


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
