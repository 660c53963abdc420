"""Descriptions of tools in a list of them, as YAML: they go before the names and the parameters do."""

from __future__ import annotations

import re
from functools import cache

from trajcompress.compaction.text.middle import LEAST_CUT, cut_out
from trajcompress.facts.entries import entries, entry_at
from trajcompress.facts.parts import Part, Wanted
from trajcompress.facts.reading import mentions
from trajcompress.facts.taken import STRONG
from trajcompress.processes.late_patterns import late_re

_HINT = "description: "
_DESCRIBED = late_re(r"(?:\n|(?<!\\)\\n)(?P<indent> {0,8})\w{0,30}description: ", re.IGNORECASE)
_NEXT = late_re(r"(?:\n|(?<!\\)\\n)(?P<indent> {0,8})(?:- )?(?=\w{1,40}:)")
_BLANK, _SENTENCE = late_re(r"(?:\\++n|[\s\\\"'|>-])*+"), late_re(r"[.!?](?=[\s\\\"'])")
_BEGIN_CHARS = 160


def without_descriptions(text: str, limit: int, keep: Wanted) -> str:
    """Cut descriptions in a list of tools behind their first words, as far as the text is over ``limit``.

    First those of tools that nobody calls. One that alone tells what is to be kept stays.
    """
    if _HINT not in text or not entries(text):
        return text
    strong = [word for word, weight in keep.items() if weight >= STRONG]

    def is_called(part: Part) -> bool:
        start = entry_at(text, part.start) or 0
        return any(word in text[start : start + _BEGIN_CHARS] for word in strong)

    times = cache(text.count)

    def tells_alone(part: Part, word: str) -> bool:
        said = text[part.start : part.end]
        return word in said and mentions(said, word) and times(word) == said.count(word)

    gone: list[Part] = []
    excess = len(text) - limit
    for part in sorted(_descriptions(text), key=lambda part: (is_called(part), part)):
        if excess > 0 and not any(tells_alone(part, word) for word in strong):
            gone.append(part)
            excess -= part.end - part.start
    return cut_out(text, sorted(gone)) if gone else text


def _descriptions(text: str) -> list[Part]:
    """Return what descriptions say behind their beginnings, where that is long."""
    found = []
    for described in _DESCRIBED.finditer(text):
        ends = (at.start() for at in _NEXT.finditer(text, described.end()) if at["indent"] <= described["indent"])
        part = Part(_begun(text, described.end()), next(ends, len(text)))
        found += [part] if part.end - part.start >= LEAST_CUT else []
    return found


def _begun(text: str, start: int) -> int:
    """Return where the first sentence of a description ends, or where it may be cut before that."""
    first = text[start : start + _BEGIN_CHARS]
    blank = _BLANK.match(first)
    begins = blank.end() if blank else 0
    sentence = _SENTENCE.search(first, begins)
    return start + (sentence.end() if sentence else max(first.rfind(" "), begins))
