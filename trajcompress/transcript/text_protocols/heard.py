"""What a person says inside a tool's result, in the exact words by which harnesses hand that on. Pure.

Nothing else is taken for a person's: a file that an agent reads may hold such words and tags anywhere, so each form
counts only where its harness puts it, mostly at the start of a result.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from trajcompress.processes.late_patterns import holds_any, last_match, late_re
from trajcompress.transcript.notes import notes_at
from trajcompress.transcript.text_protocols.result_labels import NAMED_RESULT

_BEGIN_CHARS = 1_000
_JSON_CHARS = 60_000
_OF_AIDER = "> Tokens: ", "> Applied edit to ", "> Aider v"  # what it reports, in its history of a chat
_ON_SCREEN = "Tokens: "  # the same, as it stands on the screen
_HINTS = (
    "The user ",
    "User has ",
    "<user_message>",
    "<answer>",
    "Command ",
    _ON_SCREEN,
    *_OF_AIDER,
)  # all forms begin with one
HEADER = rf"\s{{0,20}}(?:(?=\[(?P<tool>[\w-]{{1,40}})){NAMED_RESULT}|\[Tool(?: \(Error\))?\](?=\n))?\s{{0,8}}"
"""By what Cline, Roo Code and Kilo Code say which call a result answers."""

_REJECTED = late_re(  # Claude Code's
    r"\s{0,8}The user doesn't want to (?:proceed with this tool use|take this action right now)\."
    r"(?:[^\n]{0,300}the user said:\n)?"
)
_ANSWERED = late_re(  # Claude Code's and OpenCode's
    r"\s{0,8}User has answered your questions: (?=\"[^\n]{1,900}?\"=\")"
)
_WAS_ANSWERED = "User has answered your questions."  # what is told of it beside the answers
_ANSWERED_END = ". You can now continue with the user's answers in mind."
_TYPED = late_re(r"\n#### ([^\n]*)")  # by a person, in the same history
_REPORTED = late_re(r"Tokens: [\d.,k]{1,9} sent, [\d.,k]{1,9} received\.")
_PARAGRAPH = late_re(r"(?<=\n\n)[ \t]{0,8}(?=\S)(?!\^C again to exit)")
_CONSOLE = late_re(  # what it says itself
    r"Tokens: \d|Applied edit to |Commit [0-9a-f]{7} |You can use /undo|Removed:? |Added |HEAD is: |Now at: "
    r"|No changes to |(?:The|This) SEARCH |The LLM did not |#{1,2} |[<=>]{7}|```"
    r"|/(?:undo|diff|clear|drop|add|git|run|test|lint|tokens)\b"
)
_SCREEN_CHARS = 800  # of what a person types at once
_SHOWN = "│", "█", "⋮"  # a line of code
_ANSWER_END = "</answer>"  # Cline's
_NOTE = "\n\nNote: The user's next message may contain"
_SAID = "said:\n"
_TAGGED = late_re(  # of Cline and those that come of it
    HEADER + r"(?:(?:(?:The user (?:(?:denied|approved|rejected) this operation|(?:has )?provided (?:the following )?"
    r"feedback)\b|Task was interrupted before this tool call|New instructions for task continuation:)[^\n<]{0,200}"
    r"\s{1,4}){1,2}<(?P<tag>feedback|user_message)>|<(?P<answer>answer|user_message)>)"
)
_OBJECT = late_re(  # where a person decides by a native call
    HEADER + r'(?=\{\s{0,4}"status"\s{0,2}:\s{0,2}"(?P<status>approved|denied)"\s{0,2},'
    r'\s{0,4}"message"\s{0,2}:\s{0,2}"The user (?P=status) this operation\b)'
)
_RUNS_ON = late_re(HEADER + r"Command (?:is still running|executed|completed)\b")
_RUNS_ON_SAID = "The user provided the following feedback:\n<feedback>"
_ASKS = frozenset({"ask_followup_question", "attempt_completion"})
_CLAUSE = late_re(HEADER + r"The user (?P<did>denied|approved|rejected) this operation\b")
_FED_BACK = late_re(HEADER + r"The user (?:has )?provided (?:the following )?feedback\b")
_APPROVED = "approved"


class Heard(NamedTuple):
    """What a person says in a result: ``[start, end)`` of it, and ``[first, last)``, what a tool gave besides."""

    said: str
    start: int
    end: int
    first: int
    last: int


def heard(text: str, name: str | None = None) -> Heard | None:
    """Find what a person says in a result; nothing where nobody does.

    Args:
        text: the result, with what its protocol and harness put around it.
        name: of the tool, where the row says.
    """
    if not holds_any(text[:_BEGIN_CHARS], _HINTS):  # mostly
        return None
    if text.lstrip().startswith("> ") and holds_any(text[:_BEGIN_CHARS], _OF_AIDER):
        return _of_aider(text)
    if reported := _REPORTED.match(text):
        return _of_screen(text, reported.end())
    for form, read in ((_REJECTED, _of_rejected), (_ANSWERED, _of_answers), (_OBJECT, _of_object)):
        if begun := form.match(text):
            return read(text, begun)
    if (tagged := _TAGGED.match(text)) and (found := _of_tag(text, tagged, name)):
        return found
    return _of_running(text, runs.end()) if (runs := _RUNS_ON.match(text)) else None


def verdict_of(text: str) -> str:
    """Return what a person decided of a call, where a harness says so of its result; else nothing."""
    begin = text[:_BEGIN_CHARS]
    if text == _WAS_ANSWERED or ((answered := _ANSWERED.match(begin)) and _of_answers(text, answered)):
        return "answered by the user"
    if "The user " not in begin:
        return ""
    if _REJECTED.match(begin):
        return "rejected by the user"
    if decided := _CLAUSE.match(begin):
        return f"{decided['did']} by the user"
    if decided := _OBJECT.match(begin):
        return f"{decided['status']} by the user"
    return "feedback of the user" if _FED_BACK.match(begin) else ""


def without_heard(text: str, told: Heard) -> str:
    """Return a result without a person's words; where they let a tool run, what it gave."""
    given = text[told.first : told.last]
    if told.first >= told.end and verdict_of(text).startswith(_APPROVED) and notes_at(given):
        return given
    if _ANSWERED.match(text) or text.startswith(_ANSWER_END, told.end):
        return _WAS_ANSWERED
    return text[: told.start] + text[told.end :]


