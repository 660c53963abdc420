"""What people ask for in a region, in their own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajcompress.outcomes.text import clip, one_line, sentences, shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.fit import ASKED, RECENT, Line, Section
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.trajectory import Turn

_REQUEST_CHARS = 600
_SHORT_REQUEST_CHARS = 200
_LEAST_NAG_CHARS = 24  # people say "yes" or "go on" again, too
_BINDING = late_re(
    r"\d|\b(?:not|never|only|must|don'?t|without|except|prefer|at least|at most|under|over|before|after|instead"
    r"|budget|limit|max|min|no)\b|[不必只]|ない|말|nicht|nur|muss|sans|ne pas|sin|solo",
    re.IGNORECASE,
)


def requests_of(region: Sequence[Turn]) -> list[Line]:
    """Quote what people ask, the sentences that bind first where all is too long."""
    lines = []
    asked: set[str] = set()
    for index, turn in enumerate(region):
        if not is_request(turn) or (turn.role == "user" and turn.name):
            continue
        said = one_line(clip(request_text(turn)))
        if not any(map(str.isalnum, said)) or (said in asked and _nags(region, index)):
            continue
        asked.add(said)
        recency = (index + 1) / len(region)
        if len(said) <= _REQUEST_CHARS:
            forms = (said, shorten(said, _SHORT_REQUEST_CHARS))
        else:
            forms = (_binding(request_text(turn), _REQUEST_CHARS), _binding(request_text(turn), _SHORT_REQUEST_CHARS))
        quoted = tuple(dict.fromkeys(f'"{form}"' for form in forms))
        lines.append(Line(Section.REQUESTS, index, ASKED + RECENT * recency, quoted))
    return lines


def _nags(region: Sequence[Turn], index: int) -> bool:
    """Whether a turn that says again what one before it did follows a reply that calls nothing: harnesses do so."""
    before = region[index - 1]
    return before.role == "assistant" and not before.calls and len(region[index].text) >= _LEAST_NAG_CHARS


def _binding(text: str, limit: int) -> str:
    """Quote whole sentences of what a person says in their order, those with limits, figures and wishes first."""
    text = clip(text)
    places = sentences(text)
    said = [one_line(text[start:end]) for start, end in places]
    ranked = sorted(range(len(said)), key=lambda place: (place > 0 and not _BINDING.search(said[place]), -place))
    chosen: set[int] = set()
    room = limit
    for place in ranked:
        if len(said[place]) + 3 <= room:
            chosen.add(place)
            room -= len(said[place]) + 3
    if not chosen:
        return shorten(one_line(text), limit)
    runs: list[list[int]] = []
    for place in sorted(chosen):
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    pieces = [one_line(text[places[run[0]][0] : places[run[-1]][1]]) for run in runs]
    begins, ends = 0 in chosen, len(said) - 1 in chosen
    return f"{'' if begins else '… '}{' … '.join(pieces)}{'' if ends else ' …'}"
