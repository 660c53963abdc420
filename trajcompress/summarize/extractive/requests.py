"""What people ask for in a region, in their own words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from trajcompress.outcomes.text import clip, one_line, sentences, shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.fit import ASKED, RECENT, Line, Section
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.speakers import speaker_of
from trajcompress.transcript.trajectory import Turn

_LONG_REQUEST_CHARS = 1_200  # of the last one, which is in force
_REQUEST_CHARS = 600
_SHORT_REQUEST_CHARS = (200, _BRIEF_CHARS := 80)
_POINT = "0123456789.) "  # before what is asked
_ASKS = ("?", "？")
_HEADING = late_re(r"#{1,6} |\W*\Z")
_LEAST_NAG_CHARS = 24  # people say "yes" or "go on" again, too
_BINDING = late_re(
    r"\d|\b(?:not|never|only|must|don'?t|without|except|prefer|at least|at most|under|over|before|after|instead"
    r"|budget|limit|max|min|no)\b|[不必只]|ない|말|nicht|nur|muss|sans|ne pas|sin|solo",
    re.IGNORECASE,
)


def requests_of(region: Sequence[Turn], head: Sequence[Turn], people: Collection[str]) -> list[Line]:
    """Quote what people ask, the sentences that bind first where all is too long; with names where several speak.

    What a turn before says, too, behind a reply, is a harness's.
    """
    lines = []
    last = max((index for index, turn in enumerate(region) if _is_asked_by(turn, people)), default=-1)
    asked: set[str] = set()
    before = "\n".join(one_line(clip(request_text(turn))) for turn in head if is_request(turn))
    speaking = {speaker_of(turn) for turn in (*head, *region) if turn.role == "user" and not turn.answers}
    for index, turn in enumerate(region):
        if not _is_asked_by(turn, people):
            continue
        name = speaker_of(turn) if len(speaking) > 1 else None
        said = one_line(clip(request_text(turn)))
        if not any(map(str.isalnum, said)) or ((said in asked or said in before) and _nags(region, index)):
            continue
        asked.add(said)
        recency = (index + 1) / len(region)
        if len(said) <= _REQUEST_CHARS:
            forms = [said]
        else:
            limits = (_LONG_REQUEST_CHARS, _REQUEST_CHARS)[index != last :]
            forms = [_binding(request_text(turn), limit) for limit in limits]
        shorter = (limit for limit in _SHORT_REQUEST_CHARS if limit < len(said))
        forms += [_binding(request_text(turn), limit) for limit in shorter]
        by = f"{one_line(name)}: " if name else ""
        quoted = tuple(dict.fromkeys(f'{by}"{form}"' for form in forms))
        lines.append(Line(Section.REQUESTS, index, ASKED + RECENT * recency, quoted))
    return lines


def _is_asked_by(turn: Turn, people: Collection[str]) -> bool:
    """Whether a turn is a request of a person: of one of those, or of one without a name."""
    return is_request(turn) and ((name := speaker_of(turn)) is None or name in people)


def _nags(region: Sequence[Turn], index: int) -> bool:
    """Whether a turn that says again what one before it did follows a reply that calls nothing: harnesses do so."""
    before = region[index - 1]
    return before.role == "assistant" and not before.calls and len(region[index].text) >= _LEAST_NAG_CHARS


def _binding(text: str, limit: int) -> str:
    """Quote whole sentences of what a person says in their order: what it begins with, then limits and wishes.

    Of the others the last come first. A heading says nothing without what stands below it.
    """
    text = clip(text)
    places = sentences(text)
    said = [one_line(text[start:end]) for start, end in places]
    telling = [place for place in range(1, len(said)) if not _HEADING.match(said[place])]
    first = [*range(len(said))[:1], *(telling[:1] if said and said[0].endswith(":") else ())]
    if limit <= _BRIEF_CHARS:  # room for one sentence
        first, telling = [], [*first, *telling]
    binding = {
        place for place in telling if _BINDING.search(said[place].lstrip(_POINT)) or said[place].endswith(_ASKS)
    }
    ranked = sorted(telling, key=lambda place: (place not in binding, -place))
    chosen: set[int] = set()
    room = limit
    for place in dict.fromkeys((*first, *ranked)):
        if len(said[place]) + 3 <= room:
            chosen.add(place)
            room -= len(said[place]) + 3
    if not chosen & {*first, *binding}:
        return shorten(one_line(text), limit)  # what is left says thanks, or so
    runs: list[list[int]] = []
    for place in sorted(chosen):
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    pieces = [one_line(text[places[run[0]][0] : places[run[-1]][1]]) for run in runs]
    begins, ends = 0 in chosen, len(said) - 1 in chosen
    return f"{'' if begins else '… '}{' … '.join(pieces)}{'' if ends else ' …'}"
