"""What a harness says of an action: that it could not be read, was wrong, or did nothing; and of an answer. Pure."""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.observation_parts import BEGIN_CHARS

_FEEDBACK = late_re(  # of small letters, as case that does not matter takes three times as long
    r"(?:your query or result is same\b|\bexecutor failed to complete\b|\A\s{0,8}unknown tool '"
    r"|your (?:last |previous )?(?:output|response|command|action|message|proposed|edit|input|code|plan|move|guess"
    r"|choice|selection)\b.{0,80}\b"
    r"(?:not|error|invalid|fail\w*|empty|could|introduced|incorrect)|invalid (?:action|format|command|response|json)"
    r"|(?:no|exactly one|more than one|multiple) (?:valid |\w{2,6} )?(?:action|command|code|code block"
    r"|function|tool)s?\b"
    r"|(?:action|command|move|request) (?:is |was )?(?:not recogni[sz]ed|ambiguous|illegal|not (?:valid|allowed"
    r"|available|understood))"
    r"|your answer is (?:wrong|correct|incorrect)|\byou have \d{1,3} (?:steps?|tries|attempts?|guesses|turns?) left"
    r"|(?:could|can) ?not (?:be )?(?:read|parsed?|understand|understood)\b|\bdid not understand\b"
    r"|\bone [^.\n]{1,20} at a time"
    r"|\b(?:patch|edit|change|diff)s? (?:was|were|has been|have been|could not be)(?: successfully)? applied\b"
    r"|\A\s{0,8}(?:all tests passed|error (?:while running|executing action))\b"
    r"|\A\s{0,8}test cases? (?:did not pass|failed|passed)\b"
    r"|\A\s{0,8}(?:command timed out|malformed command)\s{0,8}\Z"
    r"|\A\s{0,8}the buggy locations is not precise\b|\A\s{0,8}here are the code in buggy locations\b"
    r"|ambiguous (?:request|command|action)|please (?:check|choose|select|enter|pick) (?:\w+ ){0,6}?(?:action"
    r"|command|number|option|move|function|name|format|parameter|argument|spelling)s?\b"
    r"|(?:please|try to) (?:choose|resubmit|submit|guess|move|act) (?:again|a valid)|\binvalid move\b"
    r"|格式错误|请重新(?:输入|选择|提交)|\boutput of [\w.-]{1,30} is as follows|(?:failed to compile|had errors"
    r"|did not (?:compile|pass)|tests? failed)\b"
    r"[^\n]{0,40}please (?:fix|correct|try|revise)"
    r"|format(?:ting)? error|parsing error|failed to (?:match|parse)|you did not use|fix any (?:\w+ )?errors"
    r"|(?:please"
    r"|must|should) (?:always )?(?:include|provide|respond|output|use|continue)\b.{0,80}"
    r"\b(?:exactly one|one of|action|command|format|block|tool|task)s?"
    r"|(?:nothing|no) (?:happens|happened|effect|output)\b)",
    re.DOTALL,
)
_NAG = late_re(
    r"\s{0,8}(?:\[ERROR\] You did not use a tool|Your (?:last |previous )?(?:output|response) was not formatted"
    r" correctly|Please always provide EXACTLY|Previous response had parsing errors|Please continue working on the"
    r" task|I don't understand your input|You did not use|No SQL code was found"
    r"|Invalid Format: Missing '|Could not parse LLM output|Parsing LLM output produced both"  # LangChain's
    r"|Invalid or incomplete response\s{0,4}(?:\Z|Thought:))"
)
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
    if _PARSER.match(begin):
        return True
    return _FEEDBACK.search(begin.lower()) is not None and _MYSELF.search(begin) is None


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
