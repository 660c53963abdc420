"""Answers of those that a turn hands its work to: agents or functions, which answer under their own name. Pure.

A planner writes ``To Coder: …`` or ``"send_to": "Coder"``, and the next turn is the coder's, by its label or by the
name that the row gives the speaker. A function that the last line calls answers as ``size -> 3``. A form that a
person fills in has labels, too, but nothing was sent to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.openings import label_of
from trajcompress.transcript.trajectory import Turn

_LEAST = 2
_SENT_CHARS = 4_000
_LINE_CHARS = 500
_SENT = (
    late_re(r"^[ \t>*#-]{0,6}(?:To|TO|An|À|Para|@|->|→)[ \t]?\**([^\W\d_][\w -]{0,30}?)\**[ \t]?[:,]", re.MULTILINE),
    late_re(
        r"\"(?:send_?to|to|recipient|receiver|next(?:_speaker|_agent)?|agent|assign(?:ed_to|ee)?)\"\s?:\s?\"([^\"\n]{1,30})\""
    ),
)
_CALLED = late_re(r"\b([A-Za-z_][\w.]{2,60})\([^\n]{0,400}\)[`.;]{0,4}\Z")
_GIVES = late_re(r"\s{0,8}`?([A-Za-z_][\w.]{2,60})(?:\([^\n]{0,200}\))?`?\s?(?:->|=>|→|returned|returns|:|=)\s")
_PEOPLE = late_re(
    r"(?:the )?(?:user|human|customer|client|person|admin|me|you|kunde|kundin|nutzer|benutzer|usuario|cliente"
    r"|utilisateur|客户|用户|ユーザー?|사용자)\b",
    re.IGNORECASE,
)


def delegated(turns: Sequence[Turn], replies: Iterable[int]) -> set[int]:
    """Return which of some user turns are answers of those that the turn before is sent to; nothing where one is.

    Args:
        turns: all turns of a row.
        replies: user turns, each behind an assistant's.
    """
    found = {i for i in replies if _answers(turns[i], turns[i - 1].text)}
    return found if len(found) >= _LEAST else set()


def named_alike(turns: Sequence[Turn], replies: Iterable[int], is_output: Callable[[int], bool]) -> set[int]:
    """Return the turns of those whom the row names, who never ask first, and who mostly print.

    Args:
        turns: all turns of a row.
        replies: user turns, each behind an action.
        is_output: whether the turn of an index may be what an environment prints.
    """
    asks = next((turn.name for turn in turns if turn.role == "user"), None)
    of: dict[str, list[int]] = {}
    for i in replies:
        if (name := turns[i].name) and name != asks and not _PEOPLE.match(name):
            of.setdefault(name, []).append(i)
    return {
        i for said in of.values() if len(said) >= _LEAST and 2 * sum(map(is_output, said)) >= len(said) for i in said
    }


def is_person(label: str) -> bool:
    """Whether a label is that of a person who asks."""
    return _PEOPLE.match(label) is not None


def _answers(reply: Turn, text: str) -> bool:
    gives = _GIVES.match(reply.text)
    if gives and (called := _CALLED.search(text[-2 * _LINE_CHARS :])) and called[1] == gives[1]:
        return True
    name = _speaker(reply)
    return name != "" and name in _sent_to(text)


def _speaker(turn: Turn) -> str:
    name = (turn.name or label_of(turn.text).rstrip(":：")).strip(" *[]").casefold()
    return "" if _PEOPLE.match(name) else name


def _sent_to(text: str) -> set[str]:
    part = text if len(text) <= 2 * _SENT_CHARS else f"{text[:_SENT_CHARS]}\n{text[-_SENT_CHARS:]}"
    return {name.strip().casefold() for pattern in _SENT for name in pattern.findall(part)}
