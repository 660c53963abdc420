"""Where secrets stand in a text, and the marks that take their place."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re

MARK_START = "[REDACTED:"
MARK = late_re(rf"{re.escape(MARK_START)}[a-z_]+(?:#[0-9a-f]{{8}})?\]")


class Span(NamedTuple):
    """A secret: ``text[start:end]``. ``quote`` is put on both sides of its mark, for bare JSON numbers."""

    start: int
    end: int
    kind: str
    quote: str = ""

    @property
    def mark(self) -> str:
        """What takes the secret's place."""
        return f"{self.quote}{mark(self.kind)}{self.quote}"


def mark(kind: str) -> str:
    """The mark of a kind; it carries nothing of the secret."""
    return f"{MARK_START}{kind}]"


def with_digest(marked: str, original: str) -> str:
    """A text with marks, each with a short digest of the text before: what identified something still does."""
    digest = hashlib.blake2s(original.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return MARK.sub(lambda found: f"{found[0][:-1].partition('#')[0]}#{digest}]", marked)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order of position, overlapping ones made one, which takes the kind of the one given first."""
    ranked = sorted(enumerate(spans), key=lambda item: item[1].start)
    out: list[tuple[int, Span]] = []
    for rank, span in ranked:
        if out and span.start < out[-1][1].end:
            best, last = out[-1]
            kind = span.kind if rank < best else last.kind
            out[-1] = (min(best, rank), Span(last.start, max(last.end, span.end), kind, last.quote))
        else:
            out.append((rank, span))
    return [span for _, span in out]


def outside_marks(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Those spans of a text that touch none of the marks in it."""
    marks = [found.span() for found in MARK.finditer(text)]
    ends = [end for _, end in marks]
    for span in spans:
        following = bisect_right(ends, span.start)
        if following == len(marks) or marks[following][0] >= span.end:
            yield span


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark for each of the spans, which are in order and do not overlap."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], span.mark)
        at = span.end
    return "".join((*parts, text[at:]))
