"""Calls of one turn that one observation answers, each with a result under a mark of its own. Pure."""

from __future__ import annotations

import itertools

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.elements import RESULT_HEADER, answered_elements
from trajcompress.transcript.text_protocols.labelled_actions import labelled_calls
from trajcompress.transcript.text_protocols.observation_parts import body_end, in_observation
from trajcompress.transcript.trajectory import ToolCall

_OF_TOOL, _OBSERVED, _OF_EDITOR = "EXECUTION RESULT of [", "Observation", "["  # of OpenHands, of ReAct, of Cline
_MARKS = {
    _OF_TOOL: late_re(r"(?:\A|(?<=\n))EXECUTION RESULT of \[(?P<tool>[^\]\n]{0,200})\]:?[ \t]?\n?"),
    _OBSERVED: late_re(r"(?:\A|(?<=\n))(?:Observation|OBSERVATION)(?:[ \t]?\d{1,3})?(?P<tool>):[ \t]?\n?"),
    _OF_EDITOR: RESULT_HEADER,
}
_MOST = 64
_LEAST = 2


def results_apart(text: str) -> list[tuple[int, int]]:
    r"""Return where each result begins and ends, without the mark above it and what its protocol puts below it.

    >>> results_apart("Observation: a\nObservation: bc\n")
    [(13, 14), (28, 30)]
    """
    return [(start, end) for start, end, _ in _marked(text)]


def answered_apart(text: str, acted: Acted | None, answer: str) -> tuple[ToolCall, ...]:
    """Return the calls of a turn that an answer has a result for, each under a mark of its own; else nothing.

    What ran is told by what answers it: of several actions under labels all did that have an observation each.
    """
    results = _marked(answer)
    if len(results) < _LEAST:
        return ()
    named = [name for _, _, name in results]
    for calls in (acted.calls if acted else (), labelled_calls(text), answered_elements(text, answer)):
        if len(calls) == len(results) and (not any(named) or named == [call.name for call in calls]):
            return calls
    return ()


def _marked(text: str) -> list[tuple[int, int, str]]:
    """Return the results of a text that begins with a mark, each with the tool that its mark names."""
    begin = text.lstrip()[: len(_OF_TOOL)].lower()
    mark = next((_MARKS[sign] for sign in _MARKS if begin.startswith(sign.lower())), None)
    found = list(mark.finditer(text)) if mark else []
    if not _LEAST <= len(found) <= _MOST or text[: found[0].start()].strip():
        return []
    ends = [body_end(text[: each.start()], before.end()) for before, each in itertools.pairwise(found)]
    ends.append(max(in_observation(text, 0).end, found[-1].end()))
    return [
        (each.end(), max(len(text[:end].rstrip()), each.end()), each["tool"])
        for each, end in zip(found, ends, strict=True)
    ]
