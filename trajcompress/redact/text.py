"""Redacting one text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from trajcompress.redact.fields import field_spans
from trajcompress.redact.keyblocks import private_key_spans
from trajcompress.redact.search import find_places
from trajcompress.redact.spans import merged, replaced
from trajcompress.redact.urls import url_spans
from trajcompress.redact.vendors import vendor_spans


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
    folded = text.encode("ascii", "replace").lower()
    places = find_places(folded)
    if places is None:
        return Redacted(text)
    found = [
        *(private_key_spans(text) if places.blocks else ()),
        *vendor_spans(text, folded, places.keys),
        *url_spans(text, places.urls),
        *field_spans(text, folded, places.names),
    ]
    if not found:
        return Redacted(text)
    spans = merged(found)
    return Redacted(replaced(text, spans), len(spans), Counter(span.kind for span in spans))
