"""What is left of an observation that later calls quote: the lines that they quote, as they stand, between marks."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.compaction.text.cut import cut, name_in_mark, useful_chars
from trajcompress.facts import facts_in
from trajcompress.facts.parts import Wanted

_MOST_CHARS = 3_000
_ENDS = 120  # characters of its beginning and its end
_MOST_LEFT = 0.8  # of its length an excerpt may have


def excerpt(text: str, quoted: Wanted, needed: Sequence[str]) -> str:
    """Cut a text down to the blocks that are quoted, and name in a mark what else is needed.

    Returns:
        The text itself where little would go; nothing where it does not hold the blocks as they are quoted.
    """
    room = useful_chars(text, quoted, _MOST_CHARS)
    if not room:
        return ""
    shorter = cut(text, room + _ENDS, quoted)
    if len(shorter) > _MOST_LEFT * len(text):
        return text
    told = facts_in(needed, shorter)
    return name_in_mark(shorter, [fact for fact in needed if fact not in told])
