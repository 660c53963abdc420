"""The places of a text that may hold a secret, all found in one pass.

What is looked for is short and many: vendors' prefixes, the ends of telling names, ``://``, the words of a key block.
An automaton over all of them reads each byte once, whatever their number.
"""

from __future__ import annotations

from typing import NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from trajcompress.redact.keys import ENDINGS
from trajcompress.redact.vendors import NEEDLES

Place = tuple[int, int]  # where it starts, where it ends


class Places(NamedTuple):
    """What was found, in order of the ends."""

    keys: list[Place]  # prefixes of vendors' keys
    names: list[Place]  # the ends of telling names
    urls: list[Place]  # ://
    blocks: list[Place]  # private keys


_SOUGHT = (NEEDLES, ENDINGS, (b"://",), (b"private key",))  # as the fields of Places
_FIELDS = [field for field, needles in enumerate(_SOUGHT) for _ in needles]
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
    places = Places([], [], [], [])
    for needle, start, end in found:
        places[_FIELDS[needle]].append((start, end))
    return places
