"""What is left of an observation that later calls quote: the lines that they quote, as they stand, between marks."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.middle import name_in_mark, useful_chars
from trajcompress.facts import facts_in
from trajcompress.facts.parts import Wanted

MOST_CHARS = 3_000
"""Of the blocks that stay, with the marks between them."""
BRIEF_CHARS = 2_000
"""Where room is short; longer ones are not worth the turns of the agent that go for them."""
ENDS = 120
"""Characters of a result's beginning and end that stay besides, where there is room."""

_MOST_LEFT = 0.8  # of its length an excerpt may have


def excerpt(text: str, quoted: Wanted, needed: Sequence[str], *, most: int = MOST_CHARS, ends: int = ENDS) -> str:
    """Cut a text down to the blocks that are quoted, and name in a mark what else is needed.

    Args:
        text: a result.
        quoted: blocks of it.
        needed: what else of it later turns use.
        most: characters of the blocks.
        ends: characters of its beginning and its end.

    Returns:
        The text itself where little would go; nothing where the blocks have no room.
    """
    room = useful_chars(text, quoted, most + 1)
    if not room or room > most:
        return ""
    shorter = cut(text, room + ends, quoted)
    if len(shorter) > _MOST_LEFT * len(text):
        return text
    told = facts_in(needed, shorter)
    return name_in_mark(shorter, [fact for fact in needed if fact not in told], text)
