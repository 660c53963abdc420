"""The state of one trajectory on its way down the ladder: its turns, their sizes, and what was done to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from msgspec import structs

from trajcompress.compaction.previous_summary import PreviousSummary
from trajcompress.compaction.region import Layout
from trajcompress.compaction.text.result_lines import ResultLines
from trajcompress.events import Emit, nobody
from trajcompress.facts.count import NO_FACTS, FactCount
from trajcompress.facts.ledger import FactLedger
from trajcompress.formats.media import MARKS
from trajcompress.redact import HOLDS_NONE, Clean, without_secrets
from trajcompress.redact.turns import CleanRow
from trajcompress.tokens.counter import Count, Known, TokenCounter
from trajcompress.transcript.trajectory import Region, Trajectory, Turn

Placed: TypeAlias = Literal["human", "fold"]
"""How a summary stands in a row: as a turn of its own, or in another's."""

_FAR_LONGER = 4
_FAR_OVER = 1.1
_AROUND_TURN = 6  # tokens that a template puts around a turn


@dataclass(frozen=True, slots=True)
class Splice:
    """A summary in the place of a region.

    ``region`` are positions in the state's turns, ``turns`` all turns of the row with the summary in it. ``answer``
    is what the summariser wrote, ``missing`` the facts needed that it left out, ``notes`` the words that
    each of these stands in, ``summary`` what stands in the row, with those of them that were added, and ``lost`` the
    others; ``needed`` are all of them. ``redactions`` are secrets taken out of the answer. ``count`` is that of
    the row with the summary. ``in_loss``: a trainer learns to write the summary.
    """

    region: Region
    turns: tuple[Turn, ...]
    placed: Placed
    answer: str
    summary: str
    summarizer: str
    needed: tuple[str, ...]
    missing: tuple[str, ...]
    lost: tuple[str, ...]
    notes: tuple[str, ...]
    summary_tokens: int
    redactions: int
    facts: FactCount
    count: Count = field(repr=False)
    in_loss: bool = False

    @property
    def tokens(self) -> int:
        """Tokens of the row with the summary."""
        return self.count.tokens


