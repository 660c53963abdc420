"""Making a row of one tool group fit: results lose their middle, or the head does, or requests; else all of these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from msgspec import structs

from trajcompress.compaction.segments.builder import Builder, Built, Span
from trajcompress.compaction.segments.cuts import Cut
from trajcompress.compaction.segments.segment import Over
from trajcompress.compaction.text import elide_results
from trajcompress.compaction.text.elide import BRIEF_CHARS
from trajcompress.compaction.text.truncate import Counted, truncate_until
from trajcompress.transcript.trajectory import Turn

_EVERYTHING = 10**12  # tokens; more than any row has

T = TypeVar("T", bound=Counted)


def fit_one_group(builder: Builder, whole: Built, room: int) -> Built:
    """Return a segment of one tool group that fits; where it cannot, as it was, and with the reason.

    Args:
        builder: built it.
        whole: the segment in full.
        room: tokens that it should rather have, so that what follows it has room; else it may have the whole target.
    """
    turns, span = whole.turns[: whole.span.cut.end], whole.span
    shortener = Shortener(builder, span, turns, range(span.start, span.cut.end), builder.build)
    for limit in dict.fromkeys((room, builder.policy.target_max_tokens)):
        if (fitting := shortener.within(limit)) is not None:
            return fitting
    return replace(whole, segment=replace(whole.segment, over=_why_over(builder, whole, shortener)))


@dataclass(frozen=True, slots=True)
class Shortener(Generic[T]):
    """Makes the row of a span shorter.

    ``turns`` are those of the input row, as far as they stand in this one or come before; those at ``places`` may be
    cut, in this order, if they are results, or requests with ``fit`` strict. ``build`` makes the row.
    """

    builder: Builder
    span: Span
    turns: tuple[Turn, ...]
    places: Sequence[int]
    build: Callable[[Span, tuple[Turn, ...]], T]

    @property
    def results(self) -> list[int]:
        """The places of results."""
        return [place for place in self.places if self.turns[place].answers]

    @property
    def requests(self) -> list[int]:
        """The places of requests that may be cut."""
        turns = self.turns
        asked = [place for place in self.places if turns[place].role == "user" and not turns[place].answers]
        return asked if self.builder.policy.fit == "strict" else []

    def within(self, room: int) -> T | None:
        """Return the row with the least cut that makes it fit, in full if it does; None where nothing is enough."""
        whole = self.build(self.span, self.turns)
        if whole.tokens <= room:
            return whole
        if (shorter := self._cut(self.span, whole, room, self.results)) is not None:
            return shorter
        span = structs.replace(self.span, excess=whole.tokens - room)
        beheaded = self.build(span, self.turns)
        if beheaded.tokens <= self.builder.policy.target_max_tokens:
            return beheaded
        both = [*self.results, *self.requests]
        if self.requests and (shorter := self._cut(self.span, whole, room, both)) is not None:
            return shorter
        return self._cut(span, beheaded, room, both, brief=True)

    def _cut(self, span: Span, whole: T, room: int, places: Sequence[int], *, brief: bool = False) -> T | None:
        requests, state = self.requests, self.builder.state
        done = truncate_until(
            self.turns,
            places,
            tokens=whole.tokens,
            room=room,
            build=partial(self.build, span),
            count=state.count_text,
            clean=state.takes_secrets_out,
            requests=[place for place in places if place in requests],
            brief=brief,
        )
        return done.built if done else None


def _why_over(builder: Builder, whole: Built, shortener: Shortener[Built]) -> Over:
    """Say what keeps a segment over with all else as short as it gets: one turn alone, or only the whole group."""
    state, span = builder.state, whole.span
    shortest = elide_results(
        shortener.turns,
        [*shortener.results, *shortener.requests],
        _EVERYTHING,
        state.count_text,
        requests=shortener.requests,
        floor=BRIEF_CHARS,
        clean=state.takes_secrets_out,
    )
    unquoted = span.begin and Cut(span.first, span.first)  # what was observed is of the group
    least = builder.build(structs.replace(span, begin=unquoted, excess=_EVERYTHING), shortest)
    stretch = least.turns[span.first : span.cut.end]
    sizes = state.counter.count_turns(stretch, state.known)
    longest = max((size for size, turn in zip(sizes, stretch, strict=True) if not turn.answers), default=0)
    return "single_turn" if least.tokens - sum(sizes) + longest > builder.policy.target_max_tokens else "tool_group"
