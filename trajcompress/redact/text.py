"""Redacting one text."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from sys import maxsize
from typing import TypeAlias

from trajcompress.redact.known import NONE_KNOWN, Known
from trajcompress.redact.rules.calls import call_spans
from trajcompress.redact.rules.commands import command_spans
from trajcompress.redact.rules.cracked import cracked_spans
from trajcompress.redact.rules.fields import field_spans
from trajcompress.redact.rules.hashes import hash_spans
from trajcompress.redact.rules.keyblocks import private_key_spans
from trajcompress.redact.rules.prompted import prompted_spans
from trajcompress.redact.rules.records import record_spans
from trajcompress.redact.rules.spoken import spoken_spans
from trajcompress.redact.rules.stores import store_spans
from trajcompress.redact.rules.tables import table_spans
from trajcompress.redact.rules.urls import url_spans
from trajcompress.redact.rules.vendors import vendor_spans
from trajcompress.redact.search import Place, Places, find_places, no_places
from trajcompress.redact.spans import MARK_START, Span, merged, outside_marks, replaced
from trajcompress.redact.veils import views

_AT_ONCE = 1 << 17  # characters read together: hostile texts have something in each place, which takes memory
_BETWEEN = "\0\r"  # nothing that is looked for goes on beyond the first of these, or begins with the second

# What judges the places of a field; where two find a secret in one place, the first says of which kind it is.
_JUDGES = tuple(
    (spans, Places._fields.index(field))
    for spans, field in (
        (vendor_spans, "keys"),
        (url_spans, "urls"),
        (field_spans, "names"),
        (command_spans, "commands"),
        (hash_spans, "hashes"),
        (call_spans, "calls"),
        (table_spans, "headers"),
        (record_spans, "records"),
        (cracked_spans, "crackers"),
        (store_spans, "stores"),
        (prompted_spans, "sends"),
        (spoken_spans, "spoken"),
    )
)


_JOINS = frozenset("._-~+/%")


@dataclass(slots=True)  # not frozen: that would take as long as the search of a small text
class Redacted:
    """A text without its secrets; ``count`` of them were found, ``kinds`` says how many of each kind.

    ``secrets`` are those themselves, each with its kind: the row may tell them elsewhere, too.
    """

    text: str
    count: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)  # a Counter takes as long as the search of a small text
    secrets: Sequence[tuple[str, str]] = field(default=(), repr=False, compare=False)


def redact(text: str, known: Known = NONE_KNOWN) -> Redacted:
    """Put a typed mark in the place of each secret in a text, and of what is ``known`` for one.

    JSON within the text stays JSON. Redacting again changes nothing. Never raises, whatever the text.
    """
    places = find_places(text)
    return Redacted(text) if places is None and not known else judge(text, places, known)


def without_secrets(text: str) -> str:
    """Return a text without its secrets: half of one is not known for one, so they go before the text is cut."""
    return redact(text).text


Clean: TypeAlias = Callable[[str], str]
"""Takes secrets out of a text."""

HOLDS_NONE: Clean = str
"""Takes nothing out, of texts that are known to hold no secret."""


def redact_all(texts: Sequence[str], known: Known = NONE_KNOWN) -> dict[int, Redacted]:
    """Redact many texts, quicker than one by one: the positions of those that hold a secret, and what they become."""
    places = find_all(texts)
    redacted = (
        (index, judge(texts[index], places.get(index), known)) for index in (range(len(texts)) if known else places)
    )
    return {index: found for index, found in redacted if found.count}


def find_all(texts: Sequence[str]) -> dict[int, Places]:
    """Find the places of interest in many texts, by their positions: most have none, and are read together."""
    places: dict[int, Places] = {}
    first, chars = 0, 0
    starts: list[int] = []  # of those that are read together
    for last, text in enumerate(texts, 1):
        starts.append(chars)
        chars += len(text) + len(_BETWEEN)
        if chars < _AT_ONCE and last < len(texts):
            continue
        for index, found in _by_text(find_places(_BETWEEN.join((*texts[first:last], ""))), starts).items():
            places[first + index] = found
        first, chars = last, 0
        starts.clear()
    return places


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
                here = (by_text.get(index - 1) or by_text.setdefault(index - 1, no_places()))[field_]
            here.append((start - at, end - at))
    return by_text


def judge(text: str, places: Places | None, known: Known = NONE_KNOWN) -> Redacted:
    """Judge what was found in a text, and look for what is known."""
    found = [*(_spans(text, places) if places else ()), *(known.spans(text) if known else ())]
    for view in views(text, places.veils, with_keys=bool(places.blocks)) if places and places.veils else ():
        seen = find_places(view.text)
        found += view.spans([*(_spans(view.text, seen) if seen else ()), *known.spans(view.text)])
    spans = merged(found if MARK_START not in text else outside_marks(text, found)) if found else ()
    if not spans:
        return Redacted(text)
    secrets = [(text[span.start : span.end], span.kind) for span in spans]
    redacted = Redacted(replaced(text, spans), len(spans), Counter(span.kind for span in spans), secrets)
    if any(_is_joined(text, span) for span in spans):
        more = redact(redacted.text)  # what a secret was joined to is seen only without it
        if more.count:
            return Redacted(
                more.text,
                redacted.count + more.count,
                Counter(redacted.kinds) + Counter(more.kinds),
                [*secrets, *more.secrets],
            )
    return redacted


def _is_joined(text: str, span: Span) -> bool:
    """Whether what stands beside a secret may be of one value with it."""
    beside = text[max(0, span.start - 1) : span.start] + text[span.end : span.end + 1]
    return any(character.isalnum() or character in _JOINS for character in beside)


def _spans(text: str, places: Places) -> list[Span]:
    found: list[Span] = []
    if places.blocks:
        found += private_key_spans(text)
    for spans, number in _JUDGES:
        if here := places[number]:
            found += spans(text, here)
    return found
