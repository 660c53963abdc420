"""What LLaMA-Factory's converters make of a row, by rule: its own templates are not rendered here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trajcompress.formats.turns import without_think
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.transcript.violation import Violation

_SHOWN = 60


class LlamaFactoryRows:
    """Tells what its converters leave out of a row, or encode a second time."""

    def violations(self, trajectory: Trajectory) -> list[Violation]:
        """Return what is wrong with what it would render of a row."""
        return [found for index, turn in enumerate(trajectory.turns) for found in _lost(index, turn)]


def _lost(index: int, turn: Turn) -> Iterator[Violation]:
    if turn.role != "assistant":
        return
    if turn.reasoning.strip():
        yield Violation("thoughts_not_rendered", index, f"beside the content: {_first(turn.reasoning)}")
    if not turn.raw.get("role"):
        return
    own = turn.raw.get("tool_calls")
    if own and isinstance(own, list):  # read instead of the content
        if words := without_think(turn.text).strip():
            yield Violation("content_not_rendered", index, f"beside tool_calls: {_first(words)}")
        if words != turn.text.strip():
            yield Violation("thoughts_not_rendered", index, f"beside tool_calls: {_first(turn.text)}")
        if any(isinstance(_arguments(call), str) for call in own):
            yield Violation("arguments_encoded_twice", index, "arguments are text, which is encoded again")
    elif turn.raw.get("function_call"):
        yield Violation("call_not_rendered", index, "function_call is not read")


def _first(text: str) -> str:
    return " ".join(text[: 2 * _SHOWN].split())[:_SHOWN]


def _arguments(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    return function.get("arguments") if isinstance(function, dict) else None
