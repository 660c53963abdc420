"""Whether an assistant speaks to somebody: words beside a command that tell a person what to do with it. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.written_calls import FINAL
from trajcompress.transcript.trajectory import ToolCall

_ADDRESSES = late_re(
    r"\b(?:you|your|yours|you're|you'll|try|please|hope|feel free|let me know|here'?s (?:how|a|an|the|some)"
    r"|ejecuta|prueba|intenta|tus?|usted|führe|versuche?|probiere?|du|deine?|ihre?|essaye[rz]?|vous|votre|tente|você|seu"
    r"|попробуй(?:те)?|выполни(?:те)?|вы|ваш\w*|твой|spróbuj|wykonaj|twój)\b|[?？]|请|您|你|ください|세요",
    re.IGNORECASE,
)
_TELLS = late_re(
    r"(?:\A|[\n.:,;!] ?)(?:(?:now|then|first|next|and|just|or)[,:]? )?(?:run|execute|type|enter|paste|use|add|change"
    r"|replace|open|put"
    r"|create|save|install|start|do|check|test|write|copy|set|go|make|call|see|this|that|it"
    r"|lance[rz]?|exécutez?|tape[rz]|gib|starte|öffne|запусти(?:те)?|введи(?:те)?|esegui|lancia|digita|rode|digite"
    r"|abre|corre|voer|uruchom|wpisz|kör)\b",
    re.IGNORECASE,
)
_SPEAKS = late_re(
    r"[\s\"{:]{0,4}(?:ask|tell|inform|answer|reply to|respond to|message|speak to)[ _](?:the )?(?:user|human"
    r"|customer|client|person)",
    re.IGNORECASE,
)
_SAYS = late_re(r"(?:\{\"command\": \")?([^\W\d_]{2,20})[ (:]{1,2}\\?[\"'“„«「]")

_MANY = 3
_MOSTLY = 0.75


def addresses(text: str) -> bool:
    """Whether a text is said to somebody."""
    return _ADDRESSES.search(text) is not None


def tells(text: str) -> bool:
    """Whether a text tells somebody to do something."""
    return _TELLS.search(text) is not None


def common_lead(thoughts: Sequence[str]) -> str:
    """Return the words that stand before nearly all of some actions, and tell nobody to do anything."""
    lead, times = Counter(thoughts).most_common(1)[0] if thoughts else ("", 0)
    often = times >= max(_MANY, _MOSTLY * len(thoughts))
    return lead if often and not (addresses(lead) or tells(lead)) else ""


def hands_over(call: ToolCall) -> bool:
    """Whether a call speaks to a person, or gives the answer, rather than do something."""
    says = None if call.name else _SAYS.match(call.arguments)
    return (says[1] if says else call.name).strip().lower() in FINAL or _SPEAKS.match(call.arguments) is not None
