"""What is left of an observation that later calls quote: the lines that they quote, as they stand, between marks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from trajcompress.compaction.text.cut import cut
from trajcompress.compaction.text.middle import MARK_CHARS, name_in_mark, useful_chars
from trajcompress.facts import facts_in, in_few_words
from trajcompress.facts.parts import Wanted
from trajcompress.facts.reading import readable
from trajcompress.redact import Clean, without_secrets

MOST_CHARS = 3_000
"""Of the blocks that stay, with the marks between them."""
BRIEF_CHARS = 2_000
"""Where room is short; longer ones are not worth the turns of the agent that go for them."""
ENDS = 120
"""Characters of a result's beginning and end that stay besides, where there is room."""

_FIRST_SHARE = 0.85  # of the room, as blocks are whole lines and more
_MOST_LEFT = 0.8  # of its length an excerpt may have


def excerpt(
    text: str,
    quoted: Wanted,
    needed: Sequence[str],
    clean: Clean = without_secrets,
    *,
    most: int = MOST_CHARS,
    ends: int = ENDS,
) -> str:
    """Cut a text down to the blocks that are quoted, and name in a mark what else is needed.

    Args:
        text: a result.
        quoted: blocks of it.
        needed: what else of it later turns use.
        clean: takes secrets out of a text.
        most: characters of the blocks.
        ends: characters of its beginning and its end.

    Returns:
        The text itself where little would go; nothing where the blocks have no room. Where not all have it, those go
        that are quoted last: until then other results show them.
    """
    room = useful_chars(text, quoted, most + 1)
    if room > most:
        quoted = _first(quoted, most)
        room = useful_chars(text, quoted, most + 1)
    if not room or room > most:
        return ""
    shorter = cut(text, room + ends, quoted, clean)
    if len(shorter) > _MOST_LEFT * len(text):
        return text
    told = facts_in(needed, shorter)
    missing = [fact for fact in needed if fact not in told]
    return name_in_mark(shorter, in_few_words(missing, [readable(clean(text))]), text) if missing else shorter


def _first(quoted: Wanted, most: int) -> Wanted:
    """Return the blocks that are quoted first, as many as have room."""
    sizes = accumulate(len(block) + MARK_CHARS for block in quoted)
    return {block: quoted[block] for block, size in zip(quoted, sizes, strict=True) if size <= _FIRST_SHARE * most}
