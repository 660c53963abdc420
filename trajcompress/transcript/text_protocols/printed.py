"""What an environment prints, and what a person says: forms of a user turn's text. Pure.

Whether one is an observation is decided from the whole row: :mod:`trajcompress.transcript.observations`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trajcompress.processes.late_patterns import holds_any, last_match, late_re
from trajcompress.transcript.line_numbers import NUMBER
from trajcompress.transcript.summary_marks import is_cleared_line
from trajcompress.transcript.text_protocols.harness_forms import RESULT_BEGINS, RESULT_ENDS, RESULT_SENTENCES
from trajcompress.transcript.text_protocols.observation_parts import (
    BEGIN_CHARS,
    END_CHARS,
    LONG,
    NAGS,
    OTHER_TONGUES,
    SAYS,
    SPOKEN,
    TAGS,
    in_observation,
)
from trajcompress.transcript.text_protocols.result_labels import OF_COMMAND

_CERTAIN_BEGIN = late_re(rf"\s{{0,20}}(?:{'|'.join(RESULT_BEGINS)})")
_UNMISTAKABLE = late_re(rf"\s{{0,20}}(?:{'|'.join(RESULT_SENTENCES)})")
_CERTAIN_END = late_re(rf"(?:{'|'.join(RESULT_ENDS)})\s{{0,20}}\Z")
_OUTPUT_BEGIN = late_re(r"\s{0,4}\{\s?['\"](?:output|stdout)['\"]: ?['\"\[]")  # of a dictionary of both streams
_ERROR_END = late_re(r"[,\s]['\"](?:error|stderr)['\"]: ?['\"\[][^\n]{0,400}\}\s{0,4}\Z")
_NAMED_BEGIN = late_re(
    rf"\s{{0,20}}(?:{OF_COMMAND}|<(?:{TAGS})\b[^>\n]{{0,200}}>|HTTP/\d|\[\d{{1,4}}\] RootWebArea|\s{{0,8}}RootWebArea"
    r"|(?:URL|Current (?:URL|page|web page)|Page (?:URL|Title)|Status(?: code)?|STDOUT|STDERR|stdout|stderr"
    r"|Output|OUTPUT|Result|RESULT|Return(?:ed)? value|Response|Returned)[ \t]?:"
    r"|(?:ERGEBNIS|AUSGABE|RÉSULTAT|SORTIE|RESULTADO|SALIDA|SAÍDA|RISULTATO|РЕЗУЛЬТАТ|OUTPUT|RESULT)[ \t]?(?::|\n)"
    r"|(?:Ergebnis|Ausgabe|Résultat|Sortie|Resultado|Salida|Saída|Risultato|Результат|结果|輸出|输出|結果|결과|출력)"
    r"[ \t]?[:：]"
    r"|Episode (?:finished|ended)\b|\[Python Interpreter|\[\d{1,4}\] <"
    r"|\[\d{0,5}\] \[[A-Za-z]{1,20}\] \[|Instruction: \[SEP\]|WebShop \[SEP\])"
)
_PHRASES = (
    "Traceback (most recent call last)",
    "command not found",
    "No such file or directory",
    "Permission denied",
    "[SEP]",
)
_SHAPED_LINE = late_re(  # a newline is found in a fraction of the time of the start of a line
    r"\n(?:\s{0,4}File \"[^\"\n]{1,300}\", line \d|(?:[\w.]{0,60}(?:Error|Exception|Warning|Fehler|Erreur"
    r"|Errore|Erro|Ошибка|Błąd|Hata))\b[: ]"
    r"|⊢ |(?:true|false)\.$|[\w-]{1,30}\.[\w.-]{1,40}: \S|[A-Z][a-z]{1,20}(?:[A-Z][a-z]{1,20}){2,4}: \S"
    r"|[1-5]\d\d[ -][A-Z][a-z]{1,20} [a-z]"  # of FTP and SMTP
    r"|(?:错误|錯誤|エラー|오류)[:：]|[-dlrwx]{10}\s"
    r"|(?:CREATE|ALTER|DROP|INSERT) (?:TABLE|INDEX|VIEW|UNIQUE|INTO) "
    rf"|total \d|\s{{0,5}}{NUMBER} ?"
    r"|(?:[\w.-]{1,60}/)+[\w.-]{1,60}$|/[\w.-]{1,60}(?=\n/)|[\[({<]"
    r"|\s{0,8}\"[\w-]{1,40}\":|\S{1,60}[=:]\S|(?:FAILED|PASSED) \S|[A-Za-z_][\w.]{0,30} = \S|(?:diff|\+\+\+|---"
    r"|@@) |=+ |\| "
    r"|[\w.-]{1,40}: line \d|>>> |[●○×↻] \S+\.\w+ "
    r"|[ |+]{0,3}-{3,}[-+|: ]{0,200}$|(?:\w{3} [ \d]\d|\d{4}-\d\d-\d\d)[ T]\d\d:\d\d:\d\d)",
    re.MULTILINE,
)
_VALUE = late_re(
    r"none|null|nil|undefined|nan|true|false|success(?:ful)?\.?"
    r"|(?:all |\d{1,5} of )?\d{1,6} (?:tests? |checks? )?(?:have )?(?:passed|failed)[.,;]?[^\n]{0,80}",
    re.IGNORECASE,
)
_COMPLAINS = late_re(r"\s{0,8}(?:\S{1,80}:\d{1,6}: )?(?:fatal )?(?:error|warning|fatal)(?:\[\w{1,10}\])?: \S")
_FAILURE = late_re(
    r"Traceback \(most recent call last\)|\b[A-Z]\w{0,40}(?:Error|Exception|Warning): \S|\b(?:npm ERR!|FAILED \S)"
    r"|(?:^|[\s:])(?:fatal )?(?:[Ee]rror|ERROR|[Ww]arning|fatal)(?:\[\w{1,10}\])?: \S",
)
_REQUEST_CHARS = 4_000
_MAIL = late_re(
    r"\s{0,20}(?:(?:From|To|Cc|Date|Sent|Subject|Von|An|Betreff|De|Para|Asunto|Objet|Datum): [^\n]{1,200}\n){2}"
)
_ENTRY = late_re(r"\s{0,40}(?:- )?[\w.\"'-]{1,40}:(?: [^\n]{0,300})?|\s{0,40}- [^\n]{1,200}")
_COLUMNS = late_re(r"\n[^\n]*\S {2,}\S[^\n]*\n[^\n]*\S {2,}\S")
_SIGNS = frozenset("=<>{}[]()|#$%/\\_:;~^*+-0123456789\"'&@" + "⊢→←↔∀∃∈≤≥≠≈∧∨¬∑∏√∞×÷│─┌┐└┘├┤█▓░●○■□▲▼★")
_DENSE = 0.25  # of what is no space
_SHAPED_WITHIN = late_re(r"\t\S{1,40}\t|[$#>] ?\Z")
# Of small letters, as case that does not matter takes three times as long.
_CHATTY = late_re(r"(?:[.!?;]\s|\n)\s{0,4}" + SPOKEN.pattern)
_SELF = late_re(
    r"(?<!\w)(?:please|can you|could you|would you|i'm|i am|i want|i need|i think|i would|i'd|i'll|i get|i got|i have"
    r"|i don'?t|i can'?t"
    r"|i tried|i prefer|i see|my(?! [$@%])|thanks|thank you|let'?s|for me|(?:that|it) was me|help me|tell me|show me"
    r"|give me)\b|[?？]\s{0,4}\Z",
)
_SELF_HINTS = ("?", "？", "i'", "i ", "my", " me", "let's", "lets", " you", "thank", "please")  # one is in all of it
_ASKS = late_re(  # in what follows a word such as "Observation:", that people begin with as well
    r"(?:(?:^|[.;,!?:)]\s|\n)\s{0,4}(?:and |then |so |just |also |now )?(?:add|ask|bump|call|change|check|convert"
    r"|delete|deploy|do|drop|ensure|explain|fix|go|ignore|keep|kill|make|move|redeploy|redo|refactor|remove"
    r"|rename|replace"
    r"|rerun|restart|retry|revert|rewrite|run|send|skip|speed|start|stop|support|switch|tell|translate|use|write)\b"
    r"|\b(?:please|should be|you (?:never|did|have|forgot)|I|I'm|I'd|my|me)\b)",
    re.IGNORECASE,
)
_NARRATED = late_re(  # of a game: what you did, and nothing that is asked of you
    r"你(?!好|能|可|帮|应|要|再|先|的|说|试|需|必|得|有没|是不|看(?![到见]))[^你您我吗呢吧请？?\n]{2,200}"
)
_OBJECT = late_re(r"[\[{]\s{0,8}[\"'{\[]")
_NOBODY_WRITES = ("<", "`", "[GAME", "[Player", "---", "-=")
_SIGNED = ("<", "`", "[", "-=")
_SPEAKS = late_re(
    rf"\s{{0,8}}(?:{SAYS}|(?:SYSTEM: {{1,4}})?Human feedback:|(?:用户|使用者|ユーザー|사용자|Пользователь)[:：])"
)
_QUESTION_CHARS = 100
_NAG_CHARS = 200
_NAG_HINTS = (
    "please",
    "give me",
    "next",
    "again",
    "you have",
    "last comment",
    "now ",
    "one ",
    "another",
    "a different",
    "did not",
)  # one is in all of them
_SHORT = 400
_SPOKEN_CHARS = 160
_MOST_LINES = 6
_LEAST_SPACES = 4  # of a sentence
_LINE_CHARS = 1_000
_LEAST_ENTRIES = 2
_LONG_ADDRESS = late_re(r"(://[^\s)\]]{60})[^\s)\]]++")
_WITH_ADDRESSES_CHARS = 4_000


class Printed(NamedTuple):
    """What a user turn looks like.

    ``certain``: a form that only environments write; ``unmistakable``: nor is it shown to a chat; ``named``: one that
    people hardly write, and may paste; ``worded``: it is certain only by the words it begins with; ``doubtful``: and
    goes on as a person may; ``shaped``: it has the shape of output; ``person``: it reads like a person; ``chatty``:
    a person may say it, though games and pages write so, too; ``pasted``: output, with a person's words behind it.
    ``begin`` is the beginning of the text, ``said`` what the text alone tells to be a person's words behind output.
    """

    begin: str
    certain: bool
    named: bool
    shaped: bool
    person: bool
    chatty: bool
    pasted: bool
    doubtful: bool
    worded: bool
    unmistakable: bool
    said: str


def printed(text: str) -> Printed:
    """Say what a user turn looks like."""
    start, stop, said = in_observation(text)
    front = text.rstrip()[: -len(said)].rstrip() if said else text
    begin, end = _begin(text), text[-END_CHARS:]
    asks = len(front) < _QUESTION_CHARS and front.rstrip().endswith("?")  # quotes a form to ask about it
    asks = asks and not NAGS.search(front)
    begun, ends = _CERTAIN_BEGIN.match(begin), _CERTAIN_END.search(end) is not None
    ends = ends or (_OUTPUT_BEGIN.match(begin) is not None and _ERROR_END.search(end) is not None)
    certain = not asks and (begun is not None or ends)
    unmistakable = certain and _UNMISTAKABLE.match(begin) is not None
    opened = begun if certain and not (ends or unmistakable) else None
    worded = opened is not None and not opened[0].lstrip().startswith(_SIGNED)
    doubtful = opened is not None and _may_ask(text.rstrip(), opened)
    certain = certain or (stop - start < _LINE_CHARS and is_cleared_line(text[start:stop]))
    named = certain or _NAMED_BEGIN.match(begin) is not None
    ended = bool(said) and _CERTAIN_END.search(front[-END_CHARS:]) is not None
    named = named or ended
    shaped = named or _is_shaped(begin) or not text.strip()
    spoken = _without_nag((front if named else text).strip())
    person = not (certain or ended or _MAIL.match(begin)) and _reads_like_person(spoken, shaped=shaped)
    chatty = person or (not shaped and len(text) <= LONG and _CHATTY.search(spoken.lower()) is not None)
    pasted = bool(said) and shaped and not _reads_like_person(front.strip(), shaped=True)
    return Printed(begin, certain, named, shaped, person, chatty, pasted, doubtful, worded, unmistakable, said)


def known_opening(text: str) -> int:
    """Return where that ends by which a text is known for what an environment printed; 0 where it has none."""
    begun = _UNMISTAKABLE.match(text[:BEGIN_CHARS])
    return begun.end() if begun else 0


def _begin(text: str) -> str:
    """Return the beginning of a text; of a long address in it no more than tells what it is."""
    begin = text[:BEGIN_CHARS]
    return _LONG_ADDRESS.sub(r"\1…", text[:_WITH_ADDRESSES_CHARS])[:BEGIN_CHARS] if "://" in begin else begin


def _without_nag(text: str) -> str:
    """Return a text without a last line or sentence by which harnesses ask for the next action."""
    start = max(len(text) - _NAG_CHARS, 0)
    if not holds_any(text[start:].lower(), _NAG_HINTS):  # mostly
        return text
    nag = last_match(NAGS, text, start)
    if nag is None or "\n" in text[nag.end() :]:
        return text
    start = max(text.rfind(sign, 0, nag.start() + 1) for sign in ("\n", ". ", "! ", "? "))
    return text[: start + 1].rstrip() or text


def is_dense(text: str) -> bool:
    """Whether a text has more signs and figures than people write, or columns."""
    begin = text[:BEGIN_CHARS].strip()
    bare = "".join(begin.split())
    return (
        sum(map(_SIGNS.__contains__, bare)) >= _DENSE * max(len(bare), 1) or _COLUMNS.search(f"\n{begin}") is not None
    )


def is_output(said: Printed, text: str) -> bool:
    """Whether a text may be what an environment printed: it has the shape of output, or is a value alone."""
    return said.shaped or is_dense(text) or _VALUE.fullmatch(text.strip()) is not None


def shows_failure(text: str) -> bool:
    """Whether a request shows how a program failed."""
    return _FAILURE.search(text[:_REQUEST_CHARS]) is not None


def is_named_person(text: str) -> bool:
    """Whether a text says of itself, as harnesses write, that a person speaks."""
    return _SPEAKS.match(text) is not None


def begins_spoken(text: str) -> bool:
    """Whether a long text begins as a person does who speaks, and does not only end so."""
    return SPOKEN.match(text.lstrip()) is not None or _SELF.search(text[:_SPOKEN_CHARS].lower()) is not None


def is_mapping(text: str) -> bool:
    """Whether each line of a text, but the last that may be cut, is a key with its value, or an entry of a list."""
    lines = text.strip().split("\n")
    return (
        len(lines) >= _LEAST_ENTRIES
        and ":" in lines[0]
        and all(map(_ENTRY.fullmatch, lines[:-1] if len(text) >= BEGIN_CHARS else lines))
    )


def _is_shaped(begin: str) -> bool:
    """Whether a text has the shape of output: of a listing, a table, a log, code, a prompt that waits."""
    if holds_any(begin, _PHRASES) or _SHAPED_LINE.search(f"\n{begin}"):
        return True
    if is_mapping(begin) or _MAIL.match(begin) or _COMPLAINS.match(begin):
        return True
    return _SHAPED_WITHIN.search(begin) is not None


def _may_ask(text: str, begun: re.Match[str]) -> bool:
    """Whether a short text that begins as an environment's goes on as a person may; tags nobody writes so."""
    if len(text) > _SHORT or begun[0].lstrip().startswith(_NOBODY_WRITES) or text.strip().count("\n") > 1:
        return False
    rest = text[begun.end() :]
    is_sentence = "\n" not in rest and rest.count(" ") >= _LEAST_SPACES and rest.endswith((".", "!", "?"))
    return is_sentence or _ASKS.search(text, begun.end()) is not None


def _reads_like_person(text: str, *, shaped: bool) -> bool:
    if is_named_person(text):
        return True
    if not text or len(text) > LONG:
        return False
    if shaped and (text.count("\n") >= _MOST_LINES or (_OBJECT.match(text) and text.endswith(("}", "]")))):
        return False
    edges = f"{text[:_SPOKEN_CHARS]}\n{text[-120:]}" if shaped or len(text) > _SHORT else text
    low = edges.lower()
    if (holds_any(low, _SELF_HINTS) and _SELF.search(low)) or (not shaped and SPOKEN.match(text)):
        return True
    if text.isascii() or shaped or _NARRATED.fullmatch(text):
        return False
    return OTHER_TONGUES.search(text) is not None
