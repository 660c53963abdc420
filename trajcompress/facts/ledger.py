"""Which turns of a row tell a fact, and which use it: what is lost where some turns say less."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

from trajcompress.facts.reading import Reader, is_told, mentions, words
from trajcompress.facts.uses import read_uses, tools_speak
from trajcompress.transcript.trajectory import Turn


class FactLedger:
    """The facts of one row, read once."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._told: dict[str, list[int]] = {}

    def needed(self, dropped: Collection[int]) -> dict[int, list[str]]:
        """Return what kept turns use and only dropped ones tell before that, by the last of these.

        ``dropped`` are turns that tools speak in, or whose calls are shortened. Facts stand in order of first use.
        """
        needed: dict[int, list[str]] = {}
        for fact in self._uses:
            teller = self._last_teller(fact, dropped.__contains__)
            if teller is not None:
                needed.setdefault(teller, []).append(fact)
        return needed

    def needed_of(self, turn: int, dropped: Collection[int]) -> list[str]:
        """Return what of a turn's facts would be lost if it were dropped as well, in order of first use."""

        def is_dropped(index: int) -> bool:
            return index == turn or index in dropped

        return [fact for fact in self._facts_in.get(turn, ()) if self._last_teller(fact, is_dropped) is not None]

    def _last_teller(self, fact: str, is_dropped: Callable[[int], bool]) -> int | None:
        """Return the last turn that tells a fact before its first use, where all that do are dropped."""
        told = self._told_in(fact)
        at = next((at for at, index in enumerate(told) if not is_dropped(index)), 0)
        # Where another turn tells it before its first use, or the user of it coined it, nothing is lost.
        return told[at - 1] if at and told[at] in self._uses[fact] else None

    @cached_property
    def _facts_in(self) -> dict[int, list[str]]:
        facts: dict[int, list[str]] = {}
        for fact in self._uses:
            for index in self._told_in(fact):
                facts.setdefault(index, []).append(fact)
        return facts

    @cached_property
    def _uses(self) -> dict[str, set[int]]:
        reader = Reader()
        users_speak = tools_speak(self._turns)
        uses: dict[str, set[int]] = {}
        for index, turn in enumerate(self._turns):
            for fact in read_uses(reader, [turn], users_speak=users_speak).weights:
                uses.setdefault(fact, set()).add(index)
        return {fact: places for fact, places in uses.items() if fact not in reader.schema}

    @cached_property
    def _texts(self) -> list[str]:
        reader = Reader()
        return [reader.text([turn]) for turn in self._turns]

    @cached_property
    def _turns_with(self) -> dict[str, list[int]]:
        """The turns in which each word stands, in order: a row may have turns and facts by the hundred thousand."""
        turns: dict[str, list[int]] = {}
        for index, text in enumerate(self._texts):
            for word in words(text):
                turns.setdefault(word, []).append(index)
        return turns

    @cached_property
    def _turns_with_character(self) -> dict[str, list[int]]:
        """The same of characters, for what has no word in it."""
        turns: dict[str, list[int]] = {}
        for index, text in enumerate(self._texts):
            for character in () if text.isascii() else set(text):
                turns.setdefault(character, []).append(index)
        return turns

    def _told_in(self, fact: str) -> list[int]:
        """Return the turns that mention a fact, in order."""
        if fact not in self._told:
            self._told[fact] = list(self._find(fact))
        return self._told[fact]

    def _find(self, fact: str) -> Iterator[int]:
        uses, parts = self._uses[fact], words(fact)
        if not parts:
            rarest = min((self._turns_with_character.get(character, []) for character in fact), key=len)
            likely: Iterable[int] = sorted(uses.union(rarest))
        else:
            first, *others = sorted((self._turns_with.get(part, []) for part in parts), key=len)
            likely = (index for index in first if all(_holds(turns, index) for turns in others))
        for index in likely:
            if index in uses or mentions(self._texts[index], fact, is_told):
                yield index


def _holds(ordered: Sequence[int], index: int) -> bool:
    at = bisect_left(ordered, index)
    return at < len(ordered) and ordered[at] == index
