"""The lines of the results of a row: what each answers, what else gives it, and what later turns take from it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Literal, TypeAlias

from trajcompress.compaction.text.excerpt import BRIEF_CHARS, ENDS, MOST_CHARS, excerpt
from trajcompress.compaction.text.line import (
    LINE_CHARS,
    bare_line,
    bare_repeat,
    is_line,
    result_line,
)
from trajcompress.facts import facts_in
from trajcompress.facts.ledger import FactLedger
from trajcompress.facts.next_turns import NOTHING_LATER, LaterReader
from trajcompress.facts.parts import Wanted
from trajcompress.facts.reading import readable
from trajcompress.formats.rewrite import map_results, result_texts
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.outcome import Reading, is_data
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.steps import Calls, action_of, calls_of, typed_at_once
from trajcompress.redact import Clean, without_secrets
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import Region, Turn

LONG_CHARS = LINE_CHARS + 20
"""Results up to this length stay: a line says little less, and what is a line already is never pruned again."""

BARE_CHARS = 100
"""Results up to this length stay even where a row has no room."""

_MOST_LEFT = 0.8  # of its length a line may have: for less than that a result is not given up

Length: TypeAlias = Literal["full", "shortest", "bare"]

Needed: TypeAlias = Callable[[int], Sequence[str]]
"""What is needed later of a turn."""


def _nothing(_index: int) -> Sequence[str]:
    return ()


def _nothing_taken(_index: int) -> Wanted:
    return NOTHING_LATER


def _ran(turns: Sequence[Turn], calls: Mapping[Place, Place], result: Place) -> Hashable:
    """Return what a result came of; the result itself where that is not known."""
    call = calls.get(result)
    if call is None:
        return result
    turn = turns[call[0]]
    joint = turn.in_text and not turn.apart  # those of a text have one answer
    made = turn.calls if joint else turn.calls[call[1] : call[1] + 1]
    return tuple((each.name, each.arguments) for each in made) or turn.text


class ResultLines:
    """The lines of the results of a row, each made when it is asked for: in full, short, then bare."""

    def __init__(
        self,
        turns: Sequence[Turn],
        middle: Region,
        needed: Needed = _nothing,
        *,
        clean: Clean = without_secrets,
        ledger: FactLedger | None = None,
        read: Sequence[Turn] | None = None,
    ) -> None:
        """Take a row.

        Args:
            turns: all turns of the row: a result may be given again by a protected turn.
            middle: the turns that are not protected.
            needed: says what of a turn must still be told.
            clean: takes secrets out of what lines tell.
            ledger: knows what later turns take from a turn, and which blocks of lines of it later calls quote, which
                stay as they are; where it is not given, lines tell no more than what is needed and what the next
                turns name.
            read: the turns as they were read, where some have lost their bulk.
        """
        self.turns, self.middle, self.needed, self._read = turns, middle, needed, read or turns
        self._texts_read: dict[int, Sequence[str]] = {}
        self._readings: dict[Place, Reading] = {}  # for a line in full, then shorter ones
        self._of_data: dict[tuple[int, int, Length], str] = {}
        self._clean, self.ledger = clean, ledger
        self.quoted = ledger.quoted if ledger else _nothing_taken
        self.taken = ledger.taken if ledger else _nothing_taken
        self._later = ledger.later if ledger else LaterReader(turns)

    @cached_property
    def _calls(self) -> dict[Place, Place]:
        """The calls of results."""
        turns = self.turns
        return {
            match.result: match.call
            for match in match_results(turns)
            if match.call and (turns[match.call[0]].calls or match.by == "name")
        }

    @cached_property
    def _known(self) -> Calls:
        return calls_of(self.turns, self._clean)

    @cached_property
    def _places(self) -> dict[int, Sequence[str]]:
        """The results of each turn, but for those of the head."""
        return {index: result_texts(self.turns[index]) for index in range(self.middle.start, len(self.turns))}

    @cached_property
    def _newest(self) -> dict[str, Place]:
        """Where each result stands last."""
        return {text: (index, number) for index, texts in self._places.items() for number, text in enumerate(texts)}

    @cached_property
    def _repeated(self) -> Repeated:
        # It reads none before it is asked, so what it reads from must not hold it: a row would stay until cycles are
        # looked for, which is seldom.
        turns, calls = self.turns, self._calls
        return Repeated((_ran(turns, calls, place), text) for text, place in self._newest.items())

    @cached_property
    def _repeats(self) -> set[int]:
        """The turns that hold a result that a later one repeats."""
        last = {index for index, _ in self._newest.values()}
        return {index for index, texts in self._places.items() if texts and (index not in last or len(texts) > 1)}

    def without_repeated(self, index: int) -> Turn:
        """Return a turn with lines for those of its results that a later one repeats."""
        turn = self.turns[index]
        return map_results(turn, partial(self._once, index)) if index in self._repeats else turn

    def _once(self, index: int, number: int, text: str) -> str:
        """Return the text, or a line where a later result is the same; that one may be cleared, too."""
        return text if self._newest[text] == (index, number) else self.line(index, number, text)

    def shorter(self, index: int, now: Turn) -> Turn:
        """Return a turn with the shortest lines, where what it is now has longer ones."""
        turn = map_results(self.turns[index], partial(self.line, index, shortest=True))
        return turn if len(turn.text) < len(now.text) else now

    def bare(self, index: int, now: Turn) -> Turn:
        """Return a turn with lines that tell next to nothing, where what it is now is longer."""
        turn = map_results(self.turns[index], partial(self._bare_line, index))
        return turn if len(turn.text) < len(now.text) else now

    def _bare_line(self, index: int, number: int, text: str) -> str:
        if is_line(text):
            return bare_repeat(text)
        if len(text) <= BARE_CHARS:
            return text
        reading = self._reading((index, number), text)
        line = bare_line(reading, self.turns[index].name, self._clean, whole=self._whole(index, number))
        return line if len(line) <= _MOST_LEFT * len(text) else text

    def line_of_data(self, index: int, number: int, length: Length) -> str:
        """Return the line of a result that is JSON, or its text where that is shorter; of any other nothing."""
        place = index, number, length
        if place not in self._of_data:  # a row is cut again and again, until it fits
            text = next(iter(result_texts(self.turns[index])[number:]), "")
            self._of_data[place] = self._line_as(length, index, number, text) if is_data(text) else ""
        return self._of_data[place]

    def _line_as(self, length: Length, index: int, number: int, text: str) -> str:
        if length == "bare":
            return self._bare_line(index, number, text)
        return self.line(index, number, text, shortest=length == "shortest")

    def line(self, index: int, number: int, text: str, *, shortest: bool = False) -> str:
        """Return the text, or a line where that is shorter."""
        if len(text) <= LONG_CHARS or is_line(text):
            return text
        reading = self._reading((index, number), text)
        if quoted := self.quoted(index):
            most, ends = (BRIEF_CHARS, 0) if shortest else (MOST_CHARS, ENDS)
            if cut := excerpt(text, quoted, reading.asked.needed, self._clean, most=most, ends=ends):
                return cut
        name, whole = self.turns[index].name, self._whole(index, number)
        line = result_line(reading, name, self._clean, shortest=shortest, whole=whole)
        return line if len(line) <= _MOST_LEFT * len(text) else text

    def _reading(self, place: Place, text: str) -> Reading:
        if place not in self._readings:
            index = place[0]
            clean = self._clean(text)  # a secret that the line names bare would not be known for one
            needed = facts_in(self.needed(index), readable(clean))
            taken = self.taken(index)
            # What is taken tells which lines say most, also where only what is needed has room.
            later = {**taken, **self._later.after(index)}
            asked = Asked(self._action(place), needed, repeated=self._repeated, later=later, taken=taken)
            self._readings[place] = Reading(clean, asked)
        return self._readings[place]

    def _whole(self, index: int, number: int) -> str | None:
        """Return a result that has lost its bulk as it was read; of any other nothing."""
        if self._read[index] is self.turns[index]:
            return None
        if index not in self._texts_read:
            self._texts_read[index] = result_texts(self._read[index])
        return self._texts_read[index][number]

    def _action(self, place: Place) -> Action | None:
        call = self._calls.get(place)
        if call is None:
            return None
        return self._at_once.get(call[0]) or action_of(self.turns[call[0]], call[1], self._known)

    @cached_property
    def _at_once(self) -> Mapping[int, Action]:
        """What was typed in the turns whose calls one screen answers."""
        several = [result for result, call in self._calls.items() if len(self.turns[call[0]].calls) > 1]
        texts = {index: result_texts(self.turns[index]) for index in {index for index, _ in several}}
        results = {self._calls[result]: "".join(texts[result[0]][result[1] :][:1]) for result in several}
        return typed_at_once(self.turns, results, self._known)


def all_lines(ledger: FactLedger, needed: Mapping[int, Sequence[str]], clean: Clean) -> ResultLines:
    """Return the lines of all results of a row, which tell what of each is ``needed`` and what is taken from it."""
    turns = ledger.turns
    return ResultLines(turns, Region(0, len(turns)), lambda index: needed.get(index, ()), clean=clean, ledger=ledger)
