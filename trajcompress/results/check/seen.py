"""What a rendered row shows of its turns: their words, and the names and argument values of their calls.

White space is left out of the comparison, as templates strip and add it; text may be escaped as in JSON. Thoughts
that are missing have a kind of their own: templates leave out earlier ones by design. Long texts are looked for in
order from where the one before them ends; short ones, which stand in many places, only between their neighbours. So
one pass over the rendered text finds everything, and what is not there is looked for only so often.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trajcompress.json_values import parse_json
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.trajectory import ToolCall, Turn
from trajcompress.transcript.violation import Kind, Violation

_TAG = late_re("(</?think>)")
_LONG = 32
"""Characters above which a text is hardly found where it does not stand."""
_MOST_SEARCHES = 40
"""Of a row, for what is not where it belongs; each may read the whole text."""
_SHOWN = 60
_SHORT = 160
"""Characters that a short turn, or a call without its arguments, takes with what the template writes around it."""
_NEAR = 64
"""Characters between the name of a call and its arguments."""


def unseen(rendered: str, turns: Sequence[Turn], system: str | None = None) -> list[Violation]:
    """Return what of the turns, and of the system prompt of a column, is not in the rendered text."""
    return sorted(_Comparison(_squeezed(rendered), turns).violations(system), key=lambda each: each.turn or 0)


@dataclass(slots=True)
class _Comparison:
    """Finds the place of each turn in the text, and then its calls around it."""

    text: str
    turns: Sequence[Turn]
    places: dict[int, tuple[int, int]] = field(default_factory=dict)
    searches: int = 0

    def violations(self, system: str | None) -> Iterator[Violation]:
        if system and not self._is_anywhere(system):
            yield Violation("content_not_rendered", None, f"column system: {_first(system)}")
        words = {index: text for index, turn in enumerate(self.turns) if (text := _words(turn)).strip()}
        is_long = {index: len(text) >= _LONG and len(_squeezed(text)) >= _LONG for index, text in words.items()}
        yield from self._long({index: text for index, text in words.items() if is_long[index]})
        yield from self._short({index: text for index, text in words.items() if not is_long[index]})
        yield from self._calls()
        yield from self._thoughts()

    def _long(self, words: dict[int, str]) -> Iterator[Violation]:
        at = slack = 0
        for index, turn in enumerate(self.turns):
            slack += _SHORT
            if (text := words.get(index)) is not None:
                if place := self._find(text, at, len(self.text)):
                    self.places[index] = place
                    at, slack = place[1], 0
                elif not self._is_anywhere(text) and (line := self._missing_line(text)):
                    yield Violation("content_not_rendered", index, _first(line))
            for call in _structured(turn):
                after = self._behind(call, at, slack)
                at, slack = (after, 0) if after > at else (at, slack + _SHORT + len(call.arguments))

    def _behind(self, call: ToolCall, at: int, slack: int) -> int:
        """Return where a call ends that stands near by: a result may say again what it says."""
        named = self._find(call.name, at, at + slack + _SHORT) if call.name else None
        if named is None:
            return at
        near = named[1] + _SHORT + 2 * len(call.arguments)
        return max((named[1], *(self._first_end(value, named[1], near) for _, value in _leaves(call.arguments))))

    def _short(self, words: dict[int, str]) -> Iterator[Violation]:
        following = self._following()
        at = 0
        for index, turn in enumerate(self.turns):
            if index in words:
                text = words[index]
                if place := self._find(text, at, following[index]):
                    self.places[index] = place
                elif turn.role != "system" or not self._is_anywhere(text):
                    yield Violation("content_not_rendered", index, _first(text))
            if index in self.places:
                at = self.places[index][1]
            for call in _structured(turn):
                at = max(at, min(self._behind(call, at, 2 * _SHORT), following[index]))

    def _calls(self) -> Iterator[Violation]:
        following = self._following()
        before = at = 0
        for index, turn in enumerate(self.turns):
            if calls := _structured(turn):
                own = self.places.get(index)
                for call in calls:
                    start = max(at, own[1]) if own else max(at, before)
                    around = [(start, following[index])] + ([(max(at, before), own[0])] if own else [])
                    fault, at = self._call(call, around, at)
                    if fault:
                        yield Violation(fault[0], index, fault[1])
            if index in self.places:
                before = self.places[index][1]

    def _call(self, call: ToolCall, around: list[tuple[int, int]], at: int) -> tuple[Any, int]:
        """Return what is wrong with a call, and where its name ends."""
        for start, end in around:
            place = self._find(call.name, start, end) if call.name else (start, start)
            if place is None:
                continue
            after = place[1]
            if _shows_text_in_text(self.text[after : after + _NEAR + len(call.arguments[:_NEAR])], call):
                return ("arguments_encoded_twice", f"of {call.name!r}: they are a JSON text within JSON"), after
            for path, value in _leaves(call.arguments):
                if not any(self._find(value, *region) for region in around) and not self._gives_up():
                    return ("call_not_rendered", f"argument {path} of {call.name!r}: {_first(value)}"[:160]), after
            return None, after
        if self._gives_up():
            return None, at
        return ("call_not_rendered", f"{call.name!r}"[:80]), at

    def _thoughts(self) -> Iterator[Violation]:
        """Find the thoughts, and the words before them, that do not stand between the turns around their own."""
        following = self._following()
        before = searches = 0
        for index, turn in enumerate(self.turns):
            reported: set[Kind] = set()
            for kind, words in _before_thoughts_end(turn):
                if kind in reported or self._find(words, before, following[index]):
                    continue
                searches += len(words) >= _LONG
                if len(words) < _LONG or searches > _MOST_SEARCHES or not self._find(words, 0, len(self.text)):
                    yield Violation(kind, index, _first(words))
                    reported.add(kind)
            before = self.places[index][1] if index in self.places else before

    def _following(self) -> list[int]:
        """Return for each turn where the next that has a place begins."""
        ends = [len(self.text)] * len(self.turns)
        for index in range(len(self.turns) - 2, -1, -1):
            ends[index] = self.places[index + 1][0] if index + 1 in self.places else ends[index + 1]
        return ends

    def _find(self, text: str, start: int, end: int) -> tuple[int, int] | None:
        for form in _forms(text):
            place = self.text.find(form, start, end)
            if place >= 0:
                return place, place + len(form)
        return None

    def _first_end(self, text: str, start: int, end: int) -> int:
        """Return where the first of a text's forms ends: a result may show as it is what the call has escaped."""
        found = ((self.text.find(form, start, end), len(form)) for form in _forms(text))
        return min((place + length for place, length in found if place >= 0), default=start)

    def _is_anywhere(self, text: str) -> bool:
        return self._gives_up() or self._find(text, 0, len(self.text)) is not None

    def _missing_line(self, text: str) -> str | None:
        """Return the first line that is nowhere: a template may write something between them."""
        at = 0
        for line in text.splitlines():
            if line.strip():
                place = self._find(line, at, len(self.text)) or self._find(line, 0, len(self.text))
                if place is None:
                    return line
                at = place[1]
        return None

    def _gives_up(self) -> bool:
        self.searches += 1
        return self.searches > _MOST_SEARCHES


