"""The action that a result answers, as the built-in summariser describes it."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.summarize.extractive import calls
from trajcompress.summarize.extractive.actions import Action, describe
from trajcompress.summarize.extractive.compact import parse
from trajcompress.summarize.extractive.text import clip
from trajcompress.transcript.tool_groups import Place
from trajcompress.transcript.trajectory import Turn


def action_at(turns: Sequence[Turn], place: Place) -> Action | None:
    """Describe a call, None where the turn makes none that can be read."""
    index, number = place
    turn = turns[index]
    if turn.calls:
        call = turn.calls[number]
        return describe(call.id, call.name, parse(call.arguments), index)
    found, _ = calls.find(turn, calls.thoughts(clip(turn.text))[1], index, ran=True)
    return found[0] if found else None
