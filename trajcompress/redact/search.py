"""The places of a text that may hold a secret, all found in one pass.

What is looked for is short and many: vendors' prefixes, the ends of telling names, ``://``, the words of a key block,
commands, control sequences. An automaton over all of them reads each byte once, whatever their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.redact.context import ASKS, FIELDS
from trajcompress.redact.rules.calls import CALLS
from trajcompress.redact.rules.commands import COMMANDS
from trajcompress.redact.rules.cracked import CRACKERS
from trajcompress.redact.rules.fields import NAMED
from trajcompress.redact.rules.hashes import HASHES
from trajcompress.redact.rules.prompted import SENDS
from trajcompress.redact.rules.queries import QUERIES
from trajcompress.redact.rules.records import RECORDS
from trajcompress.redact.rules.spoken import SPOKEN
from trajcompress.redact.rules.stores import ASKS_STORES, STORES
from trajcompress.redact.rules.tables import HEADERS
from trajcompress.redact.rules.vendors import NEEDLES
from trajcompress.redact.veils import VEILS

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
    crackers: list[Place]  # programs that crack passwords
    stores: list[Place]  # of secrets, that are so by their place
    sends: list[Place]  # what types behind a prompt
    spoken: list[Place]  # names of secrets in words, in any language
    asks: list[Place]  # what may ask for a secret
    fields: list[Place]  # what may name a field for one
    queries: list[Place]  # what may name the columns of rows without a header
    asks_stores: list[Place]  # what may ask one for all that it holds
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
    CRACKERS,
    STORES,
    SENDS,
    SPOKEN,
    ASKS,
    FIELDS,
    QUERIES,
    ASKS_STORES,
    VEILS,
)  # as the fields of Places
_OF_NAMES = Places._fields.index("names")
_CONTINUATIONS = bytes(range(0x80, 0xC0))  # of a character of several bytes in UTF-8


_FIELDS = [field for field, needles in enumerate(_SOUGHT) for _ in needles]
_AUTOMATON = BytesAhoCorasick(
    [needle for needles in _SOUGHT for needle in needles], implementation=Implementation.DFA
)


def no_places() -> Places:
    """Nothing found, to begin with."""
    return Places._make([[] for _ in Places._fields])


def find_places(text: str) -> Places | None:
    """Find the places of interest in a text, None where it has none."""
    encoded = text.encode("utf-8", "surrogatepass").lower()
    found = _AUTOMATON.find_matches_as_indexes(encoded, overlapping=True)
    if not found:
        return None
    places = no_places()
    for needle, start, end in found if len(encoded) == len(text) else _in_characters(encoded, found):
        field = _FIELDS[needle]
        places[field].append((start, end - 1 if field == _OF_NAMES else end))
    return places


def _in_characters(encoded: bytes, found: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Matches, in order of their ends, counted in characters instead of bytes of UTF-8."""
    at = characters = 0
    for needle, start, end in found:
        characters += _characters(encoded[at:end])
        at = end
        yield needle, characters - _characters(encoded[start:end]), characters


def _characters(encoded: bytes) -> int:
    return len(encoded.translate(None, _CONTINUATIONS))