def _structured(turn: Turn) -> list[ToolCall]:
    """Return the calls of a turn that do not stand in its text."""
    return [] if turn.in_text else [call for call in turn.calls if not call.in_text]


def _words(turn: Turn) -> str:
    """Return what of a turn has to show up: not the thoughts before its words."""
    return turn.text.rpartition("</think>")[2] if turn.role == "assistant" else turn.text


def _before_thoughts_end(turn: Turn) -> Iterator[tuple[Kind, str]]:
    """Yield what an assistant turn thinks, and the words that stand before the end of its last thought."""
    if turn.role != "assistant":
        return
    kind: Kind = "content_not_rendered"
    said = turn.text.rpartition("</think>")[0]
    if "<think>" not in said.partition("</think>")[0]:  # a template may have opened the first
        kind = "thoughts_not_rendered"
    for part in _TAG.split(said):
        if part in {"<think>", "</think>"}:
            kind = "thoughts_not_rendered" if part == "<think>" else "content_not_rendered"
        elif part.strip():
            yield kind, part
    if turn.reasoning.strip():
        yield "thoughts_not_rendered", turn.reasoning


def is_shown(words: str, rendered: str) -> bool:
    """Tell whether words stand anywhere in a rendered text, as they are or escaped."""
    text = _squeezed(rendered)
    return any(form in text for form in _forms(words))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _forms(text: str) -> Iterator[str]:
    """Yield the text as a template may write it: as it is, or as JSON or Python escapes it."""
    plain = _squeezed(text)
    yield plain
    for escaped in (json.dumps(text, ensure_ascii=False), json.dumps(text), repr(text)):
        if (form := _squeezed(escaped[1:-1])) != plain:
            yield form


def _shows_text_in_text(text: str, call: ToolCall) -> bool:
    """Tell whether arguments stand there as a JSON text of their own."""
    try:
        arguments = parse_json(call.arguments)
    except ValueError:
        return False
    if not isinstance(arguments, dict):
        return False
    key = next((json.dumps(json.dumps(key, ensure_ascii=False), ensure_ascii=False)[1:-1] for key in arguments), None)
    return ('"{}"' if key is None else _squeezed(f'"{{{key}:')) in text


def _leaves(arguments: str) -> Iterator[tuple[str, str]]:
    """Yield the texts and whole numbers in the arguments of a call, and where each stands."""
    try:
        waiting: list[tuple[str, Any]] = [("", parse_json(arguments))]
    except ValueError:
        waiting = [("", arguments)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}".strip("."), each) for key, each in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(value)]
        elif isinstance(value, str) and value.strip():
            yield path, value
        elif isinstance(value, int) and not isinstance(value, bool):
            yield path, str(value)


def _first(text: str) -> str:
    words = " ".join(text[: 4 * _SHOWN].split())
    return words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…"
