"""Observations of text-protocol agents: which user turns are what an environment printed. Pure.

An agent without tool roles writes its action into its own turn, and the environment answers in the next user turn.
Whether a row is of that kind is decided from the whole of it, as a person may well paste output, and an assistant
show code: a form of action or observation that no chat has; or commands alone, turn after turn, answered by what no
person says. In a row of that kind the user turn behind an action is an observation, unless it reads like a person.

What is recognised stands in the turns themselves, as ``Turn.calls`` and ``Turn.answers``, with ``Turn.in_text`` set;
all that comes after reads these. Where nothing is certain, a user turn is a request: a request that is lost is worse
than an observation that is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.notes import is_constant, without_notes
from trajcompress.transcript.summary_marks import without_summary
from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.actions import find_actions, shown_code
from trajcompress.transcript.text_protocols.answered_apart import answered_apart
from trajcompress.transcript.text_protocols.asides import asides
from trajcompress.transcript.text_protocols.elements import answered_elements
from trajcompress.transcript.text_protocols.evidence import Row
from trajcompress.transcript.text_protocols.feedback import refuses_reply
from trajcompress.transcript.text_protocols.heard import Heard, heard, without_heard
from trajcompress.transcript.text_protocols.observation_parts import in_observation
from trajcompress.transcript.text_protocols.printed import printed
from trajcompress.transcript.text_protocols.turn_evidence import may_answer
from trajcompress.transcript.text_protocols.written_calls import new_call
from trajcompress.transcript.trajectory import ToolCall, Turn

Observations: TypeAlias = str | re.Pattern[str]
"""``auto`` recognises text protocols, ``tool`` reads tool roles alone; of a row in which a pattern matches user turns
these are the observations, any other is read as with ``auto``."""

_DEMONSTRATION = late_re(
    r"\b(?:demonstrations?|worked example|examples? (?:of|trajector\w+|interaction)"
    r"|here (?:is|are) (?:an? |some |two |three )?"
    r"(?:\w+ )?(?:examples?|demonstrations?)|few[- ]shot)",
    re.IGNORECASE,
)
_MANUAL = late_re(r"\b(?:api (?:manual|reference|documentation)|documentation of|manual\b)", re.IGNORECASE)
_OF_PEOPLE = frozenset({"user", "tool"})  # the roles of turns in which a person may speak
REFUSED_REPLY = "reply refused"
"""What is told of a turn in which a harness read no action."""

_EXAMPLE_CHARS = 400
_FENCE = late_re(r"\n[ \t]{0,4}(?:[-=*#~_]{3,}[^\n]{0,60}|</?\w[\w -]{0,40}>)[ \t]{0,9}(?=\s|\Z)")
_EXAMPLE_OPENS, _EXAMPLE_CLOSES = (
    late_re(rf"(?:\A|(?<=\n))-{{3,60}} {side} OF EXAMPLE -{{3,60}}(?=\r?\n)") for side in ("START", "END")
)
_RUNNING_EXAMPLE = late_re(r"\s{0,8}Here's a running example of [^\n]{1,200}\n")
_BEHIND_EXAMPLE = "Do NOT assume the environment is the same as in the example above"
_FRAME_CHARS = 1_000  # between the heading and what is shown


def read_rule(rule: str) -> Observations:
    """Return what a setting says: ``auto``, ``tool``, or a regular expression."""
    return rule if rule in {"auto", "tool"} else re.compile(rule)


def read_observations(turns: Sequence[Turn], mode: Observations = "auto") -> tuple[Turn, ...]:
    """Mark the actions and observations that a row has in plain text; the turns themselves where it has none.

    A row with tool roles or structured calls is read by these alone; where it has no call at all, what stands in
    words before a result is one.

    Args:
        turns: all turns of a row.
        mode: what is looked for.
    """
    read = tuple(turns)
    if mode == "tool":
        return read
    if isinstance(mode, re.Pattern):
        answers = [i for i, turn in enumerate(turns) if i and may_answer(turn) and mode.search(turn.text)]
        if answers:
            return _marked(read, {i: find_actions(turns[i - 1].text) for i in answers})
    return _recognised(read)


def _recognised(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    has_roles = any(turn.role == "tool" or any(not call.in_text for call in turn.calls) for turn in turns)
    if not has_roles and any(turn.role == "user" for turn in turns[1:]) and (found := Row(turns).observations()):
        return _marked(turns, found)
    if has_roles and (told := _printed_answers(turns)):
        return _marked(turns, dict.fromkeys(told))
    is_worded = any(turn.answers for turn in turns) and not any(turn.calls for turn in turns)
    return _with_worded_calls(turns) if is_worded else turns


def is_request(turn: Turn) -> bool:
    """Whether a turn holds words that a person addressed to the assistant, alone or beside an observation."""
    if turn.role not in _OF_PEOPLE or turn.example or turn.calls:
        return False
    if turn.role == "user" and not turn.answers:
        return not is_constant(turn.text)
    return bool(said_beside(turn))


def answers_call(turn: Turn) -> bool:
    """Whether a turn holds results that a format has as such, which stand behind their calls and nowhere else."""
    return turn.role == "tool" or (bool(turn.answers) and not _is_in_text(turn))


def said_beside(turn: Turn) -> str:
    """Return the words of a person in a turn that holds results; nothing where there are none."""
    if not turn.answers or turn.role not in _OF_PEOPLE:
        return ""
    if _is_in_text(turn):
        return in_observation(without_summary(turn.text), turn.aside).said
    told = _heard(turn)  # beside it there is nothing: results stand in turns or parts of their own
    return told.said if told else ""


def _is_in_text(turn: Turn) -> bool:
    return turn.role == "user" and (turn.in_text or turn.text.lstrip().startswith("<tool_response>"))


def _heard(turn: Turn) -> Heard | None:
    return heard(turn.text, turn.name) if len(turn.answers) == 1 else None


def without_aside(turn: Turn) -> str:
    """Return the text of a turn that holds results without the words of a person in it, or at its end."""
    said = said_beside(turn)
    if said and (told := _heard(turn)):
        return without_heard(turn.text, told)
    return turn.text.rstrip().removesuffix(said).rstrip() if said else turn.text


def request_text(turn: Turn) -> str:
    """Return what a person says in a turn that :func:`is_request`; nothing where a harness alone speaks."""
    return without_notes(said_beside(turn) if turn.answers else turn.text)


def demonstration_heading(text: str) -> int:
    """Return where the line ends that calls an example a demonstration; 0 where none does, or it is a manual."""
    begin = text[:_EXAMPLE_CHARS]
    found = _DEMONSTRATION.search(begin)
    return 0 if found is None or _MANUAL.search(begin) else max(begin.find("\n", found.end()), 0)


def demonstration_frame(text: str) -> tuple[int, int]:
    """Return where what is shown begins, behind what is said of it, and where it ends; 0 and 0 where nothing is."""
    heading = demonstration_heading(text)
    if not heading:
        return 0, 0
    opens = _FENCE.search(text, heading, heading + _FRAME_CHARS)
    closes = _FENCE.match(text, text.rstrip().rfind("\n"))
    begin = opens.end() if opens else heading
    return begin, closes.start() if closes and begin < closes.start() else len(text)


def example_within(text: str) -> tuple[int, int]:
    """Return where the worked example stands in a request that says where one begins and ends; 0 and 0 in others.

    So do the first requests of OpenHands.
    """
    opens = _EXAMPLE_OPENS.search(text) if "START OF EXAMPLE" in text else None
    closes = _EXAMPLE_CLOSES.search(text, opens.end()) if opens else None
    if opens and closes:
        return opens.end(), closes.start()
    shown = _RUNNING_EXAMPLE.match(text)
    end = text.find(_BEHIND_EXAMPLE, shown.end()) if shown else -1
    return (shown.end(), end) if shown and end >= 0 else (0, 0)


def _marked(turns: tuple[Turn, ...], found: Mapping[int, Acted | None]) -> tuple[Turn, ...]:
    """Set the calls and answers of what was found; an action is what stands right before an observation."""
    read = list(turns)
    first_act = len(turns)
    spoken = asides(turns, found.keys())
    for index, acted in found.items():
        read[index] = replace(turns[index], answers=(None,), in_text=True, aside=spoken.get(index))
        before = turns[index - 1]
        acts = index and index - 1 not in found and not before.calls
        if acts and (calls := answered_apart(before.text, acted, turns[index].text)):
            read[index - 1] = replace(before, calls=calls, in_text=True, apart=True)
            read[index] = replace(read[index], answers=(None,) * len(calls))
        elif acts and (calls := _ran(before, acted, turns[index])):
            read[index - 1] = replace(before, calls=calls, in_text=True)
        first_act = min(first_act, index - 1)
    last = read[-1]
    if last.role == "assistant" and not last.calls and (acted := find_actions(last.text)):
        read[-1] = replace(last, calls=acted.calls, in_text=True)  # nothing answers it any more
    return _with_examples(read, first_act)


def _ran(turn: Turn, acted: Acted | None, answer: Turn) -> tuple[ToolCall, ...]:
    """Return what a turn ran by what answers it: where no action was read in it, none was, whatever code it shows."""
    text = without_summary(answer.text)
    if named := answered_elements(turn.text, text):
        return named
    if (acted := acted or shown_code(turn.text)) is None:
        return ()
    refused = refuses_reply(text[in_observation(text, 0).start :])
    return (new_call(REFUSED_REPLY, ""),) if refused else acted.calls


def _printed_answers(turns: Sequence[Turn]) -> list[int]:
    """Return the user turns that answer a call right before them in a form that environments alone write."""
    behind = [i for i, turn in enumerate(turns) if i and may_answer(turn) and turns[i - 1].calls]
    return [i for i in behind if printed(without_summary(turns[i].text)).certain]


def _with_worded_calls(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Set the calls that assistants name in words: of rows whose results have a role, or tags, and their calls none.

    What is called behind the last result is known by its form to be of the same kind.
    """
    read = list(turns)
    for index, turn in enumerate(turns):
        is_answered = index + 1 == len(turns) or turns[index + 1].answers
        if turn.role != "assistant" or turn.calls or not is_answered or "->" in turn.own_role:
            continue
        if (acted := find_actions(turn.text)) and acted.sure == "named":
            read[index] = replace(turn, calls=acted.calls, in_text=True)
    return tuple(read)


def _with_examples(read: list[Turn], first_act: int) -> tuple[Turn, ...]:
    """Mark the worked examples and manuals among the leading user turns: the last of these is the task."""
    leading = [index for index in range(first_act) if read[index].role == "user" and not read[index].answers]
    for index in leading[:-1]:
        begin = read[index].text[:_EXAMPLE_CHARS]
        if _DEMONSTRATION.search(begin) or _MANUAL.search(begin):
            read[index] = replace(read[index], example=True)
    return tuple(read)
