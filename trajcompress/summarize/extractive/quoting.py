"""Which sentences of what somebody says are quoted where all of it is too long."""

from __future__ import annotations

import itertools
import re

from trajcompress.outcomes.text import LEAST_CHARS, clip, one_line, sentences, shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.fences import fenced_spans, without_fenced

_POINT = "0123456789.) "  # before what is said
_ASKS = ("?", "？")
_LEADS_IN = (":", "：")
_CODE_ENDS = (";", "{", "}", "(", "[", ",", "=>", "],", "),", "*/")
_CODE_BEGINS = ("import ", "from ", "const ", "def ", "class ", "return ", "//", "# ", "/*", "* ", "<", "}", ")", "@")
_CODE_SIGNS = late_re(r"[={}<>|\\]|\w\(|\(\)|\[\w*\]")
_LEAST_LINES, _MOSTLY = 8, 0.6
_MOST_OF_FIRST = 0.6
_HEADING = late_re(r"#{1,6} |\W*\Z")
_BINDING = late_re(
    r"\d|\b(?:not|never|only|must|don'?t|without|except|prefer|at least|at most|under|over|before|after|instead"
    r"|budget|limit|max|min|no)\b|[不必只]|ない|말|nicht|nur|muss|sans|ne pas|sin|solo",
    re.IGNORECASE,
)
_TASK = late_re(  # what is to be done
    r"(?:(?:please|now|then|next|and|also|so|instead|first|finally|ok(?:ay)?|yes)[, ]{1,3}){0,3}(?:"
    r"(?:re-?)?(?:write|build|create|run|name|design|place|order|generate|make|do)|add|adjust|align|change|check"
    r"|clean up|convert|correct|delete|ensure|explain|extend|find|fix|give|implement|include|keep|make sure|merge"
    r"|move|put|refactor|remove|replace|save|send|set|show|split|switch|tell|test|translate|try|turn|update|use|verify"
    r"|(?:can|could|would|will) you|i (?:want|need|would like|wish)|i'd like|we (?:want|need)|let'?s"
    r"|you should)\b",
    re.IGNORECASE,
)


def binding_sentences(text: str, limit: int, *, begin: bool = True) -> str:
    """Quote whole sentences in their order: questions, limits and wishes, then others; nothing if none.

    Of either those near an end go first, as what is pasted stands between or behind them; with ``begin`` the first of
    all does, unless it takes most of the room, and others say what to do. A heading, or a label, says nothing without
    what stands below it.
    """
    text = clip(text)
    places = _of_prose(text)
    said = [one_line(text[start:end]) for start, end in places]
    telling = [at for at in range(1, len(said)) if not (_HEADING.match(said[at]) or said[at].endswith(_LEADS_IN))]
    first = [*range(len(said))[:1], *(telling[:1] if said and said[0].endswith(_LEADS_IN) else ())]
    takes_most = bool(first) and len(said[0]) > _MOST_OF_FIRST * limit
    if said and not begin and len(said[0]) > limit and _TASK.match(said[0].lstrip(_POINT)):
        return shorten(said[0], limit)
    if not begin or (takes_most and any(_TASK.match(said[at].lstrip(_POINT)) for at in telling)):
        first, telling = [], [*first, *telling]
    binding = {place for place in telling if _binds(said[place])}
    ranked = sorted(telling, key=lambda place: (place not in binding, min(place, len(said) - place)))
    chosen: set[int] = set()
    room = limit
    for place in dict.fromkeys((*first, *ranked)):
        led = [place - 1] if place and place - 1 not in chosen and said[place - 1].endswith(_LEADS_IN) else []
        cost = sum(len(said[each]) + 3 for each in (*led, place))
        if cost <= room:
            chosen.update((*led, place))
            room -= cost
    if not chosen & {*first, *binding}:
        return ""  # what is left says thanks, or so
    runs: list[list[int]] = []
    for place in sorted(chosen):
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    pieces = [one_line(text[places[run[0]][0] : places[run[-1]][1]]) for run in runs]
    begins, ends = 0 in chosen, len(said) - 1 in chosen
    return f"{'' if begins else '… '}{' … '.join(pieces)}{'' if ends else ' …'}"


def is_pasted(text: str) -> bool:
    """Whether nearly all of a text is code: what stands beside fences, or all of it where nothing does."""
    lines = _unfenced_lines(text)
    return len(lines) >= _LEAST_LINES and sum(map(_is_code, lines)) >= _MOSTLY * len(lines)


def quoted_paste(text: str, limit: int) -> str:
    """Quote a text that is nearly all code: what is said before and behind it, and of the code how it begins."""
    lines = _unfenced_lines(text)
    before = list(itertools.takewhile(_is_prose, lines))
    behind = [*itertools.takewhile(_is_prose, reversed(lines[len(before) :]))][::-1]
    code = lines[len(before) : len(lines) - len(behind)]
    said = one_line(" ".join(before)), one_line(" ".join(behind))
    room = limit - sum(len(each) + 3 for each in said if each)
    if not any(said) or room < LEAST_CHARS:
        return shorten(" … ".join(filter(None, said)) or one_line(" ".join(code)), limit)
    return " ".join(filter(None, (said[0], shorten(one_line(" ".join(code)), room), said[1])))


def _unfenced_lines(text: str) -> list[str]:
    text = clip(text)
    beside = without_fenced(text)
    lines = (beside if beside.strip() else text).splitlines()
    return [line.rstrip() for line in lines if line.strip()]


def _is_code(line: str) -> bool:
    line = line.strip()
    return line.endswith(_CODE_ENDS) or line.startswith(_CODE_BEGINS)


def _is_prose(line: str) -> bool:
    says = line[:1].isalpha() and (" " in line or not line.isascii())
    return says and not (_is_code(line) or _CODE_SIGNS.search(line))


def _of_prose(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text stand, but for those of fenced code, unless there are no others."""
    fences = fenced_spans(text)
    places = sentences(text)
    prose = [each for each in places if not any(start <= each[0] < end for start, end in fences)]
    return prose if fences and prose else places


def _binds(sentence: str) -> bool:
    said = sentence.lstrip(_POINT)
    return _BINDING.search(said) is not None or sentence.endswith(_ASKS) or _TASK.match(said) is not None
