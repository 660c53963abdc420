"""What turns use, and what they bring in."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, field

from trajcompress.facts.candidates import candidates, is_file_name, value_candidate
from trajcompress.facts.reading import Reader, Said, is_body, readable, without_bodies
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.text_protocols.fences import fenced_spans, without_fenced
from trajcompress.transcript.trajectory import Turn

_SAID, _WRITTEN, _CALLED = 1.0, 2.0, 3.0
_JSON_KEY = late_re(r'"(\w{1,60})"\s?:', re.ASCII)
_BOUND = late_re(  # by Python and JavaScript
    r"(?:^[ \t]{0,40}|[;\"'] ?)(?:(?:const|let|var) )?([A-Za-z_]\w{0,60}) = |\bfor ([A-Za-z_]\w{0,60}) in "
    r"|\bas ([A-Za-z_]\w{0,60}):",
    re.MULTILINE,
)
_MAX_PER_TEXT = 2_000


class Uses(Struct):
    """What turns use, and what others bring in, in order.

    ``weights`` say how much each thing is used in all, and stand in order of first use; ``supplied`` says how many
    supplies stood before that. ``in_bodies`` are those that only what is written to a file or a page names. ``names``
    are no facts: of tools, of their arguments, and keys of JSON that is said.
    """

    weights: dict[str, float] = field(default_factory=dict)
    supplied: dict[str, int] = field(default_factory=dict)
    supplies: list[str] = field(default_factory=list)
    in_bodies: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


class Used(Struct):
    """What one turn uses, and how much, in order of use; ``in_bodies`` as in :class:`Uses`."""

    weights: dict[str, float] = field(default_factory=dict)
    in_bodies: set[str] = field(default_factory=set)

    def say(self, found: Collection[str], weight: float) -> None:
        """Add what the turn says."""
        self.in_bodies.difference_update(found)
        self.add(found, weight)

    def add(self, found: Iterable[str], weight: float) -> None:
        """Add what the turn uses."""
        for fact in islice(found, _MAX_PER_TEXT):
            self.weights[fact] = self.weights.get(fact, 0.0) + weight


def tools_speak(turns: Iterable[Turn]) -> bool:
    """Whether results have turns of their own; where not, user turns may hold what commands printed."""
    return any(turn.role == "tool" or turn.answers for turn in turns)


class ReadTurn(NamedTuple):
    """What a turn says and uses; ``names`` as in :class:`Uses`."""

    said: Said
    used: Used
    names: set[str]


class TurnReader:
    """Reads the turns of a row, each once."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        """Take the turns of the row: where none is a tool's, users may say what commands printed."""
        self._users_speak = tools_speak(turns)
        self._read: dict[int, tuple[Turn, ReadTurn]] = {}

    def read(self, turn: Turn) -> ReadTurn:
        """Return what a turn says, and uses: assistants do, and users where what they say is known to be theirs."""
        known = self._read.get(id(turn))
        if known is None:
            known = self._read[id(turn)] = turn, self._of(turn)
        return known[1]

    def uses(self, turns: Sequence[Turn]) -> Uses:
        """Return what turns use, and what others bring in."""
        found = Uses()
        for turn in turns:
            said, used, names = self.read(turn)
            found.names |= names
            found.in_bodies -= used.weights.keys() - used.in_bodies
            found.in_bodies |= used.in_bodies - found.weights.keys()
            for fact, weight in used.weights.items():
                if fact not in found.weights:
                    found.supplied[fact] = len(found.supplies)
                found.weights[fact] = found.weights.get(fact, 0.0) + weight
            if brings_in(turn, users_speak=self._users_speak):
                found.supplies.append(said.whole)
            elif turn.role == "user":
                found.supplies += (said.text[start:end] for start, end in fenced_spans(said.text))
        return found

    def _of(self, turn: Turn) -> ReadTurn:
        reader, used = Reader(), Used()
        said = reader.said(turn)
        if turn.role == "assistant":
            if '"' in said.text:
                reader.schema.update(_JSON_KEY.findall(said.text))
            text = without_bodies(turn, said)
            used.say(_others(candidates(text), _own_names((text,))), _WRITTEN)
            used.say(candidates(said.reasoning), _SAID)
            for values in said.arguments:
                _call(used, values)
        elif _is_spoken(turn, users_speak=self._users_speak):
            asked = without_fenced(readable(request_text(turn)))  # what is shown is there
            used.say(candidates(asked), _SAID)
        return ReadTurn(said, used, reader.schema)


def _call(used: Used, values: Sequence[str]) -> None:
    """Add what the arguments of a call name; a file that is written names much that it does not use."""
    wholes = dict.fromkeys(whole for value in values if (whole := value_candidate(value)))
    brief = [value for value in values if not is_body(value)]
    own = _own_names(values)
    said = wholes | _others(candidates("\n".join(brief)), own)
    used.say(said, _CALLED)
    if len(brief) < len(values):
        bodies = _others(candidates("\n".join(value for value in values if is_body(value))), own)
        used.in_bodies.update(fact for fact in bodies if fact not in used.weights)
        used.add([fact for fact in bodies if fact not in said], _CALLED)


def _own_names(values: Sequence[str]) -> frozenset[str]:
    """Return the variables that code binds itself: what it calls on them it need not have been told."""
    return frozenset(bound[bound.lastindex or 0] for value in values for bound in _BOUND.finditer(value))


def _others(found: Mapping[str, None], own: Collection[str]) -> dict[str, None]:
    """Leave out the members of variables of one's own, such as ``sheet.cell``."""
    if not own:
        return dict(found)
    return {
        fact: None for fact in found if "." not in fact or fact.partition(".")[0] not in own or is_file_name(fact)
    }


def brings_in(turn: Turn, *, users_speak: bool) -> bool:
    """Whether a turn brings things in: results do, and what users say where that may not be theirs."""
    return turn.role != "assistant" and (bool(turn.answers) or not _is_spoken(turn, users_speak=users_speak))


def _is_spoken(turn: Turn, *, users_speak: bool) -> bool:
    return (users_speak or bool(turn.name)) and is_request(turn)
