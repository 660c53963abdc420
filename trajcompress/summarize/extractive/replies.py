"""What agents say to people, and colleagues to an agent, as the lines of a record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from trajcompress.outcomes.compact import parse
from trajcompress.outcomes.text import clip, line_break, one_line, sentences, shorten, whole_sentences
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.choices import options_of, taken_of
from trajcompress.summarize.extractive.fit import ASKED, BRIEF_CHARS, RECENT, Line, Section
from trajcompress.summarize.extractive.quoting import binding_sentences
from trajcompress.summarize.extractive.scores import LAST, Told
from trajcompress.transcript.observations import is_request, request_text
from trajcompress.transcript.roles import addressee_of
from trajcompress.transcript.speakers import speaker_of
from trajcompress.transcript.text_protocols.acted import after_thought
from trajcompress.transcript.text_protocols.actions import find_actions
from trajcompress.transcript.text_protocols.fences import without_fenced
from trajcompress.transcript.text_protocols.written_calls import FINAL
from trajcompress.transcript.trajectory import Turn

_REPLY_CHARS, _SHORT_REPLY_CHARS = 260, 120
_FEW_WORDS, _FEW_CHARS, _STOPS = 3, 2, ".,!"  # of a person
_OPTION_CHARS = 160
_POINTS_BACK_CHARS = 120
_POINTS_BACK = late_re(
    r"\W{0,2}(?:yes|yep|yeah|no(?=[ ]?[,.!;])|nope|sure|ok(?:ay)?|correct|neither|either|both|go ahead"
    r"|please (?:do|proceed)|i (?:confirm|agree|do)|(?:that|it)(?:'s| is) (?:right|correct|fine)|sounds good)\b",
    re.IGNORECASE,
)
_OF_PLAN = late_re(  # which only a reply before has said
    r"\b(?:the|this|that|your) (?:plan|proposal|approach|suggestions?|design|outline)\b"
    r"|\b(?:el|este|ese|le|ce|der|den|il|o) plan[eo]?\b|(?:这个?|该|此)(?:计划|方案)",
    re.IGNORECASE,
)
_PLAN_CHARS = 400  # of a request
_CONFIRM = late_re(r"(?:please )?(?:confirm|let me know|tell me)\b", re.IGNORECASE)
_REPLIED = 0.5
_GREETING = late_re(
    r"(?:(?:captured|perfect|excellent|great|good(?: start| point| question| choice)?|sure(?: thing)?|certainly"
    r"|of course|got it|understood|okay|ok|absolutely|no problem|alright|thanks?(?: you)?|awesome|nice|wonderful"
    r"|fantastic|you'?re (?:welcome|absolutely right|right))[.!]\s{1,4}){1,3}",
    re.IGNORECASE,
)
_BETWEEN = " … "
_LIST_MARKS = " \t-*#>"
_LAST_SENTENCES, _CLOSES = 5, "*_\"')”’"
_THOUGHT_END = "</think>"
_THOUGHT_LABEL = late_re(
    r"\A\s{0,8}[*#\[]{0,4}(?:thoughts?|reasoning|rationale|discussion|analysis|思考)[\]*]{0,3} ?[:：]\**\s{0,4}",
    re.IGNORECASE,
)
_THINKS = late_re(r"(?:\A|(?<=\n\n))_Thinking:_[ \n](?:[^\n]|\n(?!\n)){0,8000}\s{0,4}")  # in an export of opencode
_LINES_AND_ROWS = late_re(  # of Markdown, neither of which is a sentence
    r"^[ \t]{0,8}(?:[-*_]{3,80}|\|[^\n]{0,2000}\|)[ \t]{0,8}(?:\n|\Z)", re.MULTILINE
)
_LEAST_SPACES = 3
_NOTE_CHARS, _LONG_NOTE_CHARS, _NOTED = 200, 500, 6.0
_NEAR_END, _LEAST_NEAR = 3, 6  # a third of the turns
_BEFORE = 0.5  # what is done then


def replies_of(region: Sequence[Turn], told: Sequence[Told], people: Collection[str]) -> list[Line]:
    """Quote what the assistant, and colleagues who are none of the ``people``, say, by how much is done besides."""
    lines = []
    acting = {each.step.turn for each in told if each.step.action}
    spoken: dict[int, str] = {}
    asks: dict[int, str] = {}
    for index, turn in enumerate(region):
        is_colleague = (name := speaker_of(turn)) is not None and name not in people
        acts = turn.calls or turn.answers or index in acting or _is_answered(region, index)
        speaks = is_colleague or (turn.role == "assistant" and (not acting or _is_to_people(region, index)))
        if speaks and not acts:
            spoken[index] = _spoken(turn)
            asks[index] = _answered(spoken[index], region[index + 1]) if index + 1 < len(region) else ""
    replies = {index: one_line(clip(said)) for index, said in spoken.items()}
    often = Counter(replies.values())
    for index, said in replies.items():
        if often[said] == 1 and _is_sentence(said):  # what is said again and again tells nothing
            score = _REPLIED + (0 if acting else LAST) + RECENT * (index + 1) / len(region)
            more = ASKED if asks[index] or _takes_plan(region, index) else 0
            lines.append(_reply(index, score + more, region[index].name, spoken[index], asks[index]))
    return lines


def last_note(region: Sequence[Turn]) -> list[Line]:
    """Quote what an agent said at some length beside the last call with which it did so, if that is near the end."""
    first = max(len(region) - max(len(region) // _NEAR_END, _LEAST_NEAR), 0)
    for index in reversed(range(first, len(region))):
        turn = region[index]
        if turn.role != "assistant" or not turn.calls:
            continue
        said = _ungreeted(without_fenced(_LINES_AND_ROWS.sub("", _before_calls(turn))))
        if len(one_line(said)) >= _NOTE_CHARS:
            forms = (binding_sentences(said, limit) for limit in (_LONG_NOTE_CHARS, _REPLY_CHARS))
            quoted = tuple(dict.fromkeys(f'"{form}"' for form in forms if form))
            return [Line(Section.NOTES, index - _BEFORE, _NOTED, quoted)] if quoted else []
    return []


def _before_calls(turn: Turn) -> str:
    """Return what a turn says before it acts, without the label of a thought and what it thinks in tags."""
    said = turn.text
    if turn.in_text or any(call.in_text for call in turn.calls):
        acted = find_actions(said)
        said = said[: acted.start] if acted else ""
    return _THOUGHT_LABEL.sub("", said[after_thought(said) :], count=1)


def _prose(said: str) -> str:
    """Return a text without its rules and the rows of its tables, unless there is nothing else."""
    return without if (without := _LINES_AND_ROWS.sub("", said)).strip() else said


def _ungreeted(said: str) -> str:
    """Return what is said behind a greeting, where that is anything."""
    said = said.lstrip()
    return said[greeting.end() :] if (greeting := _GREETING.match(said)) and said[greeting.end() :].strip() else said


def _is_answered(region: Sequence[Turn], index: int) -> bool:
    """Whether a result alone comes behind a turn: it did something, whether or not that can be read."""
    after = region[index + 1] if index + 1 < len(region) else None
    return after is not None and bool(after.answers) and not is_request(after)


def _spoken(turn: Turn) -> str:
    """Return what a turn tells people; where a call of its text hands that over, such as ``respond``, no more."""
    said = _THINKS.sub("", turn.text.rpartition(_THOUGHT_END)[2])
    said = _prose(said)
    acted = find_actions(said)
    call = acted.calls[-1] if acted and acted.calls else None
    if call is None or call.name.lower() not in FINAL:
        return said
    given = parse(call.arguments)
    texts = [given] if isinstance(given, str) else given.values() if isinstance(given, dict) else []
    return max((text for text in texts if isinstance(text, str)), key=len, default=said)


def _is_to_people(region: Sequence[Turn], index: int) -> bool:
    """Whether a turn of an agent that acts is for people: what others follow is of its plans, or for other agents."""
    if index + 1 < len(region):
        return is_request(region[index + 1])
    return not any(addressee_of(turn.own_role) for turn in region)


def _is_sentence(said: str) -> bool:
    """Whether something said has more than a few words, in scripts that write spaces."""
    return said.count(" ") >= _LEAST_SPACES or (not said.isascii() and any(map(str.isalnum, said)))


def _answered(spoken: str, after: Turn) -> str:
    """Return what of a reply a person answers so that nobody knows what without it: an option, or a question."""
    if not is_request(after):
        return ""
    answer, options = request_text(after), options_of(spoken)
    if taken := taken_of(options, answer):
        return shorten("; ".join(taken), _OPTION_CHARS)
    if not _is_brief(answer):
        return ""
    asked = _asked(clip(spoken))
    return "" if any(option in asked for option in options.values()) else asked


def _takes_plan(region: Sequence[Turn], index: int) -> bool:
    """Whether a person asks for what a reply has planned, which nobody knows without it."""
    after = region[index + 1] if index + 1 < len(region) else None
    return after is not None and is_request(after) and _OF_PLAN.search(request_text(after)[:_PLAN_CHARS]) is not None


def _is_brief(answer: str) -> bool:
    """Whether an answer has a few words and no id, or begins with what points back to a question."""
    if len(answer) <= _POINTS_BACK_CHARS and _POINTS_BACK.match(answer):
        return True
    words = [word.strip(_STOPS) for word in answer.split()]
    few = len(words) <= _FEW_WORDS and len(answer) <= BRIEF_CHARS
    return few and all(word.isalpha() or len(word) <= _FEW_CHARS for word in words)


def _asked(said: str) -> str:
    """Return the last question with which something said ends, or asks for an answer; nothing where it is long."""
    last = (one_line(said[start:end]) for start, end in reversed(sentences(said)[-_LAST_SENTENCES:]))
    asked = next((each for each in last if each.rstrip(_CLOSES).endswith(("?", "？")) or _CONFIRM.match(each)), "")
    return asked if len(asked) <= _SHORT_REPLY_CHARS else ""


def _reply(index: int, score: float, by: str | None, said: str, asks: str) -> Line:
    """Quote a reply, in whole sentences: what is cut amid one may say something else; with what it ``asks``."""
    said = _ungreeted(said)
    whole = one_line(clip(said))
    long = binding_sentences(said, _REPLY_CHARS) if not (by or asks) and len(whole) > _REPLY_CHARS else ""
    forms = filter(None, (long or _quoted(said, asks, _REPLY_CHARS), _quoted(said, asks, _SHORT_REPLY_CHARS)))
    quoted = (f'{by}: "{form}"' if by else f'"{form}"' for form in forms)
    return Line(Section.REPLIES, index, score, tuple(dict.fromkeys(quoted)))


def _quoted(said: str, asks: str, limit: int) -> str:
    whole = one_line(clip(said))
    if not asks or len(whole) <= limit:
        return whole_sentences(whole, limit)
    room = limit - len(asks) - len(_BETWEEN)
    begun = whole_sentences(whole, room).removesuffix(_BETWEEN.rstrip()) or _first_lines(said, room)
    return f"{begun}{_BETWEEN if begun else _BETWEEN.lstrip()}{asks}"


def _first_lines(said: str, room: int) -> str:
    """Return the lines with which a reply begins, as of a list, which has no sentences, as many as have room."""
    begun = ""
    for line in (one_line(line).strip(_LIST_MARKS) for line in clip(said).splitlines()):
        more = f"{begun}{line_break(begun) if line else ''}{line}"
        if len(more) > room:
            break
        begun = more
    return begun
