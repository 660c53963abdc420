"""What ``fit: strict`` allows for a row that is too long: its long tool results lose their middle.

Of a row that takes part in this no turn goes, and no word of the assistant; of the user only where requests are named
that may be cut. What later turns need of a middle is named in the mark that stands for it, where there is room. Where
not even that makes it fit, nothing is cut.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec import Struct

from trajcompress.compaction.text import elide_results, name_in_mark
from trajcompress.compaction.text.elide import BRIEF_CHARS, LEAST_CHARS, Keep
from trajcompress.compaction.text.result_lines import ResultLines, all_lines
from trajcompress.facts import facts_in, in_few_words
from trajcompress.facts.count import FactCount
from trajcompress.facts.ledger import FactLedger
from trajcompress.facts.parts import Wanted
from trajcompress.facts.reading import readable
from trajcompress.formats.rewrite import map_request, map_results, result_texts
from trajcompress.redact import Clean
from trajcompress.transcript.observations import demonstration_heading
from trajcompress.transcript.trajectory import Turn

_ALL = sys.maxsize
_TRIES = 4  # a template may write less than it is given, so that cutting frees less than was cut


class Counted(Protocol):
    """What knows its tokens."""

    @property
    def tokens(self) -> int: ...  # noqa: D102


T = TypeVar("T", bound=Counted)


class Truncated(Struct, Generic[T], frozen=True):
    """Turns that were cut: which are ``changed``, and what was ``built`` of them.

    They were ``cut`` before marks named what went; ``needed`` is what later turns need of each.
    """

    turns: tuple[Turn, ...]
    changed: frozenset[int]
    built: T
    cut: tuple[Turn, ...]
    needed: Mapping[int, Sequence[str]]

    @property
    def facts(self) -> FactCount:
        """How much of what is needed is told all the same."""
        told = sum(len(facts_in(facts, readable(self.turns[i].text))) for i, facts in self.needed.items())
        return FactCount(sum(map(len, self.needed.values())), told)


def truncate_until(
    turns: tuple[Turn, ...],
    may_change: Sequence[int],
    *,
    tokens: int,
    room: int,
    build: Callable[[tuple[Turn, ...]], T],
    count: Callable[[str], int],
    clean: Clean,
    ledger: FactLedger | None = None,
    cleared: frozenset[int] = frozenset(),
    requests: Collection[int] = (),
    brief: bool = False,
) -> Truncated[T] | None:
    """Cut long results, each no more than needed; None where that is not enough.

    Args:
        turns: all turns of the row.
        may_change: which of them may be cut, in this order.
        tokens: of the row.
        room: tokens that it may have.
        build: makes the row of such turns.
        count: counts the tokens of a text; of the same ones again, as each try begins with these.
        clean: takes secrets out of what marks and lines tell.
        ledger: the facts of the row before turns of it were cleared, where that was read already.
        cleared: these turns; where there is no such ledger they are as they were.
        requests: those that may be cut although they are a person's.
        brief: whether results may be cut to less than else where nothing else is enough.
    """
    if ledger is None:
        ledger, cleared = FactLedger(turns, also=requests), frozenset()
    may_lose = [i for i in may_change if turns[i].answers or turns[i].example or i in requests]
    if sum(count(turns[i].text) for i in may_lose) < tokens - room:  # nor would it fit without all of these
        return None
    told = ledger.needed(cleared.union(may_lose))

    @cache
    def keep(index: int) -> Wanted:
        return ledger.wanted(index, told.get(index, ()))

    lines = cache(lambda: all_lines(ledger, told, clean))
    cutter = _Cutter(turns, may_change, requests, ledger, cleared, count, build, room, lines, clean)

    def fitting(*ways: _Way) -> Truncated[T] | None:
        return next((each for each in cutter.tries(tokens - room, ways) if each.built.tokens <= room), None)

    whole = fitting(_Way(naming=True, staying=keep), _Way(naming=False, staying=keep))
    if whole or not any(map(keep, may_lose)):
        return whole
    bare = fitting(_Way(naming=False, staying=None))
    # A little of what is used says more than the ends of all.
    return (fitting(_Way(naming=False, staying=keep, floor=BRIEF_CHARS)) if bare or brief else None) or bare


class _Way(NamedTuple):
    """Whether marks name what goes, what stays, and to how many characters a result may be cut."""

    naming: bool
    staying: Keep | None
    floor: int = LEAST_CHARS


class _Cutter(Struct, Generic[T], frozen=True):
    """Cuts the turns of a row; the fields are arguments of :func:`truncate_until`."""

    turns: tuple[Turn, ...]
    may_change: Sequence[int]
    requests: Collection[int]
    ledger: FactLedger
    cleared: frozenset[int]
    count: Callable[[str], int]
    build: Callable[[tuple[Turn, ...]], T]
    room: int
    lines: Callable[[], ResultLines]
    clean: Clean

    def tries(self, excess: int, ways: Iterable[_Way]) -> Iterator[Truncated[T]]:
        """Yield what is tried, in each way with more and more that goes."""
        last: Truncated[T] | None = None
        for way in ways:
            if last and last.turns is last.cut:  # nothing was named that could be left out
                continue
            tokens = excess
            for _ in range(_TRIES):
                cut = self._cut(tokens, way)
                changed = frozenset(index for index, turn in enumerate(cut) if turn is not self.turns[index])
                if not changed:  # by what stays of each; without that it may be
                    break
                needed = self._needed(changed)
                named = name_in_marks(cut, self.turns, needed, self.clean) if way.naming else cut
                built = last.built if last and last.turns == named else self.build(named)
                last = Truncated(named, changed, built, cut, needed)
                yield last
                tokens += built.tokens - self.room
                if cut == self._cut(_ALL, way):
                    break

    def _cut(self, tokens: int, way: _Way) -> tuple[Turn, ...]:
        return elide_results(
            self.turns,
            self.may_change,
            tokens,
            self.count,
            way.staying,
            requests=self.requests,
            floor=way.floor,
            lines=self.lines,
            clean=self.clean,
        )

    def _needed(self, changed: frozenset[int]) -> dict[int, list[str]]:
        """Return what later turns need of turns that are cut; what a cleared one told, too, if its line does not."""
        needed = self.ledger.needed(changed | self.cleared)
        for index in self.cleared & needed.keys():
            facts = needed.pop(index)
            told = facts_in(facts, self.turns[index].text)
            for fact in (fact for fact in facts if fact not in told):
                tellers = (each for each in sorted(changed, reverse=True) if facts_in([fact], self.turns[each].text))
                if (teller := next(tellers, None)) is not None:
                    needed.setdefault(teller, []).append(fact)
        return needed


def name_in_marks(
    cut: tuple[Turn, ...],
    whole: tuple[Turn, ...],
    needed: Mapping[int, Sequence[str]],
    clean: Clean,
) -> tuple[Turn, ...]:
    """Name what was cut out of a turn, and is needed later, in its mark; the same object where nothing is named."""
    after = list(cut)
    for index, facts in needed.items():
        if whole[index].example and demonstration_heading(whole[index].text):
            continue  # it is of another task: what it has in common with this one is chance
        # A secret that the mark names bare would not be known for one.
        text = readable(clean(whole[index].text))
        harmless = facts_in(facts, text)
        kept = facts_in(harmless, readable(cut[index].text))
        if missing := [fact for fact in harmless if fact not in kept]:
            is_result = whole[index].answers or whole[index].example
            name = _naming_once(in_few_words(missing, [text]), result_texts(whole[index]) if is_result else ())
            after[index] = map_results(cut[index], name) if is_result else map_request(cut[index], partial(name, 0))
    return tuple(after) if any(new is not old for new, old in zip(after, cut, strict=True)) else cut


def _naming_once(told: Mapping[str, str], wholes: Sequence[str]) -> Callable[[int, str], str]:
    waiting = [told]

    def rewrite(number: int, text: str) -> str:
        if not waiting:
            return text
        named = name_in_mark(text, waiting[0], wholes[number] if number < len(wholes) else "")
        if named != text:
            waiting.clear()
        return named

    return rewrite
