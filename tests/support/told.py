"""What is told of results, and what a later call brings in."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace
from pruning import ASK, END
from trajectories import read as read_row
from trajectories import result

from trajcompress.compaction.text import ResultLines, line, prune, prune_steps
from trajcompress.facts.next_turns import Later, LaterReader
from trajcompress.outcomes import outcome
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.records import structured
from trajcompress.outcomes.records.rest import Query
from trajcompress.outcomes.steps import action_of
from trajcompress.transcript.trajectory import Region, ToolCall, Turn


def read(text: str, *asked: Any, **asked_besides: Any) -> outcome.Outcome:
    """What is read of a result, asked as :class:`Asked` takes it."""
    to_tell = Asked(*asked, **asked_besides)
    return outcome.Reading(text, to_tell).told(to_tell.limit, to_tell.most, to_tell.taken)


def read_structured(
    data: object, wanted: dict[str, float], limit: int, most: int, call: str = ""
) -> tuple[str, str, bool]:
    """What is read of JSON, asked for words that later turns use."""
    return structured.read_structured(data, Query(wanted, call), limit, most)


def result_line(text: str, name: str | None, *asked: Any, shortest: bool = False, **asked_besides: Any) -> str:
    """The line of a result, asked in the same way; what is taken is looked for, too."""
    to_tell = Asked(*asked, **asked_besides)
    to_tell = replace(to_tell, later={**to_tell.taken, **to_tell.later})
    return line.result_line(outcome.Reading(text, to_tell), name, shortest=shortest)


def bare_line(text: str, name: str | None, *asked: Any, **asked_besides: Any) -> str:
    """The least that is left of a result."""
    return line.bare_line(outcome.Reading(text, Asked(*asked, **asked_besides)), name)


def said(printed: str, did: Turn | None = None, limit: int = 150) -> str:
    """What is told of a result."""
    return read(printed, action_of(did, 0) if did else None, limit=limit).said


def later(**turns: str) -> Later:
    """What a call brings in."""
    acts = Turn("assistant", "", {}, calls=(ToolCall("c", "do", json.dumps(turns)),))
    return LaterReader([Turn("tool", "", {}, answers=("b",)), acts]).after(0)


def action(name: str, **arguments: object) -> Action:
    """What a call of a tool does."""
    return action_of(Turn("assistant", "", {}, calls=(ToolCall("c", name, json.dumps(arguments)),)), 0)


def ran(command: str) -> Turn:
    """A turn that runs a command in a shell."""
    return Turn("assistant", "", {}, calls=(ToolCall("c", "bash", json.dumps({"command": command})),))


def lines_of(*steps: tuple[dict[str, object], str]) -> list[str]:
    """What is left of some calls with their results."""
    messages = [message for one, text in steps for message in (one, result(text=text))]
    turns = read_row([ASK, *messages, END]).turns
    return [
        turn.text for turn in prune(turns, prune_steps(ResultLines(turns, Region(1, len(turns) - 1)))).turns[2:-1:2]
    ]
