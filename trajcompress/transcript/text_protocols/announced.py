"""Actions of a protocol that the prompt of a row defines itself: what it announces, and what turns write so. Pure.

A prompt says how actions are written, in whatever language: ``RUN <command>``, ``[[search: words]]``, ``|read N``,
``行動: …``. A turn that ends with a line which begins so acts, and a reply that begins with a label of the prompt was
announced, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.fences import last_fence
from trajcompress.transcript.text_protocols.openings import label_of, opening_of
from trajcompress.transcript.text_protocols.written_calls import json_or_text, named_calls, new_call, script_call
from trajcompress.transcript.trajectory import ToolCall, Turn

_NO_CODE = frozenset(
    {"", "json", "jsonl", "yaml", "yml", "xml", "html", "csv", "text", "txt", "markdown", "md", "latex"}
)
_BLOCK_CHARS = 4_000
_LINE_CHARS = 2_000
_TERSE_CHARS = 200
_NAMED_WITHIN = 120
_LEAST_UPPER = 4
_SIGNED = late_re(  # no heading, no quote, no list and no table of Markdown
    r"(?!\|[^\n]*\|\Z)(?:[!@|$%~=+&^]{1,3} ?|#(?!#)|[/:>]{1,2}(?! )|\[\[ ?|\{\{ ?|<< ?|\(\( ?"
    r"|【)([^\W\d_][\w.-]{0,40})】?"
)
_KEY = late_re(r"\{\s{0,8}\"([^\"\n]{1,40})\"\s?:")
_BOXED = late_re(r"\[([A-Z][A-Z0-9_-]{1,30}(?: [A-Z0-9_-]{1,20}){0,3})\]")
_SQUARE = late_re(r"\[([^\W\d_][\w-]{0,40})(?: [^\[\]\n]{1,300})?\]")
_CLOSED_BY = {"[": "]", "{": "}", "<": ">", "(": ")", "【": "】"}
_LINE_END = late_re(r"\n")
_MOST_LINES = 8
_TAGGED = late_re(r"<([^\W\d_][\w.-]{0,40})(?=[\s>/])")
_CALLED = late_re(
    r"(?:[^\W\d_][\w -]{0,30}[:：] {0,2})?[\[@]?([^\W\d_][\w.-]{0,60})[(\[{].{0,4000}[)\]}][\];.@]?\Z", re.DOTALL
)
_KEYED = late_re(r"([^\W\d_][\w.-]{0,40}(?: [^\W\d_][\w.-]{0,20}){0,2})\s?([:：]|->|→|>(?=\s))\s{0,4}")
_ENDS_KEYED = late_re(r"(?:[.!?;。！？] ?)(([A-Z][\w-]{1,30}(?: [\w-]{1,20}){0,3}): ?\S[^\n]{0,300})\Z")
_ENDS_CALLED = late_re(  # one call, or several
    r"(?:\A(?=`)|[:：>.!?;] ?)[\"'`]?(([A-Za-z_]\w{2,60})\([^()\n]{0,200}\)"
    r"(?:,? (?:and )?[A-Za-z_]\w{2,60}\([^()\n]{0,200}\)){0,4})[\"'`)\]>*]{0,3}\.?\Z"
)
_SEVERAL = late_re(r"[A-Za-z_]\w{2,60}\([^()\n]{0,200}\),? (?:and )?[A-Za-z_]\w{2,60}\(")
_ENDS_LISTED = late_re(r"(?:\A|[.!?:;] )([A-Z][\w-]{1,20}(?: [\w-]{1,20}){0,3})\Z")
_UPPER = late_re(r"([A-Z][A-Z0-9_-]{1,30})(?=[ \n]|\Z)")
_WORD = late_re(r"([A-Za-z][a-z0-9]{0,30}(?:[_-][a-z0-9]{1,30}){0,6})(?=[ \n]|\Z)")
_REPORT = late_re(
    r"[*_ ]{0,4}(?:(?:current |new |game |world )?(?:state|observation|environment|screen|inventory|board|reward)"
    r"|(?:execution|interpreter|compiler|kernel|shell|terminal|console|tool|system)\b[\w ]{0,20}|chat log"
    r"|stdout|stderr"
    r"|simulat\w{1,6})\b[\w ]{0,20}[:：]",
    re.IGNORECASE,
)
_SENTENCE_ENDS = (".", "?", "!", "。", "？", "！", "…")
_SHOWN = (  # in quotes, at the beginning of a line or between commas, before what it is given
    late_re(r"['\"`‘“«|]([^\W\d_][\w.-]{0,60})(?:(?=['\"`’”»|,])|(?= [<\[{(A-Z]))"),
    late_re(r"`([^\W\d_][\w.-]{0,60}) [^`\n]{1,60}`"),
    late_re(r"[\"“«]([^\W\d_][\w.-]{0,60}) [^\"“”«»\n]{0,40}(?<=[ ,=-])[A-Z<{][^\"“”«»\n]{0,20}[\"”»]"),
    late_re(
        r"(?:\A|[\n,;:•·]|\n[-*\d.) ]{1,6}) ?([^\W\d_][\w.-]{0,60})"
        r"(?= ?[<\[{(:=–—-]| [A-Z]{1,12}\b|\s{0,4}(?:[\n,]|\Z))"
    ),
    late_re(r"(?<![\w-])([^\W\d_][\w.-]{0,60})(?=[\[(<]| [<\[{])"),
)
_MOST_SIGNS = 8
_SIGN = r"[`\"']?([^\w\s\"'`.,;:!?()-]{2,4}\w{0,8}|[«‹])[`\"']?"
_END_SIGN = r"[`\"']?([^\w\s\"'`.,;:!?()-]{2,4}|[»›])"
_ARROW = late_re(r"(>{2,3}|[=-]{1,2}>|[→»➜⇒▶]|::|\$>) (?=\S)")
_BETWEEN = (
    late_re(
        r"\b(?:between|zwischen|entre|tra|fra|między|между|tussen|mellem|mellan)\s(?:\w{1,20}\s){0,3}?"
        rf"{_SIGN}(?:\s(?:and|und|y|e|et|i|и|en|og|och)\s(?:\w{{1,20}}\s){{0,2}}?{_END_SIGN})?"
    ),
    late_re(r"(?<!<)(<{2,4})[^\n<>]{0,40}(>{2,4})(?!>)"),  # as they stand around something
    late_re(r"(?<!\[)(\[{2,4})[^\n\[\]]{0,40}(\]{2,4})(?!\])"),
    late_re(rf"{_SIGN}\s?(?:和|与|與|と|、|과|와)\s?{_END_SIGN}[`\"']?\s?(?:之间|之間|中间|の間|사이)"),
)
_REMEMBERED = 64  # prompts, as the rows of a data set share a few
_OF_ANSWERS = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "answer final result score label sentiment category class classify verdict translation summary note notes tip"
        " example output solution explanation explain question hint step steps thought reasoning analysis conclusion"
        " title subject dear http https rating confidence language intent topic name total source sources correct"
        " incorrect yes no true false positive negative neutral antwort ergebnis frage réponse résultat respuesta"
        " resultado resposta ответ результат вопрос 答案 回答 最终答案 最終回答 結論 结论 翻译 翻訳 答え 답변 답"
    ).split()
)
"""Words that a chat's prompt asks its answers to begin with."""


