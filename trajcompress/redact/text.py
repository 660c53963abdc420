"""Redacting one text."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from sys import maxsize

from trajcompress.redact.commands import command_spans
from trajcompress.redact.fields import field_spans
from trajcompress.redact.keyblocks import private_key_spans
from trajcompress.redact.search import Place, Places, find_places, no_places
from trajcompress.redact.spans import Span, merged, replaced
from trajcompress.redact.urls import url_spans
from trajcompress.redact.veils import views
from trajcompress.redact.vendors import vendor_spans

_AT_ONCE = 1 << 17  # characters read together: hostile texts have something in each place, which takes memory
_BETWEEN = "\0"  # is in nothing that is looked for


@dataclass(slots=True)  # not frozen: that would take as long as the search of a small text
class Redacted:
    """A text without its secrets; ``count`` of them were found, ``kinds`` says how many of each kind."""

    text: str
    count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Put a typed mark in the place of each secret in a text.

    JSON within the text stays JSON. Redacting again changes nothing. Never raises, whatever the text.
    """
    places = find_places(text)
    return Redacted(text) if places is None else _judged(text, places)


def redact_all(texts: Sequence[str]) -> dict[int, Redacted]:
    """Redact many texts, quicker than one by one: the positions of those that hold a secret, and what they become.

    Most hold nothing that could be one, and are read together.
    """
    redacted: dict[int, Redacted] = {}
    first = chars = 0
    for last, text in enumerate(texts, 1):
        chars += len(text)
        if chars < _AT_ONCE and last < len(texts):
            continue
        together = _BETWEEN.join(texts[first:last])
        starts = list(accumulate((len(text) + len(_BETWEEN) for text in texts[first : last - 1]), initial=0))
        for index, places in _by_text(find_places(together), starts).items():
            judged = _judged(texts[first + index], places)
            if judged.count:
                redacted[first + index] = judged
        first, chars = last, 0
    return redacted


def _by_text(places: Places | None, starts: Sequence[int]) -> dict[int, Places]:
    """Return what was found in texts that begin at ``starts``, by the text that it is in."""
    by_text: dict[int, Places] = {}
    for field_, found in enumerate(places or ()):
        at = until = 0
        here: list[Place] = []
        for start, end in found:  # in order of the ends, and so of the texts
            if start >= until:
                index = bisect_right(starts, start)
                at, until = starts[index - 1], starts[index] if index < len(starts) else maxsize
                here = by_text.setdefault(index - 1, no_places())[field_]
            here.append((start - at, end - at))
    return by_text


def _judged(text: str, places: Places) -> Redacted:
    """Judge what was found in a text."""
    found = _spans(text, places)
    for view in views(text, places.veils, with_keys=bool(places.blocks)) if places.veils else ():
        if (seen := find_places(view.text)) is not None:
            found += view.spans(_spans(view.text, seen))
    if not found:
        return Redacted(text)
    spans = merged(found)
    return Redacted(replaced(text, spans), len(spans), Counter(span.kind for span in spans))


def _spans(text: str, places: Places) -> list[Span]:
    return [
        *(private_key_spans(text) if places.blocks else ()),
        *vendor_spans(text, places.keys),
        *url_spans(text, places.urls),
        *field_spans(text, places.names),
        *command_spans(text, places.commands),
    ]
