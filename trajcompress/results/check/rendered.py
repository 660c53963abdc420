"""Rendering rows as a trainer renders them, and judging what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from trajcompress.results.check.handed_over import handed_over
from trajcompress.results.check.seen import unseen
from trajcompress.settings.choices import Target
from trajcompress.tokens.rendering import Renderer
from trajcompress.transcript.trajectory import Message, Trajectory
from trajcompress.transcript.violation import Violation


class RowRenderer:
    """Renders rows with a tokenizer's chat template, from the messages that a trainer hands to it."""

    def __init__(self, tokenizer: Any, target: Target) -> None:
        self._target = target
        self._render = Renderer(tokenizer).render
        self._pieces = Pieces(self._render) if target == "verl" else None

    def violations(self, trajectory: Trajectory) -> list[Violation]:
        """Return that the template refuses a row, or what it leaves out of it."""
        messages, tools = handed_over(trajectory, self._target)
        try:
            text = self._render(messages, tools)
        except Exception as error:  # noqa: BLE001  a template is a program; whatever it raises is its refusal
            return [Violation("template_refuses", None, _first_line(error))]
        found = unseen(text, trajectory.turns, trajectory.system)
        if self._pieces and (detail := self._pieces.mismatch(messages, tools, text)) is not None:
            found.append(Violation("mask_prefix_mismatch", *detail))
        return found


class Pieces:
    """Renders message by message, as verl does: what marks the tokens to learn from is made of the pieces.

    The first has the tools with it; of every other one what the template writes before a conversation is cut off.
    """

    def __init__(self, render: Callable[[list[Message], Any], str]) -> None:
        self._render = render
        self._opening = self._opens()

    def mismatch(self, messages: Sequence[Message], tools: Any, whole: str) -> tuple[int | None, str] | None:
        """Return the first turn from which on the pieces are not the whole, and what they have there."""
        at = 0
        for index, message in enumerate(messages):
            try:
                piece = self._piece(message, tools if index == 0 else None)
            except Exception as error:  # noqa: BLE001  as above
                return index, f"alone: {_first_line(error)}"
            if index and message.get("role") != "system":
                piece = piece[len(self._opening) :]
            if not whole.startswith(piece, at):
                return index, f"alone it is {_around(piece, whole[at : at + len(piece)])}"
            at += len(piece)
        return None if at == len(whole) else (len(messages) - 1, f"after it the whole has {whole[at : at + 40]!r}")

    def _piece(self, message: Message, tools: Any) -> str:
        try:
            return self._render([message], tools)
        except Exception:  # noqa: BLE001  verl then sets an empty user turn before it
            nobody: Message = {"role": "user", "content": [{"type": "text", "text": ""}]}
            before = self._render([nobody], tools)
            return self._render([nobody, message], tools)[len(before) :]

    def _opens(self) -> str:
        nothing: Message = {"role": "user", "content": ""}
        try:
            one, two = (self._render([nothing] * number, None) for number in (1, 2))
        except Exception:  # noqa: BLE001  verl does not start with such a template; every row says so
            return ""
        return one[: 2 * len(one) - len(two)]


def _around(piece: str, whole: str) -> str:
    """Return where a piece begins to differ."""
    pairs: Iterator[tuple[str, str]] = zip(piece, whole, strict=False)
    at = next((place for place, (one, other) in enumerate(pairs) if one != other), min(len(piece), len(whole)))
    return f"…{piece[max(0, at - 10) : at + 30]!r}, in the whole {whole[max(0, at - 10) : at + 30]!r}"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
