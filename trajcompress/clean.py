"""Turns without their secrets, for whoever summarises them.

Turns are cleaned whole, before anything is cut out of them: the name that tells a secret may stand in the part that
is cut. What is a secret is then in no fact that a summary must keep, either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from trajcompress.redact import redact
from trajcompress.trajectory import Turn


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Turns without secrets, and how many there were."""

    turns: tuple[Turn, ...]
    redactions: int


def clean_turns(turns: Iterable[Turn]) -> Cleaned:
    """Put marks in the place of the secrets in what the turns say and call; their messages stay as they are."""
    redactions = 0

    def clean(text: str) -> str:
        nonlocal redactions
        if not text:
            return text
        found = redact(text)
        redactions += found.count
        return found.text

    def cleaned(turn: Turn) -> Turn:
        before = redactions
        text, reasoning = clean(turn.text), clean(turn.reasoning)
        arguments = [clean(call.arguments) for call in turn.calls]
        if redactions == before:
            return turn
        calls = tuple(replace(call, arguments=clean) for call, clean in zip(turn.calls, arguments, strict=True))
        return replace(turn, text=text, reasoning=reasoning, calls=calls)

    return Cleaned(tuple(map(cleaned, turns)), redactions)
