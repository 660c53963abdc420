"""Rendering a conversation message by message, as verl does: each alone, and then one behind the other.

The first has the tools with it. Of every other one verl cuts off as many tokens as a template writes before any
conversation. Where a template refuses a message alone, an empty user turn stands before it, and is cut off again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from trajcompress.tokens.rendering import Options
from trajcompress.transcript.trajectory import Message

_NOTHING: Message = {"role": "user", "content": ""}
_NOBODY: Message = {"role": "user", "content": [{"type": "text", "text": ""}]}


class Piece(NamedTuple):
    """The text of a message; ``cut_short`` where it does not begin with what is cut off, so other tokens go."""

    text: str
    cut_short: bool = False


class MessageByMessage:
    """Renders messages one by one with a :meth:`Renderer.render`. Safe to use from several threads."""

    def __init__(self, render: Callable[[list[Message], Any, Options], str]) -> None:
        self._render = render
        self._opening = self._opens()

    def pieces(self, messages: Sequence[Message], tools: Any, options: Options) -> Iterator[Piece]:
        """Yield the text of each message. Raises whatever the template raises for one in either way."""
        for index, message in enumerate(messages):
            text = self._alone(message, None if index else tools, options)
            if not index or message.get("role") == "system":
                yield Piece(text)
            else:
                yield Piece(text.removeprefix(self._opening), not text.startswith(self._opening))

    def _alone(self, message: Message, tools: Any, options: Options) -> str:
        try:
            return self._render([message], tools, options)
        except Exception:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
            before = self._render([_NOBODY], tools, options)
            return self._render([_NOBODY, message], tools, options)[len(before) :]

    def _opens(self) -> str:
        """Return what the template writes before every conversation."""
        try:
            one, two = (self._render([_NOTHING] * times, None, {}) for times in (1, 2))
        except Exception:  # noqa: BLE001  verl does not start with such a template; every row says so
            return ""
        return one[: 2 * len(one) - len(two)]
