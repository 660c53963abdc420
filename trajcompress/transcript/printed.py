"""What an environment prints, and what a person says: forms of a user turn's text. Pure.

An observation has a body, which is what the tool gave, and often a wrapper that its protocol puts around it. The body
may be cleared or cut, the wrapper stays; what a person says in the same turn stays, too.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import CLEARED_LINE

_BEGIN_CHARS = 400
_END_CHARS = 300

_TAGS = (
    "returncode|output|observation|obs|tool_response|tool_result|tool_output|function_response|function_results?"
    "|response"
    "|results?|information|stdout|stderr|environment|exec\\w{0,20}|command_output|error|warning"
    "|observation_\\w{1,20}|documents?"
)
_CERTAIN_BEGIN = late_re(
    r"\s{0,20}(?:<(?:returncode|observation|obs|tool_response|tool_result|tool_output|function_response"
    r"|function_results?"
    r"|exec\w{1,20}|command_output|information)\b[^>\n]{0,200}>"
    r"|[*#]{0,4} ?(?:OBSERVATION|Observation|Obs)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:"
    r"|EXECUTION RESULT of \[|Execution (?:output|result|log)s?\b[^\n]{0,60}:|\[?(?:Execution|Tool|Function"
    r"|Command) (?:result|output|response)\b[^\n]{0,60}[:\]]"
    r"|exit ?code: -?\d{1,3} \((?:execution )?\w{2,12}\)|TOOL (?:RESPONSE|RESULT|OUTPUT)\b|(?:Tool|Function"
    r"|Command) [\w.-]{1,60} returned"
    r"|Command [\w.-]{1,60} returned|Response from (?:the )?(?:tool|function|environment)|The output of the OS"
    r"|The result of executing that"
    r"|\[[\w-]{2,40}(?: for [^\]\n]{0,300})?\] Result:|\[File: [^\n]{1,300} \(\d{1,7} lines total\)\]"
    r"|(?:观察|观测|观察结果|执行结果|返回结果|工具返回|観察|観測|実行結果|관찰|실행 결과)(?:结果|結果)?[ \t]?[:：]"
    r"|(?:BEOBACHTUNG|Beobachtung|OBSERVACIÓN|Observación|OSSERVAZIONE|Osservazione|OBSERVAÇÃO|Observação"
    r"|НАБЛЮДЕНИЕ|Наблюдение)[ \t]?:|Here is the (?:response|result|output) (?:from|of) the [A-Z]{3,7} request\b"
    r"|Code output:|The code above was executed"
    r"|I ran this command:|New Terminal Output:|Current terminal state:|\[(?:System|Environment|Env|Tool)\] "
    r"|Environment:"
    r"|[^\n]{0,300}\[(?:SEP|button)\] "
    r"|Here'?s the result of running|Ran Playwright|Tool ran without output|Your command ran successfully|Old"
    r" environment output)"
)
_CERTAIN_END = late_re(
    r"(?:bash-\$|\(Current directory: [^\n]{0,200}\)\s{0,4}(?:bash-\$)?|\[(?:The command|Command|Python"
    r"|Jupyter)\b[^\]\n]{0,200}\]"
    r"|</(?:observation|obs|tool_response|tool_result|function_response|function_results?|exec\w{1,20}"
    r"|command_output)>"
    r"|\[The command completed with exit code -?\d{1,3}\.\][^\n]{0,80})\s{0,20}\Z"
)
_NAMED_BEGIN = late_re(
    rf"\s{{0,20}}(?:<(?:{_TAGS})\b[^>\n]{{0,200}}>|HTTP/\d|\[\d{{1,4}}\] RootWebArea|\s{{0,8}}RootWebArea"
    r"|(?:URL|Current (?:URL|page|web page)|Page (?:URL|Title)|Status(?: code)?|STDOUT|STDERR|stdout|stderr"
    r"|Output|OUTPUT|Result|RESULT|Return(?:ed)? value|Response|Returned)[ \t]?:"
    r"|(?:ERGEBNIS|AUSGABE|RÉSULTAT|SORTIE|RESULTADO|SALIDA|SAÍDA|RISULTATO|РЕЗУЛЬТАТ|OUTPUT|RESULT)[ \t]?(?::|\n)"
    r"|(?:Ergebnis|Ausgabe|Résultat|Sortie|Resultado|Salida|Saída|Risultato|Результат|结果|輸出|输出|結果|결과|출력)"
    r"[ \t]?[:：]"
    r"|\[Python Interpreter|\[\d{1,4}\] <|Instruction: \[SEP\]|WebShop \[SEP\])"
)
_SHAPED = late_re(
    r"Traceback \(most recent call last\)|^\s{0,4}File \"[^\"\n]{1,300}\", line \d|command not found|No such file"
    r" or directory|Permission denied"
    r"|^(?:[\w.]{0,60}(?:Error|Exception|Warning))\b[: ]|^[-dlrwx]{10}\s|^total \d|^\s{0,4}\d{1,6}[:|\t] ?"
    r"|^(?:[\w.-]{1,60}/)+[\w.-]{1,60}$|^[\[({<]"
    r"|^\s{0,8}\"[\w-]{1,40}\":|^\S{1,60}[=:]\S|\[SEP\]|^(?:diff|\+\+\+|---|@@) |^=+ |^\| |\t\S{1,40}\t"
    r"|^[\w.-]{1,40}: line \d|^>>> |[$#>] ?\Z|^[●○×↻] \S+\.\w+ "
    r"|^(?:\w{3} [ \d]\d|\d{4}-\d\d-\d\d)[ T]\d\d:\d\d:\d\d",
    re.MULTILINE,
)
_SPOKEN = late_re(
    r"(?:ok(?:ay)?|yes|yeah|no|hi|hello|hey|thanks?|great|good|nice|perfect|sorry|wait|sure|hmm+|well|right|cool"
    r"|awesome|exactly"
    r"|actually|now|also|next|but|and|so|then|instead|first|finally)?[,.!]?\s?\b"
    r"(?:please|can you|could you|would you|will you|are you|do you|did you|have you|should (?:i|we)|can i|i|i'm"
    r"|i'd|i've|i'll|we|my"
    r"|let'?s|don'?t|do not|make sure|why|how|what'?s|what (?:is|are|do|does|about|if)|where|who|which|when|is"
    r" (?:it|there|this|that)"
    r"|are there|does|thank|use|add|remove|change|fix|rename|move|check|try|run|write|show|tell|give|explain"
    r"|create|update|keep"
    r"|stop|go on|go ahead|continue|skip|ignore|never ?mind|translate|summari[sz]e|that'?s)\b",
    re.IGNORECASE,
)
_CHATTY = late_re(r"(?:[.!?;]\s|\n)\s{0,4}" + _SPOKEN.pattern, re.IGNORECASE)
_SELF = late_re(
    r"\b(?:please|can you|could you|would you|i'm|i am|i want|i need|i think|i would|i'd|i'll|i get|i got|i have"
    r"|i don'?t|i can'?t"
    r"|i tried|i prefer|i see|my|thanks|thank you|let'?s|for me|help me|tell me|show me|give me)\b|[?？]\s{0,4}\Z",
    re.IGNORECASE,
)
_OTHER_TONGUES = late_re(
    r"[请吗呢吧您你我]|ください|ですか|ません(?:か)?|해\s?주|주세요|나요|습니까|어요|할까"
    r"|\b(?:por favor|puedes|quiero|bitte|können|kannst|ich"
    r"|merci|s'il|peux|je|voglio|puoi|você|quero|пожалуйста|можешь|я)\b",
    re.IGNORECASE,
)
_OBJECT = late_re(r"[\[{]\s{0,8}[\"'{\[]")
_LONG = 1_200
_QUESTION_CHARS = 100
_SHORT = 400
_MOST_LINES = 6
_MARKED_REQUEST = late_re(
    r"\n(?:[ \t]{0,4}\n[*#]{0,4} ?(?:Task|User|Human|Request|Query)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:"
    r"|\s{0,4}[*#]{0,4} ?(?:Question|Human feedback|New (?:question|task)|Next (?:question|task))"
    r"(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:|\s{0,4}(?:(?:Note|Hint|Word) from (?:me|the \w{1,20})\b|USER'S INPUT\b"
    r"|<(?:feedback|user\w{0,20})>))",
)
_LINE_CHARS = 1_000
_ASIDE_CHARS = 400
_LAST_LINE = late_re(
    r"^(?:bash-\$|\[(?:The command|Command|Python|Jupyter)\b[^\]\n]{0,200}\][^\n]{0,80})[ \t]*\n", re.MULTILINE
)
_LAST_LINE_HINTS = ("bash-$", "[The command", "[Command", "[Python", "[Jupyter")
_MACHINE = late_re(r"[\w'/ -]{1,40}[:=]|(?:https?|ftp)://|[\w.-]{1,60}/[\w./-]{1,80}\Z")
_NAGS = late_re(r"what'?s next\b|\byou have \d+ |please (?:call|proceed|continue)\b|\btry again\b", re.IGNORECASE)
_ASKED = late_re(r"(?:can|could|would|will|do|did|is|are|what|why|how|where|which|when|who|should)\b", re.IGNORECASE)
_SENTENCE = late_re(r"[(]?[A-Z][a-z']{0,20}[,.!]? (?:[\w'’,.!?-]{1,30} ){1,80}[\w'’-]{1,30}[.!?)]{1,3}\Z")
_WORDS = late_re(r"[(]?[A-Z][^\n{}=<>|\\]{8,}[.!?)]{1,3}\Z")
_GOES_ON = late_re(r"(?:And|But|Also|Ok|Okay|Now|Instead|Thanks|Please|Wait|Stop|No,|Yes,)\b")
_INTERJECTED = late_re(
    r"(?:ok|okay|yes|stop|wait|thanks|thank you|sorry|please|hm+|nice|great)[,.!]? \w", re.IGNORECASE
)
_INTERJECTED_CHARS = 120
_FIRST_PERSON = late_re(r"\b(?:[Pp]lease|[Cc]ould you|I|I'm|I've|I'd|my|me|could you|can you|thanks)\b")


class Printed(NamedTuple):
    """What a user turn looks like.

    ``certain``: a form that only environments write; ``named``: one that people hardly write, and may paste;
    ``shaped``: it has the shape of output; ``person``: it reads like a person; ``chatty``: a person may say it,
    though games and pages write so, too; ``pasted``: it is output, with a person's words behind it. ``begin`` is the
    beginning of the text.
    """

    begin: str
    certain: bool
    named: bool
    shaped: bool
    person: bool
    chatty: bool
    pasted: bool


class Parts(NamedTuple):
    """An observation's text: the body stands at ``[start, end)``; ``said`` is what a person says besides."""

    start: int
    end: int
    said: str


