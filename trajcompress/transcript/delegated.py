"""Answers of those that a turn hands its work to: agents of a team, which answer under their own name. Pure.

A planner writes ``To Coder: …`` or ``"send_to": "Coder"``, and the next turn is the coder's, by its label or by the
name that the row gives the speaker. A form that a person fills in has labels, too, but nothing was sent to them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.openings import label_of
from trajcompress.transcript.trajectory import Turn

_LEAST = 2
_SENT_CHARS = 4_000
_SENT = (
    late_re(r"^[ \t>*#-]{0,6}(?:To|TO|An|À|Para|@|->|→)[ \t]?\**([^\W\d_][\w -]{0,30}?)\**[ \t]?[:,]", re.MULTILINE),
    late_re(
        r"\"(?:send_?to|to|recipient|receiver|next(?:_speaker|_agent)?|agent|assign(?:ed_to|ee)?)\"\s?:\s?\"([^\"\n]{1,30})\""
    ),
)
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
    found = {i for i in replies if (name := _speaker(turns[i])) and name in _sent_to(turns[i - 1].text)}
    return found if len(found) >= _LEAST else set()


def _speaker(turn: Turn) -> str:
    name = (turn.name or label_of(turn.text).rstrip(":：")).strip(" *[]").casefold()
    return "" if _PEOPLE.match(name) else name


def _sent_to(text: str) -> set[str]:
    part = text if len(text) <= 2 * _SENT_CHARS else f"{text[:_SENT_CHARS]}\n{text[-_SENT_CHARS:]}"
    return {name.strip().casefold() for pattern in _SENT for name in pattern.findall(part)}
