"""Of the paragraphs of a page the sentences that tell most of what was asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trajcompress.outcomes.text import sentences
from trajcompress.processes.late_patterns import late_re

LONG_CHARS = 160
"""A longer line is a paragraph."""

_SENTENCE_SPACES, _MOST_SENTENCES = 6, 3
_ENDS = (".", "!", "…", "。", "！")
_QUESTION = ("?", "？")
_QUOTED = late_re(r"\bclicked '([^'\n]{2,200})'")
_BELOW, _LEAST_SPACES = 3, 4
_HEADING = late_re(r"#{1,6} \S")
_WORD = late_re(r"[^\W_]{4,40}")


def put_sentences(lines: list[str], asked: Collection[str], typed: Collection[str]) -> list[int]:
    """Put in the place of lines of a page the sentence that tells most of what was asked; return the best of them.

    ``typed`` are the words of what was done there, which a page may only repeat. A question is no answer.
    """
    about = set(asked) - set(typed)
    found: dict[int, int] = {}
    seen: set[str] = set()
    for place, line in enumerate(lines):
        spans = sentences(line) if line.count(" ") >= _SENTENCE_SPACES else ()
        told = [line[start:end].strip() for start, end in spans if end - start <= LONG_CHARS]
        ranked = {each: len(about.intersection(words_of(each))) for each in told if _is_sentence(each)}
        best = max(ranked, key=ranked.__getitem__, default="")
        tells = ranked.get(best) or best.endswith(_ENDS)
        if tells and not words_of(best) <= set(typed) and best not in seen:
            lines[place], found[place] = best, ranked[best]
            seen.add(best)
    return sorted(found, key=lambda place: (-found[place], place))[:_MOST_SENTENCES]


def below_clicked(lines: Sequence[str], done: str) -> list[int]:
    """Return the places of the lines that say something right below the one that was clicked."""
    clicked = _QUOTED.search(done)
    place = next((at for at, line in enumerate(lines) if clicked and _bare(line) == _bare(clicked[1])), len(lines))
    below = range(place + 1, min(place + 1 + _BELOW, len(lines)))
    return [at for at in below if lines[at].count(" ") >= _LEAST_SPACES or any(map(str.isdigit, lines[at]))]


def below_headings(lines: Sequence[str], firsts: Collection[int]) -> list[int]:
    """Return the places of lines that are no headings of Markdown, where prose stands below one; else none.

    A heading says what a text is about, not what it says. ``firsts`` begin the entries of a list: they stay.
    """
    headings = [place for place, line in enumerate(lines) if line.startswith("#") and _HEADING.match(line)]
    if not headings or not any(line.count(" ") >= _SENTENCE_SPACES for line in lines[headings[0] + 1 :]):
        return []
    gone = set(headings).difference(firsts)
    return [place for place in range(len(lines)) if place not in gone]


def _bare(text: str) -> str:
    return text.strip("*#-• ").casefold()


def most_about(lines: Sequence[str], about: Collection[str]) -> list[int]:
    """Return the places of the few lines with most of some words; where none has them, the first and the last."""
    told = {place: len(words_of(line).intersection(about)) for place, line in enumerate(lines)}
    ranked = sorted(filter(told.get, told), key=lambda place: -told[place])
    return ranked[:_MOST_SENTENCES] or [place for place in dict.fromkeys((0, len(lines) - 1, 1, 2)) if place in told]


def words_of(text: str) -> set[str]:
    """Return the words of a text that may tell what it is about."""
    return set(_WORD.findall(text.lower()))


def _is_sentence(text: str) -> bool:
    """Whether a text has as many words as no label, and besides those with capitals, as menus have, some other."""
    return (
        text.count(" ") >= _SENTENCE_SPACES
        and not text.endswith(_QUESTION)
        and any(not word[:1].isupper() for word in text.split() if word.isalnum())
    )