def printed(text: str) -> Printed:
    """Say what a user turn looks like."""
    start, stop, said = in_observation(text)
    front = text.rstrip()[: -len(said)].rstrip() if said else text
    begin, end = text[:_BEGIN_CHARS], text[-_END_CHARS:]
    asks = len(front) < _QUESTION_CHARS and front.rstrip().endswith("?")  # quotes a form to ask about it
    certain = not asks and (_CERTAIN_BEGIN.match(begin) is not None or _CERTAIN_END.search(end) is not None)
    certain = certain or (stop - start < _LINE_CHARS and CLEARED_LINE.fullmatch(text[start:stop].strip()) is not None)
    named = certain or _NAMED_BEGIN.match(begin) is not None
    ended = bool(said) and _CERTAIN_END.search(front[-_END_CHARS:]) is not None
    named = named or ended
    shaped = named or _SHAPED.search(begin) is not None or not text.strip()
    person = not (certain or ended) and _reads_like_person((front if named else text).strip(), shaped=shaped)
    chatty = person or (not shaped and len(text) <= _LONG and _CHATTY.search(text) is not None)
    pasted = bool(said) and shaped and not _reads_like_person(front.strip(), shaped=True)
    return Printed(begin, certain, named, shaped, person, chatty, pasted)


def _reads_like_person(text: str, *, shaped: bool) -> bool:
    if not text or len(text) > _LONG:
        return False
    if shaped and (text.count("\n") >= _MOST_LINES or (_OBJECT.match(text) and text.endswith(("}", "]")))):
        return False
    edges = f"{text[:160]}\n{text[-120:]}" if shaped or len(text) > _SHORT else text
    if _SELF.search(edges) or (not shaped and _SPOKEN.match(text)):
        return True
    return not text.isascii() and not shaped and _OTHER_TONGUES.search(text) is not None


