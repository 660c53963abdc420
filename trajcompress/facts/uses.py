"""What turns use, and what they bring in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from trajcompress.facts.candidates import candidates, value_candidate
from trajcompress.facts.reading import Reader, Said, readable
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.trajectory import Turn

_SAID, _WRITTEN, _CALLED = 1.0, 2.0, 3.0
_JSON_KEY = re.compile(r'"(\w{1,60})"\s?:', re.ASCII)
_MAX_PER_TEXT = 2_000


@dataclass(slots=True)
class Uses:
    """What turns use, and what others bring in, in order.

    ``weights`` say how much each thing is used in all, and stand in order of first use; ``supplied`` says how many
    supplies stood before that.
    """

    weights: dict[str, float] = field(default_factory=dict)
    supplied: dict[str, int] = field(default_factory=dict)
    supplies: list[str] = field(default_factory=list)


def tools_speak(turns: Iterable[Turn]) -> bool:
    """Whether results have turns of their own; where not, user turns may hold what commands printed."""
    return any(turn.role == "tool" or turn.answers for turn in turns)


def read_uses(reader: Reader, turns: Sequence[Turn], *, users_speak: bool) -> Uses:
    """Read what turns use, and what others bring in; see :func:`used_in`."""
    read = Uses()
    for turn in turns:
        said = reader.said(turn)
        for fact, weight in used_in(reader, turn, said, users_speak=users_speak).items():
            if fact not in read.weights:
                read.supplied[fact] = len(read.supplies)
            read.weights[fact] = read.weights.get(fact, 0.0) + weight
        if brings_in(turn, users_speak=users_speak):
            read.supplies.append(said.whole)
    return read


def used_in(reader: Reader, turn: Turn, said: Said, *, users_speak: bool) -> dict[str, float]:
    """Return what a turn uses, and how much, in order of use.

    Assistants use things, and users where what they say is known to be theirs (``users_speak``).
    """
    used: dict[str, float] = {}
    if turn.role == "assistant":
        if '"' in said.text:
            reader.schema.update(_JSON_KEY.findall(said.text))
        _use(used, candidates(said.text), _WRITTEN)
        _use(used, candidates(said.reasoning), _SAID)
        for values in said.arguments:
            wholes = dict.fromkeys(whole for value in values if (whole := value_candidate(value)))
            _use(used, wholes | candidates("\n".join(values)), _CALLED)
    elif _is_spoken(turn, users_speak=users_speak):
        _use(used, candidates(readable(request_text(turn))), _SAID)
    return used


def brings_in(turn: Turn, *, users_speak: bool) -> bool:
    """Whether a turn brings things in: results do, and what users say where that may not be theirs."""
    return turn.role != "assistant" and (bool(turn.answers) or not _is_spoken(turn, users_speak=users_speak))


def _is_spoken(turn: Turn, *, users_speak: bool) -> bool:
    return (users_speak or bool(turn.name)) and is_request(turn)


def _use(used: dict[str, float], found: Iterable[str], weight: float) -> None:
    for fact in islice(found, _MAX_PER_TEXT):
        used[fact] = used.get(fact, 0.0) + weight
