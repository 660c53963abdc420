"""What is secret anywhere in a row: told by name or shape in one of its texts, or by what was said before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain

from trajcompress.redact.context import asked_for, continued_keys, typed_into
from trajcompress.redact.known import NONE_KNOWN, Known, Line
from trajcompress.redact.rules.cracked import cracked_later
from trajcompress.redact.rules.halves import keys_in_pieces, may_end_amid_a_key
from trajcompress.redact.rules.queries import queried
from trajcompress.redact.rules.sessions import exchanges
from trajcompress.redact.rules.stores import stored_later
from trajcompress.redact.search import Places, find_places, no_places
from trajcompress.redact.spans import MARK, MARK_START
from trajcompress.redact.text import Redacted, find_all, judge

# What finds secrets that only another turn gives away, and the fields of Places whose turns it is told.
_VALUES = (
    (asked_for, ("asks", "names", "spoken")),
    (typed_into, ("fields", "spoken")),
    (continued_keys, ("blocks",)),
    (keys_in_pieces, ("keys",)),
)
_LINES = ((queried, "queries"), (cracked_later, "crackers"), (stored_later, "asks_stores"))


def redact_turns(
    turns: Sequence[Sequence[str]], more: Iterable[tuple[str, str]] = ()
) -> tuple[dict[int, Redacted], Known]:
    """Redact all texts of a row: the positions, turn after turn, of those that hold a secret; and what is known now.

    Args:
        turns: the texts of each turn.
        more: what is known besides, with its kind.
    """
    texts = list(chain.from_iterable(turns))
    places = find_all(texts)
    redacted = {index: judge(texts[index], found) for index, found in places.items()}
    secrets = [secret for found in redacted.values() for secret in found.secrets]
    secrets += more
    told = {index: _outside_marks(texts[index], found) for index, found in places.items()}
    turn_of = [number for number, turn in enumerate(turns) for _ in turn]
    cut = {index: found for index, found in places.items() if may_end_amid_a_key(texts[index], found.keys)}
    of_values = [_turns_with(fields, cut if find is keys_in_pieces else told, turn_of) for find, fields in _VALUES]
    of_lines = [_turns_with((field,), told, turn_of) for _, field in _LINES]
    lines: list[Line] = []
    if any(of_values) or any(of_lines):
        said = _Said(_without_marks("\n".join(turn)) for turn in turns)
        for (find, _), places_of in zip(_VALUES, of_values, strict=True):
            secrets += find(said.texts, said.of_turns(places_of))
        for (find_lines, _), places_of in zip(_LINES, of_lines, strict=True):
            lines += find_lines(said.texts, said.of_turns(places_of))
    known = Known(secrets, lines) if secrets or lines else NONE_KNOWN
    if known:
        redacted = {index: judge(text, places.get(index), known) for index, text in enumerate(texts)}
    return {index: found for index, found in redacted.items() if found.count}, known


class _Said:
    """What turns say, one exchange after another: a turn may hold several."""

    def __init__(self, turns: Iterable[str]) -> None:
        parts = [[*exchanges(turn)] for turn in turns]
        self.texts = list(chain.from_iterable(parts))
        self._starts = [0, *accumulate(map(len, parts))]

    def of_turns(self, turns: Iterable[int]) -> list[int]:
        """The positions of what these turns say."""
        return [at for turn in turns for at in range(self._starts[turn], self._starts[turn + 1])]


def _turns_with(fields: Iterable[str], told: Mapping[int, Places], turn_of: Sequence[int]) -> list[int]:
    """The turns in which something was found for one of the fields."""
    return sorted({turn_of[index] for index, found in told.items() if any(getattr(found, name) for name in fields)})


def _outside_marks(text: str, places: Places) -> Places:
    """What was found in a text, or what would be without its marks, whose kinds are names of secrets."""
    return (find_places(_without_marks(text)) or no_places()) if MARK_START in text else places


def _without_marks(text: str) -> str:
    """A text in which no mark asks for anything, though it names a kind of secret."""
    return MARK.sub("x", text) if MARK_START in text else text