_WRAPPER_BEGIN = late_re(
    rf"\s{{0,20}}(?:<returncode>[^<\n]{{0,20}}</returncode>\s{{0,4}})?(?:<(?P<tag>{_TAGS})\b[^>\n]{{0,200}}>\n?"
    r"|[*#]{0,4} ?(?:OBSERVATION|Observation|Obs)(?:[ \t]?\d{1,3})?[ \t]?\**[ \t]?:[ \t]?\n?"
    r"|EXECUTION RESULT of \[[^\]\n]{0,200}\]:?[ \t]?\n?|TOOL (?:RESPONSE|RESULT|OUTPUT):?[ \t]?\n?"
    r"|(?:Command|Tool|Function) [\w.-]{1,60} returned:?[ \t]?\n?"
    r"|(?:OUTPUT|Output|RESULT|Result|ERGEBNIS|Ergebnis|执行结果|观察|Beobachtung)[ \t]?(?:[:：][ \t]?\n?|\n)"
    r"|\[[\w-]{2,40}(?: for [^\]\n]{0,300})?\] Result:\n?|exit ?code: -?\d{1,3} \([^)\n]{0,40}\)\s{0,4}(?:Code"
    r" output:[ \t]?)?)"
)
_WRAPPER_END = late_re(
    r"\n?\s{0,4}(?:\((?:Open file|Current directory|Interactive session): [^\n]{0,300}\)\s{0,4}){0,3}"
    r"(?:bash-\$)?\s{0,4}\Z"
    r"|(?:\n?\[(?:The command|Command|Python|Jupyter)\b[^\]\n]{0,200}\][^\n]{0,80}){1,4}\s{0,4}\Z"
)
_WRAPPER_HINTS = (
    "(Open file: ",
    "(Current directory: ",
    "(Interactive ",
    "bash-$",
    "[The ",
    "[Comm",
    "[Python",
    "[Jupyter",
)
_SPACES = 4


