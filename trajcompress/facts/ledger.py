"""Which turns of a row tell a fact, and which use it: what is lost where some turns say less."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from trajcompress.facts.copied import flat, is_copied
from trajcompress.facts.reading import Reader, is_told, mentions, words
from trajcompress.facts.uses import read_uses, tools_speak
from trajcompress.transcript.trajectory import Turn


class FactLedger:
    """The facts of one row, read once."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._flats: dict[int, str] = {}

    def needed(self, dropped: Collection[int]) -> dict[int, list[str]]:
        """Return what kept turns use and only dropped ones tell before that, by the last of these.

        ``dropped`` are turns that hold results, or are worked examples. Facts stand in order of first use.
        """
        needed: dict[int, list[str]] = {}
        for fact, tellers in self._tellers.items() if dropped else ():
            last: int | None = None
            for index in tellers:
                if index not in dropped:  # tells it before its first use, if it does not use it
                    if last is None or index not in self._uses[fact]:
                        break
                    if not is_copied(fact, self._texts[last], self._flat(index)):
                        needed.setdefault(last, []).append(fact)
                    break
                last = index
        return needed

    def _flat(self, index: int) -> str:
        """The text of a turn that uses facts, in single spaces."""
        if index not in self._flats:
            self._flats[index] = flat(self._texts[index])
        return self._flats[index]

    @cached_property
    def _tellers(self) -> dict[str, list[int]]:
        """The facts that a result tells first: the turns that tell each, up to the first that holds no result."""
        holds = [bool(turn.answers or turn.example) for turn in self._turns]
        tellers: dict[str, list[int]] = {}
        for fact in self._likely:
            found: list[int] = []
            for index in self._find(fact):
                found.append(index)
                if not holds[index]:
                    break
            if found and holds[found[0]]:
                tellers[fact] = found
        return tellers

    @cached_property
    def _likely(self) -> list[str]:
        """The facts whose words some result has: the others are lost with none."""
        turns = zip(self._turns, self._words, strict=True)
        told = set[str]().union(*(found for turn, found in turns if turn.answers or turn.example))
        return [fact for fact in self._uses if words(fact) <= told]

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
    def _words(self) -> list[set[str]]:
        return list(map(words, self._texts))

    @cached_property
    def _turns_with(self) -> dict[str, list[int]]:
        """The turns in which each word stands, in order: a row may have turns and facts by the hundred thousand."""
        wanted = set[str]().union(*map(words, self._likely))
        turns: dict[str, list[int]] = {}
        for index, found in enumerate(self._words):
            for word in found & wanted:
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
