"""Which turns of a row tell a fact, and which use it: what is lost where some turns say less."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, filterfalse
from typing import NamedTuple

from trajcompress.facts.instructions import instructions, outline
from trajcompress.facts.next_turns import LaterReader
from trajcompress.facts.parts import Wanted
from trajcompress.facts.quoted import Quote, brought_in, by_result, quotes, within_quotes
from trajcompress.facts.reading import is_told, mentions, words, words_of
from trajcompress.facts.taken import STRONG, telling_words, words_taken
from trajcompress.facts.uses import TurnReader
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.trajectory import Turn

_NEEDED = 2 * STRONG
_REQUEST_CHARS = 2_000
_LONG_CHARS = 2_000  # of a result, of which most may go


class _Read(NamedTuple):
    """The turns that use each fact, the text of each turn, and what it passes to each tool."""

    uses: dict[str, set[int]]
    texts: list[str]
    arguments: list[list[list[str]]]


class _Words(NamedTuple):
    """What is taken from each result, and the turns in which each word of a fact stands, in order."""

    taken: dict[int, Wanted]
    turns_with: dict[str, dict[int, None]]  # a row may have a hundred thousand of either


class FactLedger:
    """The facts of one row, read once."""

    def __init__(self, turns: Sequence[Turn], *, also: Collection[int] = ()) -> None:
        """Take the turns of a row; ``also`` are those that may be dropped besides results and examples."""
        self.turns = turns
        self._also = frozenset(also)
        self._words_asked: dict[int, Wanted] = {}
        self.later = LaterReader(turns)
        self.reader = TurnReader(turns)

    def needed(self, dropped: Collection[int]) -> dict[int, list[str]]:
        """Return what kept turns use and only dropped ones tell before that, by the last of these.

        ``dropped`` are turns that hold results, are worked examples, or were named besides. Facts stand in order of
        first use.
        """
        needed: dict[int, list[str]] = {}
        for fact, tellers in self._tellers.items() if dropped else ():
            last: int | None = None
            for index in tellers:
                if index not in dropped:  # tells it before its first use, if it does not use it
                    if last is None or index not in self._read.uses[fact]:
                        break
                    needed.setdefault(last, []).append(fact)
                    break
                last = index
        return needed

    def wanted(self, index: int, facts: Sequence[str] = ()) -> Wanted:
        """Return what of a turn is to stay where it gets shorter: facts needed, words taken from it, its outline.

        Of a result that is what the next turns name as well, though somebody said it before; of a request what it
        asks for.
        """
        if index in self._also:
            return {**instructions(self.turns[index].text, _NEEDED), **dict.fromkeys(facts, _NEEDED)}
        told = outline(self.turns[index].text, _NEEDED)
        named = {word: weight for word, weight in self.later.after(index).items() if weight >= STRONG}
        told = {**self._asked(index), **named, **told}
        return {**told, **self._brought_in.get(index, {}), **self.taken(index), **dict.fromkeys(facts, _NEEDED)}

    def _asked(self, index: int) -> Wanted:
        """Return the words of the request that a long result is for: it may name more than the agent takes up."""
        before = bisect_left(self._requests, index)
        if not before or len(self.turns[index].text) < _LONG_CHARS:
            return {}
        request = self._requests[before - 1]
        if request not in self._words_asked:
            said = request_text(self.turns[request])
            told = telling_words(said) if len(said) <= _REQUEST_CHARS else ()  # else it holds more than it asks for
            forms = ((word, f"{word}s", word.removesuffix("s")) for word, _ in told)
            self._words_asked[request] = dict.fromkeys(chain.from_iterable(forms), STRONG)
        return self._words_asked[request]

    def taken(self, index: int) -> Wanted:
        """Return the words that later turns take from a result, and the blocks of it that they quote."""
        return {**self._words.taken.get(index, {}), **self.quoted(index)}

    def quoted(self, index: int) -> Wanted:
        """Return the blocks of a result that later calls quote."""
        return self._quoted.get(index, {})

    def parting(self) -> set[int]:
        """Return before which turns the row cannot be cut without parting a quote from the result it is of."""
        return within_quotes(self._quotes)

    @cached_property
    def _requests(self) -> list[int]:
        return [index for index, turn in enumerate(self.turns) if is_request(turn)]

    @cached_property
    def _quotes(self) -> list[Quote]:
        return quotes(self.turns, self._read.arguments)

    @cached_property
    def _brought_in(self) -> dict[int, Wanted]:
        return brought_in(self.turns, self._read.arguments)

    @cached_property
    def _quoted(self) -> dict[int, Wanted]:
        return by_result(self._quotes)

    @cached_property
    def _tellers(self) -> dict[str, list[int]]:
        """The facts that a result tells first: the turns that tell each, up to the first that holds no result."""
        holds = self._holds
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
    def _holds(self) -> list[bool]:
        """Whether each turn may be dropped: it holds a result, or is a worked example."""
        return [bool(turn.answers or turn.example or index in self._also) for index, turn in enumerate(self.turns)]

    @cached_property
    def _likely(self) -> list[str]:
        """The facts whose words some result has: the others are lost with none."""
        told = {word for word, turns in self._words.turns_with.items() if any(map(self._holds.__getitem__, turns))}
        return [fact for fact, parts in self._parts.items() if parts <= told]

    @cached_property
    def _read(self) -> _Read:
        uses: dict[str, set[int]] = {}
        names: set[str] = set()
        read = [self.reader.read(turn) for turn in self.turns]
        for index, turn in enumerate(read):
            names |= turn.names
            for fact in turn.used.weights:
                uses.setdefault(fact, set()).add(index)
        uses = {fact: places for fact, places in uses.items() if fact not in names}
        return _Read(uses, [turn.said.whole for turn in read], [turn.said.arguments for turn in read])

    @cached_property
    def _parts(self) -> dict[str, set[str]]:
        """The words of each fact."""
        return {fact: set(words(fact)) for fact in self._read.uses}

    @cached_property
    def _words(self) -> _Words:
        """Both in one, as each turn is read once for it."""
        turns: dict[bytes, list[int]] = {word.encode(): [] for parts in self._parts.values() for word in parts}
        wanted = set(turns)

        def note(index: int, tokens: Collection[bytes]) -> None:
            joined = words_of(filterfalse(bytes.isalnum, tokens))  # the others are words as they are
            for word in wanted.intersection(tokens).union(wanted.intersection(joined)):
                turns[word].append(index)

        agent = [turn.role == "assistant" for turn in self.turns]
        taken = words_taken(self._read.texts, self._holds, agent, note)
        return _Words(taken, {word.decode(): dict.fromkeys(sorted(places)) for word, places in turns.items()})

    @cached_property
    def _turns_with_character(self) -> dict[str, list[int]]:
        """The turns in which each character that is not ASCII stands, for facts with no word."""
        turns: dict[str, list[int]] = {}
        for index, text in enumerate(self._read.texts):
            for character in () if text.isascii() else set(text):
                turns.setdefault(character, []).append(index)
        return turns

    def _find(self, fact: str) -> Iterator[int]:
        uses, parts = self._read.uses[fact], self._parts[fact]
        if not parts:
            rarest = min((self._turns_with_character.get(character, []) for character in fact), key=len)
            likely: Iterable[int] = sorted(uses.union(rarest))
        else:
            first, *others = sorted((self._words.turns_with[part] for part in parts), key=len)
            likely = (index for index in first if all(index in turns for turns in others)) if others else first
        for index in likely:
            if index in uses or mentions(self._read.texts[index], fact, is_told):
                yield index
