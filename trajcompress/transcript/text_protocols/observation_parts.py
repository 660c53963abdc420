"""The parts of an observation's text: what the tool gave, the wrapper of its protocol, a person's words. Pure.

The body may be cleared or cut, the wrapper stays; what a person says in the same turn stays, too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from trajcompress.processes.late_patterns import holds_any, last_match, late_re
from trajcompress.transcript.text_protocols.harness_forms import BODY_CLOSES, BODY_CLOSES_SIGNS, BODY_OPENS
from trajcompress.transcript.text_protocols.harness_words import NAGGING
from trajcompress.transcript.text_protocols.heard import heard

BEGIN_CHARS = 400
END_CHARS = 300
LONG = 1_200
TAGS = (
    "returncode|output|observation|obs|tool_response|tool_result|tool_output|function_response|function_results?"
    "|response"
    "|results?|information|stdout|stderr|environment|[Ee]xec\\w{0,20}|command_output|error|warning"
    "|observation_\\w{1,20}|documents?"
)
SPOKEN = late_re(
    r"(?:ok(?:ay)?|yes|yeah|no|hi|hello|hey|thanks?|great|good|nice|perfect|sorry|wait|sure|hmm+|well|right|cool"
    r"|awesome|exactly"
    r"|actually|now|also|next|but|and|so|then|instead|first|finally)?[,.!]?\s?\b"
    r"(?:please|can you|could you|would you|will you|are you|do you|did you|have you|should (?:i|we)|can i|i|i'm"
    r"|i'd|i've|i'll|we|my"
    r"|let'?s|don'?t|do not|make sure|why|how|what'?s|what (?:is|are|do|does|about|if)|where|who|which|when|is"
    r" (?:it|there|this|that)"
    r"|are there|does|thank|(?:use|add|remove|change|fix|rename|move|check|try|run|write|show|tell|give|explain"
    r"|create|update|keep|stop|continue|skip|ignore|translate|summari[sz]e)"
    r"\b(?![./_=(-]\w)(?! (?:made|done|failed|fails|complete[ds]?|succe\w{1,10}"
    r"|passed|saved|errors?|ok|accepted|rejected"
    r"|finished|started"
    r"|aborted|cancel\w{1,4}|illegal|invalid|is|was|has|not)\b)"
    r"|no,? no\b|hang on|hold on|(?:wait|stop|oops|ugh|argh|nope|yep)(?=[,.!…])"
    r"|(?:继续|繼續|好的|谢谢|謝謝|下一步|続けて|계속(?:해)?|продолжай(?:те)?|дальше|weiter|continúa|sigue|continuez?|avanti)"
    r"(?=\s?[。！.!]?\s{0,4}\Z)"
    r"|looks? (?:good|fine|right|wrong|ok)|that (?:looks|works)|go on|go ahead|never ?mind|that'?s)\b",
    re.IGNORECASE,
)
OTHER_TONGUES = late_re(
    r"请(?!求)|[吗呢吧您你我]|ください|ですか|ませんか|해\s?주|주세요|나요|습니까|어요|할까|[가-힣]\s?줘|고마[워웠]|그렇구나"
    r"|\b(?:стой|подожди|warte|stopp|halt,|espera|un momento|attends|arrête|aspetta|fermati|un attimo)\b"
    r"|\b(?:por favor|puedes|quiero|bitte|können|kannst|ich"
    r"|merci|s'il|peux|je|voglio|puoi|você|quero|пожалуйста|можешь|я)\b",
    re.IGNORECASE,
)
SAYS = r"(?:\[\d\d:\d\d\] )?say\(speaker=\"(?:instructor|user)\""
"""How a person speaks in WebLINX."""

_MARKED_REQUEST = late_re(
    r"\n-{6,} ?(?:[Uu]ser|[Hh]uman)\w{0,10} ?-{6,}\n"
    r"|\n(?:\[BEGIN OF QUERY\]|" + SAYS + r""
    r"|-{6,}\s{1,8}Using these APIs, now \w|\s{0,4}Your new ultimate task is:)|(?:\n\s{0,4}"
    r"|\. )The user (?:added"
    r"|rejected (?:the|your) command with) the following message:"
    r"|\n(?:[ \t]{0,4}\n[*#]{0,4} ?(?:Task|User|Human|Request|Query)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:"
    r"|\s{0,4}[*#]{0,4} ?(?:Question|(?:Human|Expert|User) feedback|New (?:question|task)|Next (?:question|task))"
    r"(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:|\s{0,4}(?:(?:Note|Hint|Word) from (?:me|the \w{1,20})\b|USER'S INPUT\b"
    r"|<(?:feedback|user\w{0,20})>|(?:Human|User) ?:(?=[^\n]{1,400}\Z)))",
)
_HANDED_ON = " the following message:"
_REQUEST_HINTS = (
    "ser",
    "SER",
    "uman",
    "Task",
    "Request",
    "Query",
    "uestion",
    "task",
    "xpert",
    " from ",
    "<feedback>",
    "QUERY",
)
_ASIDE_CHARS = 400
_LAST_LINE = late_re(
    r"^(?:bash-\$|\[(?:The command|Command|Current working|Python|Jupyter)\b[^\]\n]{0,200}\][^\n]{0,80})[ \t]*\n",
    re.MULTILINE,
)
_LAST_LINE_HINTS = ("bash-$", "[The command", "[Command", "[Current", "[Python", "[Jupyter")
_MACHINE = late_re(
    r"[\w'/ -]{1,40}[:=]|[\w.-]{1,40}@[\w.-]{1,60}[: ][~/]|(?:https?|ftp)://|[\w.-]{1,60}/[\w./-]{1,80}\Z"
)
NAGS = late_re("|".join(NAGGING), re.IGNORECASE)
_ADVICE = late_re(r"\bfor more (?:information|details|help)\b|\s-{1,2}help\b", re.IGNORECASE)
_ASKED = late_re(r"(?:can|could|would|will|do|did|is|are|what|why|how|where|which|when|who|should)\b", re.IGNORECASE)
_SENTENCE = late_re(r"[(]?[A-Z][a-z']{0,20}[,.!]? (?:[\w'’,.!?-]{1,30} ){1,80}[\w'’-]{1,30}[.!?)]{1,3}\Z")
_WORDS = late_re(r"[(]?[A-Z][^\n{}=<>|\\]{8,}[.!?)]{1,3}\Z")
_GOES_ON = late_re(r"(?:And|But|Also|Ok|Okay|Now|Instead|Thanks|Please|Wait|Stop|No,|Yes,)\b")
_INTERJECTED = late_re(
    r"(?:ok|okay|yes|stop|wait|thanks|thank you|sorry|please|hm+|nice|great)[,.!]? \w", re.IGNORECASE
)
_INTERJECTED_CHARS = 120
_BREAKS_IN = late_re(
    r"[(]?(?:hold on|hang on|oops|oh|ah|hey|btw|by the way|fyi|actually|wait|no|thanks|ok|okay)[,.!:]? [^\n]{0,300}?"
    r"\b(?:i|i'm|i've|i'd|my|me|we|our|your|you|please)\b",
    re.IGNORECASE,
)
_VOICE = late_re(r"[(\[](?:from )?[A-Z][\w.]{1,20}(?: [\w.]{1,20})?: [^\n]{1,360}[)\]]\Z")
_FIRST_PERSON = late_re(r"\b(?:[Pp]lease|[Cc]ould you|I|I'm|I've|I'd|my|me|could you|can you|thanks)\b")
_WRAPPER_BEGIN = late_re(
    rf"\s{{0,20}}(?:<returncode>[^<\n]{{0,20}}</returncode>\s{{0,4}})?"
    rf"(?:<(?P<tag>{TAGS})\b[^>\n]{{0,200}}>\n?|{'|'.join(BODY_OPENS)})"
)
_INNER = late_re(r"\s{0,4}(?:<(result|stdout|output)>\n?|<(?:tool_name|name)>[^<\n]{1,80}</(?:tool_)?name>\n?)")
_WRAPPER_END = late_re("|".join(BODY_CLOSES))
_SPACES = 4
_REMEMBERED, _REMEMBERED_CHARS = 128, 20_000


class Parts(NamedTuple):
    """An observation's text: the body stands at ``[start, end)``; ``said`` is what a person says besides."""

    start: int
    end: int
    said: str