class Marked(Struct, frozen=True):
    """An action as a prompt announced it: its ``name``, all of it as a call, and where it begins in the turn.

    ``sure``: no chat has such a line.
    """

    name: str
    call: ToolCall
    start: int
    sure: bool


class Announced:
    """What the prompt of a row announces: how actions are written, and what replies begin with."""

    def __init__(self, prompt: str) -> None:
        """Take all that stands before the first reply."""
        self._prompt = prompt

    def action(self, text: str) -> Marked | None:
        """Read the line, or the lines, at the end of a turn as an action that was announced."""
        text = text.rstrip()
        last = text.rfind("\n") + 1
        paragraph = max(text.rfind("\n\n") + 2 if "\n\n" in text else 0, last - _BLOCK_CHARS)
        if text.endswith("```"):
            return self._fenced(text)
        if ended := self._at_end(text[last:]) or self._listed(text[last:]):
            return _marked(*ended, len(text) - len(ended[2]))
        lines = [paragraph, *(found.end() for found in islice(_LINE_END.finditer(text, paragraph), _MOST_LINES))]
        for begin in lines[1:-1]:  # a block between signs, behind words
            if _SIGNED.match(text, begin) and (found := next(self._found(text[begin:]), None)):
                return _marked(*found, text[begin:], begin)
        for begin in sorted({paragraph, last}):
            block = text[begin:].lstrip()
            if block and not block.startswith("```") and (found := next(self._found(block), None)):
                return _marked(*found, block, len(text) - len(block))
        return self._delimited(text) or self._prefixed(text, last)

    def _fenced(self, text: str) -> Marked | None:
        """Read the fenced code that ends a turn, in a language that the prompt shows."""
        fence = last_fence(text)
        if fence is None or not self._has(f"```{fence.language}") or fence.language.lower() in _NO_CODE:
            return None
        return Marked(fence.language, script_call(fence.language, fence.code), fence.start, False)

    def _prefixed(self, text: str, last: int) -> Marked | None:
        """Read a last line that begins with a sign of the prompt, as ``>> open``."""
        begun = _ARROW.match(text, last)
        if begun is None or not self._has(begun[0]):
            return None
        return Marked(begun[1], script_call("", text[begun.end() :]), last, False)

    def _delimited(self, text: str) -> Marked | None:
        """Read what ends a turn between two signs that the prompt names, as ``<<<`` and ``>>>``."""
        for begin, end in _delimiters(self._prompt):
            stop = len(text) - len(end)
            start = text.rfind(begin, 0, stop) if text.endswith(end) else -1
            if start >= 0 and (inner := text[start + len(begin) : stop].strip()):
                return Marked(begin, script_call("", inner), start, False)
        return None

    def _at_end(self, line: str) -> tuple[str, bool, str] | None:
        """Return the name of an action at the end of a line that says something before it, and all of the action."""
        line = line[-_LINE_CHARS:]
        keyed = _ENDS_KEYED.search(line)
        if keyed and keyed[2].isupper() and _is_name(keyed[2]) and self._has(f"{keyed[2]}:"):
            return keyed[2], True, keyed[1]
        called = _ENDS_CALLED.search(line)
        is_last = called is not None and _is_name(called[2]) and called[2] in _shown(self._prompt)
        return (called[2], True, called[1]) if called is not None and is_last else None

    def _listed(self, line: str) -> tuple[str, bool, str] | None:
        """Return the action of a list in the prompt, as ``2. Move West``, with whose name a turn ends."""
        ends = _ENDS_LISTED.search(line[-_NAMED_WITHIN:])
        if ends is None or not self._has(ends[1]):
            return None
        entry = rf"(?:\d[.)]|[-*•,;]) ?{re.escape(ends[1])}(?=\s|[,;.]|\Z)"
        return (ends[1], False, ends[1]) if re.search(entry, self._prompt) else None

    def _found(self, block: str) -> Iterator[tuple[str, bool]]:
        """Yield by which names of the prompt lines begin, and whether no chat has such lines."""
        line = block.partition("\n")[0][:_LINE_CHARS].strip("*_ ")
        if (signed := _SIGNED.match(line)) and self._has(signed[0]) and _is_name(signed[1]):
            yield signed[1], True
        yield from self._boxed(block, line)
        if (called := _CALLED.match(block)) and _is_name(called[1]) and called[1] in _shown(self._prompt):
            yield called[1], True
        if (keyed := _KEYED.match(block)) and _is_name(keyed[1]) and self._has_label(keyed):
            yield keyed[1], keyed[2] == ">" or _CALLED.match(block[keyed.end() :].strip()) is not None
        if (key := _KEY.match(block)) and block.endswith("}") and _is_name(key[1]) and self._has(f'"{key[1]}"'):
            yield key[1], False
        if (tagged := _TAGGED.match(line)) and _is_name(tagged[1]) and self._has(tagged[0]):
            yield tagged[1], False
        if (upper := _UPPER.match(line)) and _is_name(upper[1]) and self._has(upper[1]):
            shown = upper[1] in _shown(self._prompt)
            if shown or (len(upper[1]) >= _LEAST_UPPER and not line.endswith(_SENTENCE_ENDS)):
                yield upper[1], shown
        is_terse = len(line) <= _TERSE_CHARS and "\n" not in block and not line.endswith(_SENTENCE_ENDS)
        word = _WORD.match(line) if is_terse and any(map(line.__contains__, " _-")) else None
        if word and _is_name(word[1]) and word[1] in _shown(self._prompt):
            yield word[1], "_" in word[1]

    def _boxed(self, block: str, line: str) -> Iterator[tuple[str, bool]]:
        """Yield names of the prompt that stand in brackets, as ``[DRILL]`` or ``[move 7 5]``."""
        if (boxed := _BOXED.match(line)) and _is_name(boxed[1]) and self._has(boxed[0]):
            yield boxed[1], _BOXED.fullmatch(block.rpartition("\n")[2].strip()) is not None  # an end, too
        if (square := _SQUARE.fullmatch(block)) and _is_name(square[1]) and self._has_square(square[1]):
            yield square[1], False

    def replies_with(self, text: str, answered: str = "") -> bool:
        """Whether a text begins with a tag or a label that was announced, as ``<sys>`` or ``RESPOSTA:``.

        Not with a field of the form that the turn before has filled in: who asks may fill it in, too.
        """
        line = text.lstrip()[:_LINE_CHARS].partition("\n")[0].strip("*_ ")
        if tagged := _TAGGED.match(line):
            return self._has(tagged[0])
        if (upper := _UPPER.fullmatch(line)) and len(line) >= _LEAST_UPPER and _is_name(upper[1]):
            return "\n" in text.strip() and self._has(upper[1])
        keyed = _KEYED.match(line)
        if keyed and f'"{keyed[1]}"' in answered[:_LINE_CHARS]:
            return False
        return keyed is not None and keyed[2] in ":：" and _is_name(keyed[1]) and self._has(keyed[1])

    def reports(self, text: str) -> bool:
        """Whether a text begins with an announced label of what an environment tells, and no person."""
        return _REPORT.match(text.lstrip()) is not None and self.replies_with(text)

    def _has_label(self, keyed: re.Match[str]) -> bool:
        """Whether the prompt has a label, or its name with a capital, as in a list of what a turn consists of."""
        return self._has(keyed[0].strip()) or (keyed[1].istitle() and self._has(f" {keyed[1]}"))

    def _has_square(self, name: str) -> bool:
        return self._has(f"[{name} ") or self._has(f"[{name}]")

    def _has(self, part: str) -> bool:
        return part in self._prompt


