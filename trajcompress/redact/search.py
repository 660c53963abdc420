"""The places of a text that may hold a secret, all found in one pass.

What is looked for is short and many: vendors' prefixes, the ends of telling names, ``://``, the words of a key block,
commands. An automaton over all of them reads each byte once, whatever their number.
"""

from __future__ import annotations

from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.redact.commands import COMMANDS
from trajcompress.redact.fields import NEXT
from trajcompress.redact.keys import ENDINGS
from trajcompress.redact.vendors import NEEDLES

Place = tuple[int, int]  # where it starts, where it ends


class Places(NamedTuple):
    """What was found, in order of the ends."""

    keys: list[Place]  # prefixes of vendors' keys
    names: list[Place]  # the ends of telling names that something is told of: what may stand next does
    urls: list[Place]  # ://
    blocks: list[Place]  # private keys
    commands: list[Place]  # names of commands that take a secret


# Most that looks like the end of a name is not: author, keyboard, tokens. What follows is searched for along with it.
_NAMES = [ending + bytes([after]) for ending in ENDINGS for after in NEXT]
_SOUGHT = (NEEDLES, _NAMES, (b"://",), (b"private key",), COMMANDS)  # as the fields of Places
_FIELDS = [field for field, needles in enumerate(_SOUGHT) for _ in needles]
_OF_NAMES = Places._fields.index("names")
_AUTOMATON = BytesAhoCorasick(
    [needle for needles in _SOUGHT for needle in needles], implementation=Implementation.DFA
)


def find_places(folded: bytes) -> Places | None:
    """Find the places of interest in a text, None where it has none.

    ``folded`` holds one ASCII byte for each character of the text, in lower case.
    """
    found = _AUTOMATON.find_matches_as_indexes(folded, overlapping=True)
    if not found:
        return None
    places = Places([], [], [], [], [])
    for needle, start, end in found:
        field = _FIELDS[needle]
        places[field].append((start, end - 1 if field == _OF_NAMES else end))
    return places