def _of_rejected(text: str, rejected: re.Match[str]) -> Heard | None:
    if not rejected[0].endswith(_SAID):
        return None
    end = text.find(_NOTE, rejected.end())
    end = notes_at(text) if end < 0 else end
    said = text[rejected.end() : end].strip()
    return Heard(said, rejected.end(), end, 0, rejected.end() - 1) if said else None


def _of_aider(text: str) -> Heard | None:
    """Read what a person types in aider's history, behind and between what it reports of edits and commands."""
    typed = list(_TYPED.finditer(text))
    said = "\n".join(line[1] for line in typed).strip()
    if not said:
        return None
    start, end = typed[0].start(), typed[-1].end()
    return Heard(said, start, end, 0, len(text[:start].rstrip()))


def _of_screen(text: str, first: int) -> Heard | None:
    """Read what a person types last below what aider reports, where no mark tells the one from the other."""
    paragraph = last_match(_PARAGRAPH, text, first)
    if paragraph is None or _CONSOLE.match(text, paragraph.end()):
        return None
    start = paragraph.end()
    said = text[start:].partition("\n\n")[0].rstrip()
    if len(said) > _SCREEN_CHARS or holds_any(said, _SHOWN):
        return None
    return Heard(said, start, start + len(said), 0, len(text[:start].rstrip()))


def _of_answers(text: str, answered: re.Match[str]) -> Heard | None:
    """Read answers to questions that the agent asked, each behind its question."""
    start = answered.end()
    end = notes_at(text) - len(_ANSWERED_END)
    said = text[start:end].strip() if end > start and text.startswith(_ANSWERED_END, end) else ""
    return Heard(said, start, end, 0, start) if said else None


def _of_tag(text: str, tagged: re.Match[str], name: str | None) -> Heard | None:
    tag, start = tagged["tag"] or tagged["answer"], tagged.end()
    end = text.find(f"</{tag}>", start)
    if end < 0 or not (said := text[start:end].strip()):
        return None
    first = end + len(tag) + 3
    if tagged["answer"] and (tagged["tool"] or name) not in _ASKS:
        alone = tag == "user_message" and notes_at(text[first:]) == 0
        if not alone:
            return None
    return Heard(said, start, end, *_stripped(text, first))


def _of_object(text: str, asked: re.Match[str]) -> Heard | None:
    """Read a decision that is an object, as native calls of Roo Code have it; what a tool gave stands behind it."""
    start = asked.end()
    try:
        held, length = json.JSONDecoder().raw_decode(text[start : start + _JSON_CHARS])
    except (ValueError, RecursionError):
        return None
    said = held.get("feedback")
    if not isinstance(said, str) or not said.strip():
        return None
    for written in (json.dumps(said, ensure_ascii=False), json.dumps(said)):
        at = text.rfind(written, start, start + length)
        if at > 0:
            return Heard(said.strip(), at + 1, at + len(written) - 1, *_stripped(text, start + length))
    return Heard(said.strip(), start, start + length, *_stripped(text, start + length))


def _of_running(text: str, first: int) -> Heard | None:
    """Read what is said while a command runs on: behind its output, which it ends."""
    stop = notes_at(text)
    at = text.rfind(_RUNS_ON_SAID, first, stop)
    start, end = at + len(_RUNS_ON_SAID), stop - len("</feedback>")
    if at < 0 or text.find("</feedback>", start) != end or not (said := text[start:end].strip()):
        return None
    return Heard(said, start, end, first, first + len(text[first:at].rstrip()))


def _stripped(text: str, first: int) -> tuple[int, int]:
    """Return where the rest of a text begins and ends without spaces."""
    last = max(len(text.rstrip()), first)
    return last - len(text[first:last].lstrip()), last