@lru_cache(maxsize=_REMEMBERED)
def _shown(prompt: str) -> frozenset[str]:
    """Return the words that a prompt has as something that is to be written, and not in a sentence alone."""
    return frozenset(word for pattern in _SHOWN for word in pattern.findall(prompt))


@lru_cache(maxsize=_REMEMBERED)
def _delimiters(prompt: str) -> tuple[tuple[str, str], ...]:
    """Return the signs between which a prompt has something written; one that is named alone stands on both sides."""
    found = [match.groups() for pattern in _BETWEEN for match in pattern.finditer(prompt)]
    return tuple(dict.fromkeys((begin, end or begin) for begin, end in found))[:_MOST_SIGNS]


def names_call(text: str, name: str) -> bool:
    """Whether a reply begins with the name of the call that it answers, which is no word of a sentence."""
    if not name[:1].isalpha():
        return False
    is_code = "_" in name or not (name.islower() or name.istitle())
    begin = text[:_NAMED_WITHIN]
    return name in begin and (is_code or f"{name}(" in begin or f"{name}[" in begin)


def told_apart(
    turns: Sequence[Turn], replies: Sequence[int], asked: Sequence[Turn], sure: Sequence[int]
) -> tuple[set[int], set[str]]:
    """Return which replies are not of whoever asked first, and by which labels that one is known.

    Args:
        turns: all turns of a row.
        replies: user turns, each behind an assistant's.
        asked: the turn before the first reply.
        sure: turns with what no chat has.
    """
    begins = [opening_of(turn.text) for turn in asked]
    # Who asked speaks again, or a state that stood in the prompt is told again, behind what no chat has.
    again = [i for i in replies if opening_of(turns[i].text) in begins]
    if sum(i - 1 in sure for i in again) > 1:
        again, begins = [], []
    is_person = 2 * len(again) <= len(replies)  # else it is what an environment says each time
    return set(replies).difference(again), {begin for begin in begins if is_person and label_of(f"{begin} ")}


def _marked(name: str, sure: bool, block: str, start: int) -> Marked:
    if _SEVERAL.match(block):  # what they are called with is no argument of the first
        return Marked(name, script_call("", block), start, sure)
    if given := named_calls(block):
        return Marked(name, given[0], start, sure)
    at = block.find(name)
    argument = block[at + len(name) :].strip().removesuffix(f"</{name}>").rstrip()
    for sign in reversed(block[:at].strip()):
        argument = argument.removesuffix(_CLOSED_BY.get(sign, sign)).rstrip()
    argument = argument.lstrip(" :：>)]}|/").rstrip(" :：|/")
    return Marked(name, new_call(name, json_or_text(argument)), start, sure)


def _is_name(word: str) -> bool:
    """Whether a word may be an action's: prompts of chats ask for answers that begin with others."""
    return _OF_ANSWERS.isdisjoint((*word.lower().split(), word.lower()))
