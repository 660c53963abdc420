"""A vendor's key that is printed in pieces: ``cut -c1-20 t``, then ``cut -c21- t``.

A piece counts where all of them, one behind the other, are a key, and where it can be nothing else: the first ends
what was printed, and each of the others is the one value that begins what is printed next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.context import ANSWERS, bare_value, printed_by
from trajcompress.redact.known import is_telling
from trajcompress.redact.rules.vendors import BEGINS_A_KEY, kind_of_key

_TAIL = 300  # characters at the end of a result: a piece of a key, and what agents put behind what was printed
_LONGEST = 20_000
_LONGEST_REST = 2_000
_LONGEST_QUESTION = 4_000
_BEGIN = late_re(rf"(?:{BEGINS_A_KEY})\w")
_BEGUN = late_re(rf"(?:\A|[\s=:\"'])((?:{BEGINS_A_KEY})[\w.-]*)\s*\Z")
_READS_PIECES = late_re(
    r"\bcut\s+-[bc]|\b(?:head|tail)\s+(?:-c|--bytes)|\bdd\b[^\n]{0,200}?\b(?:skip|count)=|\$\{\w+:\s?\d|\[\d*:\d*\]|\bsubstr\("
)
_DIGEST = late_re(r"[0-9a-f]{40}|[0-9a-f]{64}")


def may_end_amid_a_key(text: str, places: Iterable[tuple[int, int]]) -> bool:
    """Whether what begins as a vendor's key does stands at the end of a text; ``places`` are those of prefixes."""
    return any(_BEGIN.match(text, start) is not None for start, _ in places if start >= len(text) - _TAIL)


def keys_in_pieces(texts: Sequence[str], places: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The pieces of keys, each with the kind of its key.

    Args:
        texts: what each turn says and calls.
        places: the turns that may end amid a key.
    """
    begin_of = cache(lambda place: _begin_of(texts[place]))  # several may go on there
    reads_pieces = cache(lambda place: _READS_PIECES.search(texts[place], 0, _LONGEST_QUESTION) is not None)
    for index in places:
        text = texts[index]
        printed = printed_by(text) if len(text) <= _LONGEST else ""
        begun = _BEGUN.search(printed, max(0, len(printed) - _TAIL))
        if begun is None or not is_telling(begun[1]):
            continue
        pieces = [begun[1]]
        is_one = kind_of_key(begun[1]) is not None
        for place in range(index + 1, min(index + 1 + 2 * ANSWERS, len(texts))):
            rest = begin_of(place)
            if rest is None or (is_one and not reads_pieces(place - 1)):
                continue
            pieces.append(rest)
            if kind := kind_of_key("".join(pieces)):
                yield from ((piece, kind) for piece in pieces)
                is_one = True


def _begin_of(text: str) -> str | None:
    """The value that what was printed begins with, None where that is none."""
    printed = printed_by(text) if len(text) <= _LONGEST_REST else ""
    value = bare_value(printed.lstrip().partition("\n")[0])
    return None if value is None or _DIGEST.fullmatch(value) else value
