"""Turns without their secrets, for whoever summarises them.

Turns are cleaned whole, before anything is cut out of them: the name that tells a secret may stand in the part that
is cut. What is a secret is then in no fact that a summary must keep, either.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import is_

from msgspec.structs import replace

from trajcompress.redact import redact_all
from trajcompress.trajectory import Turn


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Turns without secrets, and how many there were."""

    turns: tuple[Turn, ...]
    redactions: int


def clean_turns(turns: Iterable[Turn]) -> Cleaned:
    """Put marks in the place of the secrets in what the turns say and call; their messages stay as they are."""
    turns = tuple(turns)
    texts = [text for turn in turns for text in (turn.text, turn.reasoning, *(call.arguments for call in turn.calls))]
    redacted = redact_all(texts)
    if not redacted:  # as in most rows
        return Cleaned(turns, 0)
    for position, found in redacted.items():
        texts[position] = found.text
    clean = iter(texts)
    cleaned = tuple(_with_texts(turn, next(clean), next(clean), [next(clean) for _ in turn.calls]) for turn in turns)
    return Cleaned(cleaned, sum(found.count for found in redacted.values()))


def _with_texts(turn: Turn, text: str, reasoning: str, arguments: list[str]) -> Turn:
    if (
        text is turn.text
        and reasoning is turn.reasoning
        and all(map(is_, arguments, (c.arguments for c in turn.calls)))
    ):
        return turn
    calls = tuple(replace(call, arguments=clean) for call, clean in zip(turn.calls, arguments, strict=True))
    return replace(turn, text=text, reasoning=reasoning, calls=calls)
