"""Turns as text for a summariser: who spoke, what was called, what came back; also in plain text."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.settings.choices import Role
from trajcompress.summarize.base import MAX_TURN_CHARS
from trajcompress.transcript.observations import said_beside, without_aside
from trajcompress.transcript.text_protocol import action_label, part_of
from trajcompress.transcript.trajectory import Turn

MIN_PIECE_CHARS = 40  # what is left of each of very many pieces

_LABELS: dict[Role, str] = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool result"}


def elide(text: str, limit: int) -> str:
    r"""Keep the first and last characters of a text longer than ``limit``, ``limit`` in all, and count what goes.

    >>> elide("abcdefghij", 4)
    'ab\n[… 6 characters elided …]\nij'
    """
    if len(text) <= limit:
        return text
    head = (limit + 1) // 2
    tail = limit - head
    return f"{text[:head]}\n[… {len(text) - limit:,} characters elided …]\n{text[len(text) - tail :]}"


def render_turns(turns: Sequence[Turn], *, max_turn_chars: int = MAX_TURN_CHARS) -> str:
    """Render turns one after the other, numbered from 1, each elided in the middle beyond ``max_turn_chars``."""
    names = call_names(turns)
    return "\n\n".join(
        f"[{number}] {_encodable(_label(turn, before, names))}\n{render_turn(turn, max_chars=max_turn_chars)}"
        for number, (before, turn) in enumerate(zip((None, *turns), turns, strict=False), start=1)
    )


def render_turn(turn: Turn, *, max_chars: int = MAX_TURN_CHARS) -> str:
    """Render what a turn says and calls. Names of tools are kept whatever ``max_chars`` says.

    Reasoning stands in only where the turn says nothing else: it is long, and what it led to is in the turn. What a
    person says in an observation's turn stands on its own, and is said to be a person's.
    """
    said = _encodable(turn.text.strip())
    if not said and turn.reasoning.strip():
        said = f"(reasoning) {_encodable(turn.reasoning.strip())}"
    person = _encodable(said_beside(turn)) if turn.in_text or turn.role == "tool" else ""
    said = _encodable(without_aside(turn).strip()) if person else said
    if not turn.calls and not turn.images and not person:  # most turns
        return elide(said, max(max_chars, MIN_PIECE_CHARS)) or "(empty)"
    calls = [call for call in turn.calls if not call.in_text]
    share = _share([len(said), len(person), *(len(call.arguments) for call in calls)], max_chars)
    lines = [elide(said, share)] if said else []
    lines += [f"call {_encodable(call.name)}: {elide(_encodable(call.arguments), share)}" for call in calls]
    if turn.images:
        lines.append(f"({turn.images} image{'s' if turn.images > 1 else ''})")
    if person:
        lines.append(f"a person adds: {elide(person, share)}")
    return "\n".join(lines) or "(empty)"


def call_names(turns: Sequence[Turn]) -> dict[str, str]:
    """Map the ids of calls to the names of their tools."""
    return {call.id: call.name for turn in turns for call in turn.calls if call.id is not None}


def _label(turn: Turn, before: Turn | None, names: dict[str, str]) -> str:
    if turn.in_text and turn.answers:
        ran = action_label(before.calls) if before and before.role == "assistant" else ""
        part = part_of(turn) or "observation"
        return f"{part} ({ran})" if ran else part
    if not turn.answers and turn.role != "tool":
        label = f"{_LABELS[turn.role]} ({turn.name})" if turn.name else _LABELS[turn.role]
        if turn.example:
            return f"{label}: worked example or manual"
        return f"{label}, action: {action_label(turn.calls)}" if turn.in_text and turn.calls else label
    found = [names[answer] for answer in turn.answers if answer in names] if turn.name is None else [turn.name]
    return f"tool result ({', '.join(found)})" if found else "tool result"


def _share(sizes: list[int], limit: int) -> int:
    """Return the size at which to cut pieces of ``sizes`` so that they come to ``limit``, the short ones whole."""
    if sum(sizes) <= limit:
        return limit
    left = limit
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return max(share, MIN_PIECE_CHARS)
        left -= size
    return limit


def _encodable(text: str) -> str:
    if text.isascii():  # mostly, before it has marks of what is elided
        return text
    return text.encode("utf-8", "replace").decode("utf-8")  # half an emoji, cut by a tool, cannot be sent
