"""What people ask for in a region, in their own words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from trajcompress.outcomes.text import clip, one_line, shorten
from trajcompress.summarize.extractive.fit import ASKED, RECENT, Line, Section
from trajcompress.summarize.extractive.quoting import binding_sentences, is_pasted, quoted_paste
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.speakers import speaker_of
from trajcompress.transcript.text_protocols.openings import without_figures
from trajcompress.transcript.trajectory import Turn

_LONG_REQUEST_CHARS = (2_000, 1_200)  # of what is in force
_REQUEST_CHARS = 600
_SHORT_REQUEST_CHARS = (200, _BRIEF_CHARS := 80)
_PASTED_CHARS = 160  # of code alone
_LONG_NAG_CHARS = 120  # so much nobody types again with another number
_NEAR = 3  # turns back
_LEAST_NAG_CHARS = 24  # people say "yes" or "go on" again, too


def requests_of(region: Sequence[Turn], head: Sequence[Turn], people: Collection[str]) -> list[Line]:
    """Quote what people ask, the sentences that bind first where all is too long; with names where several speak.

    What a turn before says, too, behind a reply, is a harness's.
    """
    lines = []
    in_force = _in_force({index: turn for index, turn in enumerate(region) if _is_asked_by(turn, people)})
    asked: set[str] = set()
    before = "\n".join(one_line(clip(request_text(turn))) for turn in head if is_request(turn))
    speaking = {speaker_of(turn) for turn in (*head, *region) if turn.role == "user" and not turn.answers}
    for index, turn in enumerate(region):
        if not _is_asked_by(turn, people):
            continue
        name = speaker_of(turn) if len(speaking) > 1 else None
        said = one_line(clip(request_text(turn)))
        alike = without_figures(said, len(said)) if len(said) >= _LONG_NAG_CHARS else said  # "Attempt 2 failed: …"
        if not any(map(str.isalnum, said)) or ((alike in asked or said in before) and _nags(region, index)):
            continue
        asked.add(alike)
        recency = (index + 1) / len(region)
        if len(said) <= _REQUEST_CHARS:
            forms = [said]
        else:
            limits = (*(_LONG_REQUEST_CHARS if index in in_force else ()), _REQUEST_CHARS)
            forms = [_quoted(turn, limit) for limit in limits]
        forms += [_quoted(turn, limit) for limit in _SHORT_REQUEST_CHARS if limit < len(said)]
        by = f"{one_line(name)}: " if name else ""
        quoted = tuple(dict.fromkeys(f'{by}"{form}"' for form in forms))
        lines.append(Line(Section.REQUESTS, index, ASKED + RECENT * recency, quoted))
    return lines


def _in_force(asked: Mapping[int, Turn]) -> set[int]:
    """Return where the last request stands, and the last that says more than how to go on with it."""
    long = [index for index, turn in asked.items() if len(request_text(turn)) > _SHORT_REQUEST_CHARS[0]]
    return {*[*asked][-1:], *long[-1:]}


def _is_asked_by(turn: Turn, people: Collection[str]) -> bool:
    """Whether a turn is a request of a person: of one of those, or of one without a name."""
    return is_request(turn) and ((name := speaker_of(turn)) is None or name in people)


def _nags(region: Sequence[Turn], index: int) -> bool:
    """Whether a turn that says again what one before it did follows a reply that calls nothing: harnesses do so.

    Between them may stand what a harness says alone, such as how much time is left.
    """
    near = reversed(region[max(index - _NEAR, 0) : index])
    before = next((turn for turn in near if not is_request(turn) or request_text(turn)), None)
    replies = before is not None and before.role == "assistant" and not before.calls
    return replies and len(region[index].text) >= _LEAST_NAG_CHARS


def _quoted(turn: Turn, limit: int) -> str:
    """Quote what a person asks; where there is room for one sentence, that which asks or binds; of code the first."""
    said = request_text(turn)
    if is_pasted(said):
        return quoted_paste(said, min(limit, _PASTED_CHARS))
    return binding_sentences(said, limit, begin=limit > _BRIEF_CHARS) or shorten(one_line(clip(said)), limit)
