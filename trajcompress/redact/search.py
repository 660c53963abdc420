"""The places of a text that may hold a secret, all found in one pass.

What is looked for is short and many: vendors' prefixes, the ends of telling names, ``://``, the words of a key block,
commands, control sequences. An automaton over all of them reads each byte once, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.redact.calls import CALLS
from trajcompress.redact.commands import COMMANDS
from trajcompress.redact.context import ASKS, FIELDS
from trajcompress.redact.fields import NAMED
from trajcompress.redact.hashes import HASHES
from trajcompress.redact.records import RECORDS
from trajcompress.redact.spoken import SPOKEN
from trajcompress.redact.tables import HEADERS
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
    hashes: list[Place]  # of passwords
    calls: list[Place]  # functions that take a secret
    headers: list[Place]  # of tables
    records: list[Place]  # lines whose fields are known by their place
    spoken: list[Place]  # names of secrets in words, in any language
    asks: list[Place]  # what may ask for a secret
    fields: list[Place]  # what may name a field for one
    veils: list[Place]  # control sequences and the like, that may hide any of the others


_SOUGHT = (
    NEEDLES,
    NAMED,
    (b"://",),
    (b"private key", b"private-lines:"),
    COMMANDS,
    HASHES,
    CALLS,
    HEADERS,
    RECORDS,
    SPOKEN,
    ASKS,
    FIELDS,
    VEILS,
)  # as the fields of Places
_OF_NAMES = Places._fields.index("names")
_CONTINUATIONS = bytes(range(0x80, 0xC0))  # of a character of several bytes in UTF-8


_NEEDLES = [(field, needle) for field, needles in enumerate(_SOUGHT) for needle in needles]
_NARROW = [(field, needle) for field, needle in _NEEDLES if needle.isascii()]
# Apart, as every byte more that needles are made of makes the search slower.
_WIDE = [(field, needle) for field, needle in _NEEDLES if not needle.isascii()]


def _automaton(needles: Iterable[bytes]) -> BytesAhoCorasick:
    return BytesAhoCorasick(list(needles), implementation=Implementation.DFA)


_FIELDS_OF_NARROW = [field for field, _ in _NARROW]
_OF_NARROW = _automaton(needle for _, needle in _NARROW)
_OF_WIDE = _automaton(needle for _, needle in _WIDE)
_ASCII = bytes(range(0x80))
_OF_RARE = _automaton({needle.translate(None, _ASCII) for _, needle in _WIDE})
"""What of a needle is not ASCII: most texts have little that is not, and are quickly looked through for that."""


def no_places() -> Places:
    """Nothing found, to begin with."""
    return Places(*([] for _ in Places._fields))


def find_places(text: str) -> Places | None:
    """Find the places of interest in a text, None where it has none."""
    found = _OF_NARROW.find_matches_as_indexes(text.encode("ascii", "replace").lower(), overlapping=True)
    wide = () if text.isascii() else _find_wide(text.encode("utf-8", "surrogatepass"))
    if not found and not wide:
        return None
    places = no_places()
    for needle, start, end in found:
        field = _FIELDS_OF_NARROW[needle]
        places[field].append((start, end - 1 if field == _OF_NAMES else end))
    for field, start, end in wide:
        places[field].append((start, end - 1 if field == _OF_NAMES else end))
    for field in {field for field, _, _ in wide}:
        places[field].sort(key=itemgetter(1))
    return places


def _find_wide(encoded: bytes) -> list[tuple[int, int, int]]:
    """Find what is not ASCII in a text in UTF-8: the fields, starts and ends, counted in characters."""
    if not _OF_RARE.find_matches_as_indexes(encoded.translate(None, _ASCII), overlapping=True):
        return []
    at = characters = 0
    matches = []
    for needle, start, end in _OF_WIDE.find_matches_as_indexes(encoded.lower(), overlapping=True):
        characters += _characters(encoded[at:end])
        at = end
        matches.append((_WIDE[needle][0], characters - _characters(encoded[start:end]), characters))
    return matches


def _characters(encoded: bytes) -> int:
    return len(encoded.translate(None, _CONTINUATIONS))