def in_observation(text: str) -> Parts:
    """Find the body of an observation, and what a person says in the same turn."""
    opened = _WRAPPER_BEGIN.match(text[: 2 * _BEGIN_CHARS])
    start = opened.end() if opened else 0
    tag = opened["tag"] if opened else None
    if tag and (closed := text.rfind(f"</{tag}>")) >= start:
        rest = text[closed + len(tag) + 3 :].strip()
        end = closed - (text[closed - 1 : closed] == "\n" and closed - 1 >= start)
        return Parts(start, end, "" if rest.startswith("<") or not any(map(str.isalnum, rest)) else rest)
    asked = None
    for asked in _MARKED_REQUEST.finditer(text, max(start, len(text) - _LONG)):  # noqa: B007 - the last one
        pass
    if asked is not None:
        return Parts(start, asked.start(), text[asked.start() :].strip())
    if (aside := _behind_end(text, start) or _aside(text, start)) is not None:
        return Parts(start, _closed(text[:aside], start), text[aside:].strip())
    return Parts(start, _closed(text, start), "")


def _closed(text: str, start: int) -> int:
    """Return where the body ends, before what its protocol puts behind it."""
    tail = text[-4 * _END_CHARS :]
    first = end = len(tail.rstrip())
    for hint in _WRAPPER_HINTS:  # min() takes twice as long
        at = tail.find(hint, 0, first)
        first = first if at < 0 else at
    if first == end and len(tail) - end <= 2 * _SPACES:
        return max(start, len(text) - len(tail) + end)  # as the pattern finds, much quicker
    closing = _WRAPPER_END.search(tail, max(first - _SPACES - 1, 0))  # spaces are all that it has before a hint
    return max(start, len(text) - len(tail) + closing.start() if closing else len(text))


def _behind_end(text: str, start: int) -> int | None:
    """Return where words begin behind the line by which a protocol ends an observation."""
    first = max(start, len(text) - _LONG)
    if text.startswith("```", start) or text.startswith("\n```", start):
        at = text.rfind("\n```", start + 4)
        at = at + 4 if at >= first else -1
    else:
        last, tail = None, text[first:]
        if any(map(tail.__contains__, _LAST_LINE_HINTS)):  # mostly none, which is found much quicker
            for last in _LAST_LINE.finditer(text, first):  # noqa: B007 - the last one
                pass
        at = last.end() if last else -1
    return at if at >= 0 and _may_speak(text[at:].strip()) else None


def _may_speak(said: str) -> bool:
    """Whether a text behind the end of an observation may be a person's: no label, nor anything of a machine's."""
    return len(said) <= _LONG and said[:1].isalpha() and _MACHINE.match(said) is None


def _aside(text: str, start: int) -> int | None:
    """Return where a last paragraph begins that reads like a person's, behind a result."""
    at = text.rstrip().rfind("\n\n", start)
    if at < start:  # mostly
        return None
    said = text[at:].strip()
    if not said or len(said) > _ASIDE_CHARS or "\n" in said or _NAGS.search(said):
        return None
    before = text[start:at].strip()
    if before[:1] in {"{", "["} and before.endswith(("}", "]")):  # JSON is whole
        return at if _may_speak(said) else None
    return at if _is_spoken(said) or _is_foreign(said, before) else None


def _is_spoken(said: str) -> bool:
    plain = said.strip("()")
    if _SENTENCE.match(said) and (_FIRST_PERSON.search(said) or _SPOKEN.match(plain) or _GOES_ON.match(plain)):
        return True
    if _WORDS.match(said) and (_ASKED.match(plain) or _FIRST_PERSON.search(said)) and said.endswith("?"):
        return True
    return len(said) <= _INTERJECTED_CHARS and _INTERJECTED.match(said) is not None


def _is_foreign(said: str, before: str) -> bool:
    """Whether words address somebody in another language, behind output that does not."""
    return _OTHER_TONGUES.search(said) is not None and _OTHER_TONGUES.search(before[-2 * _BEGIN_CHARS :]) is None