def in_observation(text: str, aside: int | None = None) -> Parts:
    """Find the body of an observation, and what a person says in the same turn.

    Args:
        text: all of the turn.
        aside: how many of its last lines a person says, where the row tells that, and not the text alone.
    """
    return _remembered(text, aside) if len(text) <= _REMEMBERED_CHARS else _in_observation(text, aside)


@lru_cache(maxsize=_REMEMBERED)  # a row is read, cleared and measured turn by turn, and each asks
def _remembered(text: str, aside: int | None) -> Parts:
    return _in_observation(text, aside)


def _in_observation(text: str, aside: int | None) -> Parts:
    told = heard(text)
    return Parts(told.first, told.last, told.said) if told else _unmarked(text, aside)


def _unmarked(text: str, aside: int | None) -> Parts:
    """Find the parts of an observation in which a harness does not say who speaks."""
    opened = _WRAPPER_BEGIN.match(text[: 2 * BEGIN_CHARS])
    start = opened.end() if opened else 0
    if opened and "```" in opened[0]:
        fence = text.rfind("\n```", start - 1)
        if fence >= 0 and not text[fence:].strip("`\n "):
            return Parts(start, max(fence, start), "")
    tag = opened["tag"] if opened else None
    if tag and (closed := text.rfind(f"</{tag}>")) >= start:
        rest = text[closed + len(tag) + 3 :].strip()
        start, end = _inside(text, start, closed)
        nobody = aside == 0 or rest.startswith("<") or not any(map(str.isalnum, rest)) or bool(NAGS.match(rest))
        return Parts(start, end, "" if nobody else rest)
    if aside == 0:
        return Parts(start, body_end(text, start), "")
    first = max(start, len(text) - LONG)
    asked = last_match(_MARKED_REQUEST, text, first) if holds_any(text[first:], _REQUEST_HINTS) else None
    if asked is not None and not NAGS.search(text, asked.end()):
        said = asked.end() if asked[0].endswith(_HANDED_ON) else asked.start()
        return Parts(start, asked.start(), _without_tag(text[said:].strip()))
    ends = last_lines(text, aside) if aside else []
    at = ends[0][1] if ends and ends[0][1] > start else _behind_end(text, start) or _aside(text, start)
    if at is not None:
        return Parts(start, body_end(text[:at], start), text[at:].strip())
    return Parts(start, body_end(text, start), "")


