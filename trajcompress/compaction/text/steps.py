"""Pruning the middle of a trajectory, step by step, so that a caller may stop as soon as the row fits.

What costs the least to lose goes first: results that a later call gave again, then the text of old results, then what
their lines tell besides what is needed, then long strings in the arguments of calls, each from the oldest turn to the
newest, but for short results, which come last. No turn goes, and nobody's words do. What is needed later is named in
the line, and arguments that hold such a thing, or a secret, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, TypeAlias

from msgspec import Struct

from trajcompress.compaction.text.arguments import shrink_arguments
from trajcompress.compaction.text.elide import SHORT_CHARS
from trajcompress.compaction.text.excerpt import BRIEF_CHARS, ENDS, MOST_CHARS, excerpt
from trajcompress.compaction.text.line import (
    LINE_CHARS,
    Clean,
    Length,
    is_line,
    result_line,
    without_secrets,
)
from trajcompress.facts import facts_in
from trajcompress.facts.ledger import FactLedger
from trajcompress.facts.next_turns import NOTHING_LATER, LaterReader
from trajcompress.facts.parts import Wanted
from trajcompress.facts.reading import readable
from trajcompress.formats.rewrite import map_arguments, map_results, result_texts
from trajcompress.redact import redact
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.furniture import Repeated
from trajcompress.summarize.extractive.steps import action_of, usual_in
from trajcompress.transcript.tool_groups import Place, match_results
from trajcompress.transcript.trajectory import Region, Turn

LONG_CHARS = LINE_CHARS + 20
"""Results up to this length stay: a line says little less, and what is a line already is never pruned again."""

_MOST_LEFT = 0.8  # of its length a line may have: for less than that a result is not given up

Kind: TypeAlias = Literal["repeated_result", "old_result", "brief_line", "brief_excerpt", "arguments"]

Needed: TypeAlias = Callable[[int, Kind], Sequence[str]]
"""What is needed later of a turn, for a kind of step."""


class Step(Struct, frozen=True):
    """One turn made shorter. ``turn`` holds what earlier steps did to the same turn."""

    index: int
    turn: Turn
    kind: Kind


class Pruned(Struct, frozen=True):
    """As many turns as before, and which of them changed, each with what was done to it last."""

    turns: tuple[Turn, ...]
    changed: dict[int, Kind]


def prune(turns: Sequence[Turn], steps: Iterable[Step]) -> Pruned:
    """Take steps."""
    after = list(turns)
    changed: dict[int, Kind] = {}
    for step in steps:
        after[step.index] = step.turn
        changed[step.index] = step.kind
    return Pruned(tuple(after), changed)


def _nothing(_index: int, _kind: Kind) -> Sequence[str]:
    return ()


def _nothing_taken(_index: int) -> Wanted:
    return NOTHING_LATER


def prune_steps(
    turns: Sequence[Turn],
    middle: Region,
    needed: Needed = _nothing,
    *,
    spared: Collection[int] = (),
    arguments: bool = True,
    cut: Sequence[Turn] | None = None,
    pruned: Sequence[Turn] | None = None,
    clean: Clean = without_secrets,
    ledger: FactLedger | None = None,
    length: Length = "brief",
) -> Iterator[Step]:
    """Yield every step that makes a turn of the middle shorter, to be taken in this order up to any one of them.

    Args:
        turns: all turns of the row: a result may be given again by a protected turn.
        middle: the turns that are not protected.
        needed: says what of a turn must still be told after a step.
        spared: turns of the middle that stay as they are.
        arguments: whether long arguments are made shorter as well.
        cut: the turns as they are now, where long results were cut: lines are made of the whole ones.
        pruned: what earlier steps made of the turns; given these, lines of results are made shorter, and that is all.
        clean: takes secrets out of what lines tell.
        ledger: knows what later turns take from a turn, and which blocks of lines of it later calls quote, which stay
            as they are; where it is not given, lines tell no more than what is needed and what the next turns name.
        length: how long a line may be that is made shorter.
    """

    def whole(index: int) -> Turn:
        return turns[index] if cut and now[index] is cut[index] else now[index]

    results = _Results(turns, middle, needed, clean, ledger)
    quoted = results.quoted
    now = list(pruned or cut or turns)
    passes: Sequence[tuple[Kind, Callable[[int], Turn]]] = (
        ("repeated_result", results.without_repeated),
        ("old_result", lambda index: map_results(whole(index), partial(results.line, index))),
        ("arguments", lambda index: map_arguments(now[index], shrink_arguments)),
    )
    if pruned:
        passes = [
            ("brief_line", lambda index: now[index] if quoted(index) else results.shorter(index, now[index], length)),
            (
                "brief_excerpt",
                lambda index: results.shorter(index, now[index], length) if quoted(index) else now[index],
            ),
        ]
    elif not arguments:
        passes = passes[:-1]
    may_change = [index for index in range(middle.start, middle.end) if index not in spared]
    may_change.sort(key=lambda index: bool(turns[index].answers) and len(turns[index].text) <= SHORT_CHARS)
    for kind, shorten in passes:
        for index in may_change:
            turn = shorten(index)
            if turn is now[index] or (cut and len(turn.text) >= len(now[index].text)):
                continue
            if kind == "arguments" and not _may_lose(now[index], turn, needed(index, kind)):
                continue
            now[index] = turn
            yield Step(index, turn, kind)


def _may_lose(before: Turn, after: Turn, needed: Sequence[str]) -> bool:
    """Whether arguments may be cut: with half of a secret gone nobody may know the other half for one."""
    whole, short = ("\n".join(call.arguments for call in turn.calls) for turn in (before, after))
    return facts_in(needed, whole) == facts_in(needed, short) and not redact(whole).count


def _ran(turns: Sequence[Turn], calls: Mapping[Place, Place], result: Place) -> Hashable:
    """Return what a result came of; the result itself where that is not known."""
    call = calls.get(result)
    if call is None:
        return result
    turn = turns[call[0]]
    return (turn.calls[call[1]].name, turn.calls[call[1]].arguments) if turn.calls else turn.text


class _Results:
    """The results of a row: the call that each answers, and where each text stands last."""

    def __init__(
        self,
        turns: Sequence[Turn],
        middle: Region,
        needed: Needed,
        clean: Clean,
        ledger: FactLedger | None,
    ) -> None:
        self._clean = clean
        self.quoted = ledger.quoted if ledger else _nothing_taken
        self._taken = ledger.taken if ledger else _nothing_taken
        self._turns = turns
        self._later = ledger.later if ledger else LaterReader(turns)
        self._needed = needed
        self._calls = calls = {
            match.result: match.call
            for match in match_results(turns)
            if match.call and (turns[match.call[0]].calls or match.by == "name")
        }
        self._usual = usual_in(turns)
        places = {index: result_texts(turns[index]) for index in range(middle.start, len(turns))}
        self._newest = {text: (index, number) for index, texts in places.items() for number, text in enumerate(texts)}
        # It reads none before it is asked, so what it reads from must not hold it: a row would stay until cycles are
        # looked for, which is seldom.
        self._repeated = Repeated((_ran(turns, calls, place), text) for text, place in self._newest.items())
        last = {index for index, _ in self._newest.values()}
        self._repeats = {index for index, texts in places.items() if texts and (index not in last or len(texts) > 1)}

    def without_repeated(self, index: int) -> Turn:
        """Return a turn with lines for those of its results that a later one repeats."""
        turn = self._turns[index]
        return map_results(turn, partial(self._once, index)) if index in self._repeats else turn

    def _once(self, index: int, number: int, text: str) -> str:
        """Return the text, or a line where a later result is the same; that one may be cleared, too."""
        return text if self._newest[text] == (index, number) else self.line(index, number, text)

    def shorter(self, index: int, now: Turn, length: Length) -> Turn:
        """Return a turn with shorter lines, where what it is now has longer ones."""
        if length == "brief" and not self._taken(index) and not self.quoted(index):  # its lines are as brief already
            return now
        turn = map_results(self._turns[index], partial(self.line, index, length=length))
        return turn if len(turn.text) < len(now.text) else now

    def line(self, index: int, number: int, text: str, *, length: Length = "full") -> str:
        """Return the text, or a line where that is shorter."""
        if len(text) <= LONG_CHARS or is_line(text):
            return text
        place = index, number
        clean = self._clean(text)  # a secret that the line names bare would not be known for one
        needed = facts_in(self._needed(index, "old_result"), readable(clean))
        if quoted := self.quoted(index):
            most, ends = (MOST_CHARS, ENDS) if length == "full" else (BRIEF_CHARS, 0)
            if cut := excerpt(text, quoted, needed, most=most, ends=ends):
                return cut
        line = result_line(
            clean,
            self._turns[index].name,
            self._action(place),
            needed,
            self._clean,
            repeated=self._repeated,
            later=self._later.after(index),
            taken=self._taken(index),
            length=length,
        )
        return line if len(line) <= _MOST_LEFT * len(text) else text

    def _action(self, place: Place) -> Action | None:
        call = self._calls.get(place)
        return action_of(self._turns[call[0]], call[1], self._usual) if call else None
