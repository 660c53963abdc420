"""Turns of a region and of a tail, and what the tail needs of the region."""

from __future__ import annotations

import json

from trajcompress.facts import facts_needed
from trajcompress.transcript.trajectory import ToolCall, Turn


def say(role: str, text: str = "", **more) -> Turn:
    return Turn(role, text, {}, **more)


def call(name: str, **arguments) -> Turn:
    return say("assistant", calls=(ToolCall("c", name, json.dumps(arguments, ensure_ascii=False)),))


def result(text: str) -> Turn:
    return say("tool", text, answers=("c",))


HEAD = (say("system", "You are an agent."), say("user", "Do the task."))


def needed(region, tail, head=HEAD, **more):
    as_turns = [[result(part)] if isinstance(part, str) else part for part in (region, tail)]
    return facts_needed(head, *as_turns, **more)