def is_of_tools(said: str) -> bool:
    """Whether a sentence is what harnesses ask for, or tools advise, and nobody says."""
    return NAGS.search(said) is not None or _ADVICE.search(said) is not None


def last_lines(text: str, most: int) -> list[tuple[str, int]]:
    """Return the last lines of a text that are not blank, and where each begins; not the first of all."""
    lines: list[tuple[str, int]] = []
    end = len(text.rstrip())
    while len(lines) < most and (at := text.rfind("\n", 0, end) + 1):
        lines.append((text[at:end].rstrip(), at))
        end = len(text[:at].rstrip())
    return lines[::-1]


def _without_tag(said: str) -> str:
    """Return what stands in the tag with which a request begins; all of it where it begins with none."""
    tag = said[1 : said.find(">")] if said.startswith("<") else ""
    return said[len(tag) + 2 : said.find(f"</{tag}>")].strip() if tag and f"</{tag}>" in said else said


def _inside(text: str, start: int, closed: int) -> tuple[int, int]:
    """Return where the body is within a tag that may hold others, with the tool's name before it."""
    while inner := _INNER.match(text, start, closed):
        if inner[1] is not None:
            if (at := text.rfind(f"</{inner[1]}>", inner.end(), closed)) < 0:
                break
            closed = at
        start = inner.end()
    return start, closed - (text[closed - 1 : closed] == "\n" and closed - 1 >= start)


def body_end(text: str, start: int) -> int:
    """Return where the body ends that begins at ``start``, before what its protocol puts behind it."""
    tail = text[-4 * END_CHARS :]
    first = end = len(tail.rstrip())
    for hint in BODY_CLOSES_SIGNS:  # min() takes twice as long
        at = tail.find(hint, 0, first)
        first = first if at < 0 else at
    if first == end and len(tail) - end <= 2 * _SPACES:
        return max(start, len(text) - len(tail) + end)  # as the pattern finds, much quicker
    closing = _WRAPPER_END.search(tail, max(first - _SPACES - 1, 0))  # spaces are all that it has before a hint
    return max(start, len(text) - len(tail) + closing.start() if closing else len(text))


def _behind_end(text: str, start: int) -> int | None:
    """Return where words begin behind the line by which a protocol ends an observation."""
    first = max(start, len(text) - LONG)
    if text.startswith("```", start) or text.startswith("\n```", start):
        at = text.rfind("\n```", start + 4)
        at = at + 4 if at >= first else -1
    else:
        ends = holds_any(text[first:], _LAST_LINE_HINTS)  # mostly none, which is found much quicker
        last = last_match(_LAST_LINE, text, first) if ends else None
        at = last.end() if last else -1
    return at if at >= 0 and _may_speak(text[at:].strip()) else None


def _may_speak(said: str) -> bool:
    """Whether a text behind the end of an observation may be a person's: no label, nor anything of a machine's."""
    return len(said) <= LONG and said[:1].isalpha() and _MACHINE.match(said) is None


def _aside(text: str, start: int) -> int | None:
    """Return where a last paragraph begins that reads like a person's, behind a result."""
    at = text.rstrip().rfind("\n\n", start)
    if at < start:  # mostly
        return None
    said = text[at:].strip()
    if not said or len(said) > _ASIDE_CHARS or "\n" in said or is_of_tools(said):
        return None
    before = text[start:at].strip()
    if before[:1] in {"{", "["} and before.endswith(("}", "]")):  # JSON is whole
        return at if _may_speak(said) else None
    return at if _is_spoken(said) or _is_foreign(said, before) else None


def _is_spoken(said: str) -> bool:
    plain = said.strip("()")
    if _SENTENCE.match(said) and (_FIRST_PERSON.search(said) or SPOKEN.match(plain) or _GOES_ON.match(plain)):
        return True
    if _BREAKS_IN.match(said) or (_VOICE.match(said) and _FIRST_PERSON.search(said)):
        return True
    if _WORDS.match(said) and (_ASKED.match(plain) or _FIRST_PERSON.search(said)) and said.endswith("?"):
        return True
    return len(said) <= _INTERJECTED_CHARS and _INTERJECTED.match(said) is not None


def _is_foreign(said: str, before: str) -> bool:
    """Whether words address somebody in another language, behind output that does not."""
    return OTHER_TONGUES.search(said) is not None and OTHER_TONGUES.search(before[-2 * BEGIN_CHARS :]) is None
