"""Screens of a terminal, and what an agent types into it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.steps import action_of
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.trajectory import Turn

AT = "(env) (base) ada@box-7:/srv/shop"


def reply(*keys: str) -> str:
    """What an agent writes that types into a terminal."""
    commands = [{"keystrokes": f"{key}\n", "duration": 1.0} for key in keys]
    return json.dumps({"analysis": "", "plan": "", "commands": commands})


def typed(*keys: str) -> Action:
    """What an agent types into a terminal."""
    calls = find_actions(reply(*keys)).calls
    return action_of(Turn("assistant", "", {}, calls=tuple(calls), in_text=True), 0)


def screen(*ran: tuple[str, str], waits: bool = True) -> str:
    """What a terminal shows of commands, and what each printed."""
    return "\n".join([*(f"{AT}# {echo(keys)}\n{printed}".rstrip("\n") for keys, printed in ran), f"{AT}# " * waits])


def echo(keys: str) -> str:
    """What a terminal shows of a command."""
    return "\n> ".join(keys.split("\n"))


def without_first(shown: str, lines: int) -> str:
    """A screen whose first lines are off it."""
    return "\n".join(shown.split("\n")[lines:])


def outputs(parts: Iterable[object]) -> list[tuple[str, str | None]]:
    """What ran and what it printed."""
    return [(part.action.target, part.output) for part in parts]
