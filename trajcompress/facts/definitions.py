"""How code that results show defines what the agent names later: the line that tells the most of a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trajcompress.facts.parts import Wanted
from trajcompress.facts.taken import STRONG, telling_words
from trajcompress.processes.late_patterns import late_re

_KEYWORDS = "def ", "class ", "function ", "func ", "fn ", "struct ", "interface "
_NAME = late_re(r"\w{3,80}+(?=[^\w\n])")
_NAME_CHARS = 90
_MOST_DEFINED = 2_000  # in one result


def definitions(texts: Sequence[str], results: Sequence[bool], spoken: Sequence[str]) -> dict[int, Wanted]:
    """Return for each result how definitions begin of what the agent names after it, as ``def handle``.

    A name counts where the last result before it defines it.

    Args:
        texts: what the turns of a row say.
        results: whether each is a result.
        spoken: what the agent says in each, besides what it passes to tools.
    """
    waiting: set[str] = set()  # names that are said, and that no result in between defines
    found: dict[int, dict[str, float]] = {}
    for index in range(len(texts) - 1, -1, -1):
        if spoken[index]:
            waiting |= {word for word, weight in telling_words(spoken[index]) if weight >= STRONG}
        elif results[index] and waiting:
            for begins, name in _defined(texts[index]):
                if name in waiting:
                    waiting.discard(name)
                    found.setdefault(index, {})[begins] = STRONG
    return dict(found)


def _defined(text: str) -> Iterator[tuple[str, str]]:
    """Yield how definitions of a text begin, and what they name."""
    for keyword in _KEYWORDS:
        for rest in text.split(keyword, _MOST_DEFINED)[1:] if keyword in text else ():
            if name := _NAME.match(rest[:_NAME_CHARS]):
                yield f"{keyword}{name[0]}", name[0]
