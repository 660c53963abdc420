"""Turns without their secrets, for whoever summarises them.

Turns are cleaned whole, before anything is cut out of them: the name that tells a secret may stand in the part that
is cut. What one turn tells to be a secret is taken out of every other. What is a secret is then in no fact that a
summary must keep, either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.redact import Known, Redacted, redact_all, redact_turns
from trajcompress.transcript.trajectory import Region, Turn


class Cleaned(Struct, frozen=True):
    """Turns without secrets, and how many there were."""

    turns: tuple[Turn, ...]
    redactions: int


class CleanRow(Struct, frozen=True):
    """All turns of a row without secrets.

    ``turns`` are those ``of`` the row, each with marks for ``redactions`` of its secrets; ``known`` are these.
    """

    turns: tuple[Turn, ...]
    of: tuple[Turn, ...]
    redactions: tuple[int, ...]
    known: Known

    def cleaned(self, turns: Sequence[Turn], region: Region) -> Cleaned:
        """Some of the row's turns without secrets; those that were changed since are cleaned again."""
        places = range(region.start, region.end)
        if all(turns[index] is self.of[index] for index in places):
            return Cleaned(self.turns[region.start : region.end], sum(self.redactions[region.start : region.end]))
        return clean_turns(turns[region.start : region.end], self.known)


def clean_row(turns: Iterable[Turn], others: Iterable[str] = ()) -> CleanRow:
    """Find the secrets of a row, and put marks in their place in what its turns say and call.

    Args:
        turns: all turns of the row.
        others: more texts of the row, such as a system prompt in a column, whose secrets turns may hold.
    """
    turns = tuple(turns)
    redacted, known = redact_turns([*map(_texts, turns), list(others)])
    cleaned = list(_cleaned_each(turns, redacted)) if redacted else [(turn, 0) for turn in turns]  # as in most rows
    return CleanRow(tuple(turn for turn, _ in cleaned), turns, tuple(count for _, count in cleaned), known)


def clean_turns(turns: Iterable[Turn], known: Known) -> Cleaned:
    """Put marks in the place of the secrets in what the turns say and call; their messages stay as they are."""
    turns = tuple(turns)
    redacted = redact_all([*chain.from_iterable(map(_texts, turns))], known)
    if not redacted:
        return Cleaned(turns, 0)
    cleaned = list(_cleaned_each(turns, redacted))
    return Cleaned(tuple(turn for turn, _ in cleaned), sum(count for _, count in cleaned))


def _texts(turn: Turn) -> list[str]:
    return [turn.text, turn.reasoning, *(call.arguments for call in turn.calls)]


def _cleaned_each(turns: Iterable[Turn], redacted: Mapping[int, Redacted]) -> Iterator[tuple[Turn, int]]:
    """Each turn without its secrets, and how many there were; ``redacted`` has texts by their positions."""
    at = 0
    for turn in turns:
        texts = _texts(turn)
        found = [redacted.get(at + index) for index in range(len(texts))]
        at += len(texts)
        if any(found):
            clean = [there.text if there else text for text, there in zip(texts, found, strict=True)]
            calls = tuple(replace(call, arguments=new) for call, new in zip(turn.calls, clean[2:], strict=True))
            turn = replace(turn, text=clean[0], reasoning=clean[1], calls=calls)  # noqa: PLW2901
        said = found[:2] if turn.in_text else found  # what stands in its text is counted there
        yield turn, sum(there.count for there in said if there)
