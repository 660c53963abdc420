"""Which turns of a row tell a fact, and which use it: what is lost where some turns say less."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from trajcompress.facts.reading import Reader, is_told, mentions, words
from trajcompress.facts.uses import read_uses, tools_speak
from trajcompress.trajectory import Turn


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
        for fact, uses in self._uses.items():
            told = self._told_in(fact)
            first_kept = next((index for index in told if index not in dropped), None)
            # Where another turn tells it before its first use, or the user of it coined it, nothing is lost.
            if first_kept in uses and first_kept != told[0]:
                teller = max(index for index in told if index < first_kept)
                needed.setdefault(teller, []).append(fact)
        return needed

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
    def _texts(self) -> list[tuple[str, set[str]]]:
        reader = Reader()
        texts = (reader.text([turn]) for turn in self._turns)
        return [(text, words(text)) for text in texts]

    def _told_in(self, fact: str) -> list[int]:
        """Return the turns that mention a fact, in order."""
        if fact not in self._told:
            self._told[fact] = list(self._find(fact))
        return self._told[fact]

    def _find(self, fact: str) -> Iterator[int]:
        parts, uses = words(fact), self._uses[fact]
        for index, (text, known) in enumerate(self._texts):
            if parts <= known and (index in uses or mentions(text, fact, is_told)):
                yield index
