"""Which of the options that a reply offers a person takes: "2" alone says nothing to who does not see them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trajcompress.outcomes.text import clip, one_line
from trajcompress.processes.late_patterns import late_re

_OPTION = late_re(
    r"^[ \t>*_-]{0,8}(?:(?i:option|choice|plan) )?\(?(\d{1,2}|[A-H])[.):][*_]{0,2}[ \t]{1,4}(\S[^\n]*)", re.MULTILINE
)
_FIRST = ("1", "A")
_LEAST = 2
_LABELS = late_re(
    r"\W{0,4}(?:(?i:option|options|number|choice) )?(\d{1,2}|[A-H])((?:(?:\W{1,3}|(?i: and ))(?:\d{1,2}|[A-H])){0,5})"
    r"\W{0,4}(?:(?i:please|thanks|thank you)\W{0,4})?"
)
_NAMED = late_re(r"\b(?i:option|choice|number|plan) #?(\d{1,2}|[A-H])\b")
_LABEL = late_re(r"\d{1,2}|[A-H]")
_NTH = late_re(r"\b(first|second|third|fourth|fifth|last)(?: \w{1,20})? (?:option|one|choice|plan)\b", re.IGNORECASE)
_ASKS_NUMBER = late_re(r"\b(?:how (?:many|much|long|old|far)|number of|quantity)\b[^\n?]{0,200}\?", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_ANSWER_CHARS = 160


def options_of(reply: str) -> Mapping[str, str]:
    """Return the last options that a reply lists, by number or letter; nothing where it lists fewer than two.

    Nor where it asks behind them for a number, which an answer may be as well.
    """
    options: dict[str, str] = {}
    reply, end = clip(reply), 0
    for option in _OPTION.finditer(reply):
        if option[1] in _FIRST:
            options = {}
        options[option[1]] = one_line(option[2]).strip("*_ ")
        end = option.end()
    return options if len(options) >= _LEAST and not _ASKS_NUMBER.search(reply, end) else {}


def taken_of(options: Mapping[str, str], answer: str) -> list[str]:
    """Return the options that an answer takes, each with its number; nothing where it is long, or takes none.

    >>> taken_of({"1": "Wait", "2": "Try again"}, "option 2, please")
    ['2. Try again']
    """
    answer = answer.strip()
    if not options or len(answer) > _ANSWER_CHARS:
        return []
    if alone := _LABELS.fullmatch(answer):
        labels = [alone[1], *_LABEL.findall(alone[2])]
    else:
        labels = _NAMED.findall(answer)
        if not labels and (nth := _NTH.search(answer)):
            place = -1 if (which := nth[1].lower()) == "last" else _ORDINALS.index(which)
            labels = [*options][place:][:1]
    return [f"{label}. {options[label]}" for label in dict.fromkeys(labels) if label in options]