@dataclass(frozen=True, slots=True)
class State:
    """A trajectory over its budget, as far as strategies have brought it. Sizes are tokens.

    ``turns`` are those of the ``original`` without the summary of a ``previous`` run, of ``previous_tokens``; each
    has its place in ``sizes``, and ``layout`` says where they may be cut. ``thinned`` (without their bulk),
    ``cut_first`` (giants, before others were cleared, and requests that lost their examples), ``cleared`` and
    ``truncated`` are positions of turns that were changed; ``lines`` makes shorter lines of cleared ones, where there
    are any. ``count`` is that of the whole row as it would be written now. ``before`` is the state that this one was
    made of, ``reason`` why the row is as it is. ``clean`` has the turns as they were read without secrets, where
    these are taken out. ``row_id`` names the row, ``emit`` is the sink of its events.
    """

    original: Trajectory
    counter: TokenCounter = field(repr=False)
    turns: tuple[Turn, ...]
    count: Count
    sizes: tuple[int, ...]
    layout: Layout
    previous: PreviousSummary | None = None
    previous_tokens: int = 0
    clean: CleanRow | None = field(default=None, repr=False)
    thinned: frozenset[int] = frozenset()
    cut_first: frozenset[int] = frozenset()
    cleared: frozenset[int] = frozenset()
    ledger: FactLedger | None = field(default=None, repr=False)
    lines: ResultLines | None = field(default=None, repr=False)
    truncated: frozenset[int] = frozenset()
    truncated_facts: FactCount = NO_FACTS
    splice: Splice | None = None
    reason: str | None = None
    before: State | None = field(default=None, repr=False)
    row_id: str = ""
    emit: Emit = field(default=nobody, repr=False)

    @property
    def tokens(self) -> int:
        """Tokens of the row as it would be written."""
        return self.count.tokens

    @property
    def known(self) -> Known:
        """Texts of the row that were counted."""
        return self.count.known

    @property
    def assistant_tokens(self) -> int:
        """Tokens of the assistant's turns, whether a summary stands in their place or not."""
        sizes = zip(self.sizes, self.turns, strict=True)
        return sum(size for size, turn in sizes if turn.role == "assistant")

    @property
    def takes_secrets_out(self) -> Clean:
        """What takes the secrets out of a text of this row; it does nothing where the row is known to hold none."""
        has_none = self.clean is not None and not any(self.clean.redactions)
        return HOLDS_NONE if has_none else without_secrets

    @property
    def as_read(self) -> tuple[Turn, ...]:
        """The turns before anything was done to them: what summaries are to tell."""
        return self.first.turns

    @property
    def first(self) -> State:
        """The state in which the row was measured."""
        return [*self.history()][-1]

    @property
    def whole(self) -> State:
        """The state before observations were cleared or truncated, without their bulk."""
        return next(each for each in self.history() if not each.cleared and not each.truncated)

    @property
    def uncleared(self) -> State:
        """The state before observations were cleared; giants may be truncated in it."""
        return next(each for each in self.history() if not each.cleared)

    @property
    def unspliced(self) -> State:
        """The state before a summary came into it; itself where it has none."""
        return next(each for each in self.history() if each.splice is None)

    @property
    def written(self) -> tuple[Turn, ...]:
        """All turns of the row as it would be written."""
        return self.splice.turns if self.splice else self.with_previous(self.turns)

    @property
    def replaced(self) -> Region | None:
        """The turns of the row as read that a summary stands for; None where there is none."""
        if self.splice is None:
            return None
        return self.previous.in_row(self.splice.region) if self.previous else self.splice.region

    @property
    def control_marks(self) -> tuple[str, ...]:
        """What no summary may hold: special tokens, and marks of images where the row has any."""
        marks = MARKS if any(turn.media for turn in self.original.turns) else ()
        return (*self.counter.special_tokens, *marks)

    @property
    def places(self) -> Sequence[int | None]:
        """Where each turn of the row as it would be written stands in the row as read; None for a new summary."""
        read, replaced = len(self.original.turns), self.replaced
        if replaced is None:
            return range(read)
        made = len(self.written) - (read - len(replaced))
        return [*range(replaced.start), *([None] * max(made, 0)), *range(replaced.end + min(made, 0), read)]

    @property
    def shared_turn(self) -> int | None:
        """The turn that a previous summary shares: it must stay as it is. None where there is none."""
        return self.previous.index if self.previous is not None and not self.previous.own_turn else None

    def with_previous(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Put a previous summary back to where it stood in the row."""
        previous = self.previous
        if previous is None:
            return tuple(turns)
        index = previous.index
        return (*turns[:index], self.original.turns[index], *turns[index + (not previous.own_turn) :])

    def count_text(self, text: str) -> int:
        """Count a text that the row has or may have; each is counted once."""
        return self.counter.count_texts([text], self.known)[0]

    def count_row(self, turns: tuple[Turn, ...], known: Known | None = None) -> Count:
        """Count a row of such turns as a trainer sees it; ``known`` are texts that were counted, else the state's."""
        return self.counter.count(structs.replace(self.original, turns=turns), self.known if known is None else known)

    def estimate(self, turns: Sequence[Turn]) -> State:
        """Return the state with other turns in the place of its own, of which only those that changed are counted.

        The tokens of the whole are those of before less what went, so rather an estimate with a chat template.
        """
        changed = [index for index, turn in enumerate(turns) if turn is not self.turns[index]]
        if not changed:
            return self
        sizes = list(self.sizes)
        new = self.counter.count_turns([turns[index] for index in changed], self.known)
        similar = [i for i in changed if len(self.turns[i].text) < _FAR_LONGER * len(turns[i].text)]
        old = dict(zip(similar, self.counter.count_turns([self.turns[i] for i in similar], self.known), strict=True))
        for index, tokens in zip(changed, new, strict=True):
            size = sizes[index]
            # The template may leave out what was cut; of what is far shorter it matters little what it adds.
            sizes[index] = max(0, size + tokens - old.get(index, max(size - _AROUND_TURN, tokens)))
        fewer = sum(self.sizes[index] - sizes[index] for index in changed)
        count = replace(self.count, tokens=self.tokens - fewer, by_turn=None, as_it_is=False)
        return replace(self, count=count, sizes=tuple(sizes), turns=tuple(turns), before=self)

    def with_turns(self, turns: tuple[Turn, ...], count: Count | None = None, target: int | None = None) -> State:
        """Return the state with other turns in the place of its own, as many, counted as a trainer sees them.

        Where the estimate is far over the ``target`` that stands: it will get shorter, and is counted then.
        Of a state with a summary that is :attr:`unspliced`: its summary goes, as it may tell of other turns.
        """
        if self.splice is not None:
            return self.unspliced.with_turns(turns, count, target)
        estimated = self.estimate(turns)
        if count is None and target is not None and estimated.tokens > _FAR_OVER * target:
            return estimated
        count = count or self.count_row(self.with_previous(turns), estimated.known)
        return replace(estimated, count=count, before=self)

    def history(self) -> Iterator[State]:
        """Yield the state, and those that it was made of, the last first."""
        state: State | None = self
        while state is not None:
            yield state
            state = state.before

    def with_splice(self, splice: Splice) -> State:
        """Return the state with a summary in the place of a region."""
        return replace(self, splice=splice, count=splice.count, before=self)
