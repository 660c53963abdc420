"""Which call each result answers."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.summarize.extractive import calls
from trajcompress.summarize.extractive.actions import Action, describe
from trajcompress.summarize.extractive.compact import parse
from trajcompress.summarize.extractive.text import clip
from trajcompress.transcript.trajectory import Turn

Place = tuple[int, int]
"""A turn, and which of its results or calls."""


def match_calls(turns: Sequence[Turn]) -> dict[Place, Place]:
    """Map results to the calls that they answer: by id where both carry one, else in order.

    An assistant turn that calls nothing by its row's account counts as one call: it may be written in the text.
    """
    called: dict[str, Place] = {}
    waiting: dict[Place, None] = {}  # an ordered set
    results_began = False
    matched: dict[Place, Place] = {}
    for index, turn in enumerate(turns):
        if turn.role == "assistant":
            waiting = {} if results_began else waiting
            results_began = False
            places = [(index, number) for number in range(max(1, len(turn.calls)))]
            waiting |= dict.fromkeys(places)
            called |= {call.id: place for call, place in zip(turn.calls, places, strict=False) if call.id}
        for number, answer in enumerate(turn.answers):
            results_began = True
            call = called.get(answer) if answer else None
            call = call or next(iter(waiting), None)
            if call is not None:
                waiting.pop(call, None)
                matched[index, number] = call
    return matched


def action_at(turns: Sequence[Turn], place: Place) -> Action | None:
    """Describe a call, None where the turn makes none that can be read."""
    index, number = place
    turn = turns[index]
    if turn.calls:
        call = turn.calls[number]
        return describe(call.id, call.name, parse(call.arguments), index)
    found, _ = calls.find(turn, calls.thoughts(clip(turn.text))[1], index, ran=True)
    return found[0] if found else None
