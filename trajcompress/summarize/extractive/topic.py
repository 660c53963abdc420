"""A topic that is to get the larger share: what is about it comes first in its section."""

from __future__ import annotations

from collections.abc import Iterable

from trajcompress.summarize.extractive.fit import Item
from trajcompress.summarize.extractive.text import names, words

_LEAST, _MOST = 3.0, 6.0  # added to what names a part of the topic, and to what names all of it


def terms_of(focus: str) -> frozenset[str]:
    """Return the words and names of a topic, in small letters; the whole where it has none."""
    found = words(focus) | {name.lower() for name in names(focus)}
    return found or frozenset({focus.strip().lower()})


def prefer(items: Iterable[Item], terms: frozenset[str]) -> None:
    """Raise the score of items that name some of the terms."""
    for item in items:
        text = f"{item.label} {item.text}".lower()
        if share := sum(term in text for term in terms) / len(terms):
            item.score += _LEAST + (_MOST - _LEAST) * share
