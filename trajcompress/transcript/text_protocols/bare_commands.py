"""Commands without any mark: turns, or their last lines, that are no sentences. Pure.

Only the row tells whether they are executed: :mod:`trajcompress.transcript.text_protocols.moves`.
"""

from __future__ import annotations

import re

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.acted import Acted, after_thought, without_end_token
from trajcompress.transcript.text_protocols.printed import is_dense, is_mapping
from trajcompress.transcript.text_protocols.written_calls import is_python, json_or_text, new_call

LABELS = late_re(r"(?:label|class(?:ify)?|category|sentiment|tag)[\[(]", re.IGNORECASE)
"""Answers of a chat that look like calls."""
_SIGNED = late_re(r"[0-9_./$(\[;@*>=~|+-]|\?-|[A-Z][A-Z0-9_:*]{0,30}(?=[ \d:?]|\Z)")
_SENTENCE_END = late_re(r"(?<![)\]])[.?!:,。？！：，…]\Z")
_WIDE_SENTENCE = late_re(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3][.?!。！？]\Z")  # few signs, each a syllable
_CODE = late_re(
    r"[A-Z][A-Z0-9_+]{1,20}(?:[ =?]\S[^\n]{0,200})?\Z|\([^\s()]{1,40} [^\n]{1,400}\)\Z"
    r"|(?:async )?def \w{1,80}\([^\n]{0,400}:[ \t]*\n|import [\w., ]{1,80}\n|from [\w.]{1,80} import [\w(*]"  # Python
)
_FORMS = ('{"', "{'", "<", "[{", "|")
"""How answers begin that a chat fills in."""
_TERSE_WORDS = 6
_CALLED_WITH = late_re(
    r"([A-Za-z][\w.-]{2,60}) with (?:the )?(?:arguments? |parameters? |input )?(\{.{0,280}\})\.?\Z"
)
_BARE = late_re(r"\A[ \t>*_-]{0,6}(?:Command|Tool|Move)\**:\**[ \t]?(?=\S)|(?<=\S) ?<END>\Z")
_QUOTED_END = late_re(r"(?:\A|[.:] )`([^`\n]{2,200})`\Z")
_BRACKETED = late_re(r"(\[[\w][^\[\]\n]{0,100}\])\Z")
_VERNACULAR = late_re(r"(?:Proof|Qed|Defined|Admitted|Abort|Show|Undo)\.")  # of Coq
_TERSE_CHARS = 300


def is_code(text: str) -> bool:
    """Whether a turn is of a language for machines: of signs and figures, of words in capitals, Lisp or Python."""
    said = without_end_token(text[after_thought(text) :].strip())
    if "```" in said or said.startswith(_FORMS):
        return False
    return is_dense(said) or _CODE.match(said) is not None or is_python(said)


def terse_action(text: str) -> Acted | None:
    """Read a turn that is no sentence, or its last line, as a command, where it is known that turns are commands."""
    said = without_end_token(text[after_thought(text) :].strip())
    if "```" in said:
        return None
    whole = _BARE.sub("", said.strip("`").strip())
    if not LABELS.match(whole):
        if bracketed := _BRACKETED.search(whole[-_TERSE_CHARS:]):
            return _commanded(text, bracketed[1])
        if is_mapping(whole):
            return Acted((new_call("", whole),), "terse", 0)
        if _is_command(whole):
            return Acted((new_call("", {"command": whole}),), "terse", 0)
    return _at_end(text, said)


def said_in_words(text: str) -> Acted:
    """Read all of a turn as what is asked of an environment that is known to answer it."""
    start = after_thought(text)
    return Acted((new_call("", {"command": text[start:].strip()}),), "terse", start)


def _at_end(text: str, said: str) -> Acted | None:
    line = said[said.rfind("\n") + 1 :]
    if len(line) > _TERSE_CHARS:
        return None
    if called := _CALLED_WITH.search(line):
        return Acted((new_call(called[1], json_or_text(called[2])),), "shape", text.rfind(called[0]))
    if quoted := _QUOTED_END.search(line):
        return _commanded(text, quoted[1])
    stands_alone = "\n" in said and any(map(str.isalnum, line)) and _is_terse(line)
    return _commanded(text, _BARE.sub("", line)) if stands_alone else None


def _commanded(text: str, command: str) -> Acted:
    return Acted((new_call("", {"command": command}),), "terse", text.rfind(command))


def _is_command(said: str) -> bool:
    """Whether no line of a short text is a sentence, or a row of a table."""
    if not said or len(said) > _TERSE_CHARS or said[0] == "|" == said[-1]:
        return False
    step = said.lstrip("-+*{} ")  # of a proof: no sentence begins so
    if step[:1].islower() and said[-1] == "." and "\n" not in said and len(said.split()) <= _TERSE_WORDS:
        return True
    if _VERNACULAR.fullmatch(said):
        return True
    return all(map(_is_terse, said.split("\n")))


def _is_terse(line: str) -> bool:
    """Whether a line is no sentence: it begins with a small letter, a sign or capitals, or has a few words."""
    line = line.strip()
    if not line or line.startswith((";", "?-")) or (is_dense(line) and not _WIDE_SENTENCE.search(line)):
        return True
    if _SIGNED.match(line) and (" " not in line or (line.isascii() and line.isupper())):
        return True
    return not _SENTENCE_END.search(line) and (
        line[0].islower() or _SIGNED.match(line) is not None or len(line.split()) <= _TERSE_WORDS
    )
