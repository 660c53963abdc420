"""What a harness says of an action: that it could not be read, was wrong, or did nothing; and of an answer. Pure."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.harness_words import FEEDBACK, REPLY_REFUSED
from trajcompress.transcript.text_protocols.observation_parts import BEGIN_CHARS

_FEEDBACK = late_re(rf"(?:{'|'.join(FEEDBACK)})", re.DOTALL)  # of small letters: else it takes three times as long
_NAG = late_re(rf"\s{{0,8}}(?:{'|'.join(REPLY_REFUSED)})")
_NAMES_FAULT, _GOES_ON = "Invalid Format: ", "Please continue working"
_PARSER = late_re(  # the messages of the library that games in Inform are written with, which speak as "I"
    r"\s{0,8}(?:I only understood you as far as|I don't (?:know (?:the (?:word|verb)|what you mean\.)"
    r"|understand th(?:at|e) (?:sentence|command|verb))|I (?:didn't|did not) understand (?:that|the way)"
    r"|I beg your pardon\?"
    r"|That's not (?:a verb I recogni[sz]e|something (?:you|I))|You can't see (?:any such thing|how to)"
    r"|What do you want to \w|Which do you mean, |There (?:is|was) no verb in that sentence)"
)
_KILLED = late_re(r"The last command <command>.{0,4000}?</command> (timed out[^\n.]{0,60})", re.DOTALL)
_MYSELF = late_re(r"\b(?:I|I'd|I'm|I've|I'll|my|me|mine)\b")
SUBMITTED = frozenset({"submit", "finish", "finished", "submission", "提交", "完成"})
"""Actions that hand in an answer, which the environment may judge."""
ENDED = SUBMITTED | frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "done complete completed stop exit terminate quit end task_complete report 结束 終了 완료 종료 fertig"
        " terminer terminar"
    ).split()
)
"""Actions that end a run, which the environment may confirm; they ask nobody."""
_VERDICT = late_re(
    r"\s{0,8}(?:(?:in)?correct|wrong|right|accepted|rejected|congratulations|sorry|reward|score|episode"
    r"|game over|success"
    r"|failed|passed|your (?:answer|solution|submission|flag|sql|query|code|patch)|(?:the )?(?:task|answer|flag"
    r"|solution|submission)\b)",
    re.IGNORECASE,
)
_JUDGED = late_re(
    r"\s{0,8}(?:(?:your|the) (?:answer|submission|solution|flag|patch|guess) (?:is|was) (?P<said>(?:not )?(?:correct"
    r"|incorrect|wrong|right|accepted|rejected))\b"
    r"|(?P<alone>(?:in)?correct|wrong|accepted|rejected)(?: answer)?[.!]{0,3}\s{0,8}(?:\Z|(?:please )?try again\b))",
    re.IGNORECASE,
)


def is_feedback(text: str) -> bool:
    """Whether a text begins with what a harness says of an action, and no person speaks of themselves in it."""
    begin = text[:BEGIN_CHARS]
    if is_parser(begin):
        return True
    return _FEEDBACK.search(begin.lower()) is not None and _MYSELF.search(begin) is None


def is_parser(text: str) -> bool:
    """Whether the parser of a game that is told in words says that it could make nothing of a command."""
    return _PARSER.match(text) is not None


def nag_of(text: str) -> str:
    """Return what a harness first says where it says no more than that it could not read a turn; else nothing."""
    if _NAG.match(text) is None:
        return ""
    return text.strip().partition("\n\n")[0].removeprefix(_NAMES_FAULT).removesuffix("\nThought:")


def refuses_reply(text: str) -> bool:
    """Whether a harness says that it read no action in a turn, so that nothing of it ran."""
    return _NAG.match(text) is not None and not text.lstrip().startswith(_GOES_ON)


def killed_of(text: str) -> str:
    """Return how a harness says, before all else, that it killed a command; nothing where it did not."""
    killed = _KILLED.match(text)
    return killed[1] if killed else ""


def is_verdict(text: str) -> bool:
    """Whether a text begins as what judges an answer."""
    return _VERDICT.match(text) is not None


def judged(text: str) -> str:
    """Return what a turn decides of an answer that was handed in, as ``incorrect``; nothing where it does not."""
    found = _JUDGED.match(text)
    return (found["alone"] or found["said"]).lower() if found else ""


def asks_again(text: str, name: str) -> bool:
    """Whether a text tells by which command an answer is to be handed in again, as harnesses do of a first one."""
    return name in SUBMITTED and f" {name} command" in text.lower()
