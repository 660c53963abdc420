"""What turns use, and what they bring in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from trajcompress.facts.candidates import candidates, value_candidate
from trajcompress.facts.reading import Reader, is_body, readable
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.trajectory import Turn

_SAID, _WRITTEN, _CALLED = 1.0, 2.0, 3.0
_JSON_KEY = re.compile(r'"(\w{1,60})"\s?:', re.ASCII)
_MAX_PER_TEXT = 2_000


@dataclass(slots=True)
class Uses:
    """What turns use, and what others bring in, in order.

    ``weights`` say how much each thing is used in all, and stand in order of first use; ``supplied`` says how many
    supplies stood before that. ``in_bodies`` are those that only what is written to a file or a page names.
    """

    weights: dict[str, float] = field(default_factory=dict)
    supplied: dict[str, int] = field(default_factory=dict)
    supplies: list[str] = field(default_factory=list)
    in_bodies: set[str] = field(default_factory=set)


def tools_speak(turns: Iterable[Turn]) -> bool:
    """Whether results have turns of their own; where not, user turns may hold what commands printed."""
    return any(turn.role == "tool" or turn.answers for turn in turns)


def read_uses(reader: Reader, turns: Sequence[Turn], *, users_speak: bool) -> Uses:
    """Read what turns use: assistants do, and users where what they say is known to be theirs (``users_speak``)."""
    read = Uses()
    for turn in turns:
        if turn.role == "assistant":
            text = readable(turn.text)
            if '"' in text:
                reader.schema.update(_JSON_KEY.findall(text))
            _use(read, candidates(text), _WRITTEN)
            if turn.reasoning:
                _use(read, candidates(readable(turn.reasoning)), _SAID)
            for call in turn.calls:
                values = reader.arguments(call)
                wholes = dict.fromkeys(whole for value in values if (whole := value_candidate(value)))
                brief = [value for value in values if not is_body(value)]
                said = wholes | candidates("\n".join(brief))
                _use(read, said, _CALLED)
                if len(brief) < len(values):
                    bodies = candidates("\n".join(value for value in values if is_body(value)))
                    read.in_bodies.update(fact for fact in bodies if fact not in read.weights)
                    _add(read, [fact for fact in bodies if fact not in said], _CALLED)
        elif is_request(turn) and (users_speak or turn.name):
            _use(read, candidates(readable(request_text(turn))), _SAID)
            if turn.answers:
                read.supplies.append(reader.text([turn]))
        else:
            read.supplies.append(reader.text([turn]))
    return read


def _use(read: Uses, found: Collection[str], weight: float) -> None:
    read.in_bodies.difference_update(found)
    _add(read, found, weight)


def _add(read: Uses, found: Iterable[str], weight: float) -> None:
    weights, supplied, supplies = read.weights, read.supplied, len(read.supplies)
    for fact in islice(found, _MAX_PER_TEXT):
        if fact in weights:
            weights[fact] += weight
        else:
            weights[fact] = weight
            supplied[fact] = supplies
