"""The places of a text that may hold a secret, all found in one pass.

What is looked for is short and many: vendors' prefixes, the ends of telling names, ``://``, the words of a key block,
commands, control sequences. An automaton over all of them reads each byte once, whatever their number.
"""

from __future__ import annotations

from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.redact.commands import COMMANDS
from trajcompress.redact.context import ASKS, FIELDS
from trajcompress.redact.fields import NEXT
from trajcompress.redact.keys import ENDINGS
from trajcompress.redact.veils import VEILS
from trajcompress.redact.vendors import NEEDLES

Place = tuple[int, int]  # where it starts, where it ends


class Places(NamedTuple):
    """What was found, in order of the ends."""

    keys: list[Place]  # prefixes of vendors' keys
    names: list[Place]  # the ends of telling names that something is told of: what may stand next does
    urls: list[Place]  # ://
    blocks: list[Place]  # private keys
    commands: list[Place]  # names of commands that take a secret
    asks: list[Place]  # what may ask for a secret
    fields: list[Place]  # what may name a field for one
    veils: list[Place]  # control sequences and the like, that may hide any of the others


# Most that looks like the end of a name is not: author, keyboard, tokens. What follows is searched for along with it.
_NAMES = [ending + bytes([after]) for ending in ENDINGS for after in NEXT]
_SOUGHT = (NEEDLES, _NAMES, (b"://",), (b"private key",), COMMANDS, ASKS, FIELDS, VEILS)  # as the fields of Places
_FIELDS = [field for field, needles in enumerate(_SOUGHT) for _ in needles]
_LENGTHS = [len(needle.decode()) for needles in _SOUGHT for needle in needles]
_OF_NAMES = Places._fields.index("names")
_CONTINUATIONS = bytes(range(0x80, 0xC0))  # of a character of several bytes in UTF-8
_AUTOMATON = BytesAhoCorasick(
    [needle for needles in _SOUGHT for needle in needles], implementation=Implementation.DFA
)


def no_places() -> Places:
    """Nothing found, to begin with."""
    return Places([], [], [], [], [], [], [], [])


def find_places(text: str) -> Places | None:
    """Find the places of interest in a text, None where it has none."""
    lowered = text.encode("utf-8", "surrogatepass").lower()  # of ASCII alone, so that nothing moves
    found = _AUTOMATON.find_matches_as_indexes(lowered, overlapping=True)
    if not found:
        return None
    if len(lowered) != len(text):
        found = _in_characters(lowered, found)
    places = no_places()
    for needle, start, end in found:
        field = _FIELDS[needle]
        places[field].append((start, end - 1 if field == _OF_NAMES else end))
    return places


def _in_characters(encoded: bytes, found: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Matches by the characters that they begin and end at, given those by bytes, in order of the ends."""
    at = characters = 0
    matches = []
    for needle, _, end in found:
        characters += _characters(encoded[at:end])
        at = end
        matches.append((needle, characters - _LENGTHS[needle], characters))
    return matches


def _characters(encoded: bytes) -> int:
    return len(encoded if encoded.isascii() else encoded.translate(None, _CONTINUATIONS))
