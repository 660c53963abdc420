"""Results of tools that run at the model's provider, which stand in the assistant's own turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from trajcompress.formats.rewrite import is_result
from trajcompress.formats.turns import read_turn
from trajcompress.transcript.trajectory import Turn

_REASONING_KEYS = frozenset({"reasoning_content", "reasoning"})


def with_results_apart(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Split turns of the assistant in which results of server-side tools stand, which nobody is to learn to write.

    The results come as parts of user turns, in their places; the same object where there are none.
    """
    if not any(map(_holds_results, turns)):
        return turns
    return [piece for turn in turns for piece in (_pieces(turn) if _holds_results(turn) else (turn,))]


def _holds_results(turn: Turn) -> bool:
    content = turn.raw.get("content")
    if turn.role != "assistant" or not isinstance(content, list) or turn.raw.get("tool_calls"):
        return False
    return any(map(is_result, content))


def _pieces(turn: Turn) -> Iterator[Turn]:
    raw = turn.raw
    for are_results, group in groupby(raw["content"], key=is_result):
        parts = list(group)
        if are_results:
            yield read_turn({"role": "user", "content": parts}, "user", "user", "openai")
        else:
            yield read_turn({**raw, "content": parts}, turn.own_role, "assistant", "openai")
            raw = {key: value for key, value in raw.items() if key not in _REASONING_KEYS}  # once
