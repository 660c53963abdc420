"""The facts that the rest of a trajectory needs from the turns that a summary replaces. Pure.

This tool is offline, so it knows the future: the kept turns after the region name paths, ids, figures and the like.
What only the region tells them, in no turn that is kept before, must survive in the summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from trajcompress.facts.candidates import candidates, value_candidate
from trajcompress.facts.reading import (
    Reader,
    mentioned_in,
    mentions,
    mentions_beyond_line_numbers,
    readable,
    words,
)
from trajcompress.trajectory import Turn

__all__ = ["MAX_FACTS", "facts_kept", "facts_line", "facts_needed", "facts_note"]

MAX_FACTS = 40
_NOTE = "Also needed later: "

_SAID, _WRITTEN, _CALLED = 1.0, 2.0, 3.0
_JSON_KEY = re.compile(r'"(\w{1,60})"\s?:', re.ASCII)
_MAX_PER_TEXT = 2_000
_FEW = 30
_MAX_VERIFIED = 4  # times the limit: what is looked up in full


@dataclass(slots=True)
class _Use:
    """How the tail uses one thing: how much in all, and how many supplies stood before the first use."""

    weight: float
    supplied: int


@dataclass(slots=True)
class _Tail:
    """What the tail uses, in order of first use, and what others bring in, in order."""

    uses: dict[str, _Use] = field(default_factory=dict)
    supplies: list[str] = field(default_factory=list)


def facts_needed(
    head: Sequence[Turn], region: Sequence[Turn], tail: Sequence[Turn], *, limit: int = MAX_FACTS
) -> tuple[str, ...]:
    """Return what the tail relies on and only the region tells it, the most important first.

    A fact is used by an assistant turn of the tail (in words or in a call's arguments) or by what a user says there,
    stands in the region, and neither in the head nor in a tool's result between the region and its first use.
    Where no turn is a tool's, user turns may hold what commands printed: then they bring facts in, and use none.

    Args:
        head: the kept turns before the region.
        region: the turns that a summary replaces.
        tail: the kept turns after it.
        limit: the most facts to return.
    """
    reader = Reader()
    tools_speak = any(turn.role == "tool" or turn.answers for turn in (*head, *region, *tail))
    used = _read_tail(reader, tail, tools_speak=tools_speak)
    if not used.uses:
        return ()
    given, told = reader.text(head), reader.text(region)
    likely = [fact for fact in used.uses if fact not in reader.schema]
    if len(likely) > _FEW:
        told_words = words(told)  # costs as much as looking for so many
        likely = [fact for fact in likely if words(fact) <= told_words]
    likely.sort(key=lambda fact: -used.uses[fact].weight)  # stable: equals in order of first use
    found = [fact for fact in likely[: _MAX_VERIFIED * limit] if _only_told_by(fact, told, given, used)]
    return tuple(_merged(found)[:limit])


def facts_kept(facts: Sequence[str], summary_text: str) -> tuple[str, ...]:
    """Return those of the facts that stand in a summary, verbatim and as a whole."""
    return tuple(fact for fact in facts if mentions(summary_text, fact))


def facts_note(facts_missing: Sequence[str], budget_tokens: int, count: Callable[[str], int]) -> str:
    """Write the facts as one line to append to a summary.

    Args:
        facts_missing: the facts, the most important first.
        budget_tokens: what the line may take; the least important facts that do not fit are left out.
        count: counts the tokens of a text.

    Returns:
        The line, or nothing where not even one fact fits.
    """
    low, high = 0, len(facts_missing) + 1
    while low < high - 1:
        middle = high - 1 if low == 0 and high > len(facts_missing) else (low + high) // 2  # mostly all of them fit
        if count(facts_line(facts_missing[:middle])) <= budget_tokens:
            low = middle
        else:
            high = middle
    return facts_line(facts_missing[:low])


def facts_line(facts: Sequence[str]) -> str:
    """Write facts as one line, or nothing where there are none."""
    return f"{_NOTE}{', '.join(facts)}" if facts else ""


def _read_tail(reader: Reader, tail: Sequence[Turn], *, tools_speak: bool) -> _Tail:
    read = _Tail()
    for turn in tail:
        if turn.role == "assistant":
            text = readable(turn.text)
            reader.schema.update(_JSON_KEY.findall(text))
            _use(read, candidates(text), _WRITTEN)
            _use(read, candidates(readable(turn.reasoning)), _SAID)
            for call in turn.calls:
                values = reader.arguments(call)
                wholes = dict.fromkeys(whole for value in values if (whole := value_candidate(value)))
                _use(read, wholes | candidates("\n".join(values)), _CALLED)
        elif turn.role == "user" and not turn.answers and (tools_speak or turn.name):
            _use(read, candidates(readable(turn.text)), _SAID)
        else:
            read.supplies.append(reader.text([turn]))
    return read


def _use(read: _Tail, found: Iterable[str], weight: float) -> None:
    for fact in islice(found, _MAX_PER_TEXT):
        if (use := read.uses.get(fact)) is not None:
            use.weight += weight
        else:
            read.uses[fact] = _Use(weight, len(read.supplies))


def _only_told_by(fact: str, told: str, given: str, used: _Tail) -> bool:
    in_region = mentions_beyond_line_numbers if fact.isdecimal() else mentions
    return in_region(told, fact) and not mentioned_in((given, *used.supplies[: used.uses[fact].supplied]), fact)


def _merged(facts: Sequence[str]) -> list[str]:
    """Leave out what stands in another fact, and give that one its place."""
    kept: dict[str, None] = {}
    for fact in facts:
        longest = max((other for other in facts if mentions(other, fact)), key=len)
        kept[longest] = None
    return list(kept)
