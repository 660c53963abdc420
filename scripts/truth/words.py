"""Text as words: what is quoted where, tolerant of shortening and of other punctuation, strict about the words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # scripts without spaces: each sign is a word
WORD = re.compile(rf"[{WIDE}]|[^\W{WIDE}]+")
FILLER = {
    *("line", "lines", "chars", "characters", "more", "others", "times", "of", "and", "first", "last", "same"),
    *("total", "the", "a", "with", "in", "to", "at", "empty"),
}
"""Words of whoever writes a summary, and words that tell nothing."""
UNIT = re.compile(r"(\d) (s|ms|min|kb|mb|gb|px)(?:ec\w*)?\b")
CUT = re.compile(r"…|\.\.\.|\[…\]")
NOTED = re.compile(
    r"\(?\+\s*\d+ (?:more )?lines?\)?|(?<!\w)(?:[×x]|(?<!\d )[×x]\s)\d+\b|(?:…\s*)?\b\d+ more\b(?: \w+)?"
)
"""What a summary says of a quote and does not quote: how many more, how often."""


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return WORD.findall(UNIT.sub(r"\1\2", text.lower()))


def pairs(found: Sequence[str]) -> set[tuple[str, str]]:
    """Neighbouring words."""
    return set(pairwise(found))


def pieces(text: str) -> list[list[str]]:
    """What stands between cuts, as words; a word that a cut runs through is left out."""
    found: list[list[str]] = []
    parts = CUT.split(text)
    for number, part in enumerate(parts):
        here = words(part)
        if here and number and part[:1].strip() and WORD.match(part):
            here = here[1:]
        if here and number + 1 < len(parts) and part[-1:].strip() and WORD.match(part[-1:]):
            here = here[:-1]
        if here:
            found.append(here)
    return found


class Bag:
    """A text asked for words often."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)
        self.single = set(self.words)
        self.pairs = pairs(self.words)
        self._line = " " + " ".join(self.words) + " "

    def run(self, wanted: Sequence[str]) -> bool:
        """Whether these words stand in it one behind the other."""
        return f" {' '.join(wanted)} " in self._line

    def says(self, piece: Sequence[str], share: float = 0.85) -> bool:
        """Whether a piece of a quote is from it: short ones word by word, longer ones by most neighbours."""
        if len(piece) <= 3:  # noqa: PLR2004
            # a quote may end inside a long word
            return self.run(piece) or (len("".join(piece)) > 7 and f" {' '.join(piece)}" in self._line)  # noqa: PLR2004
        wanted = pairs(piece)
        return len(wanted & self.pairs) >= share * len(wanted)

    def holds(self, wanted: Iterable[str]) -> float:
        """Share of these words that it has, in whatever order."""
        asked = list(wanted)
        return sum(word in self.single for word in asked) / len(asked) if asked else 0.0


def quoted(text: str, bag: Bag, share: float = 0.85) -> bool:
    """Whether every piece of a shortened quote is from the text."""
    found = pieces(text)
    return bool(found) and all(bag.says(piece, share) for piece in found)


def first_line(text: str, limit: int = 200) -> str:
    """The first line with words, cut."""
    return next((line.strip()[:limit] for line in text.splitlines() if WORD.search(line)), text.strip()[:limit])
