"""Secrets known by their name: assignments, JSON and YAML fields, headers, URL queries, and what forms knows.

A name stands before ``=`` or ``:``, give or take quotes and spaces. Few of these follow a name with a telling end;
all the care is spent on those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import ENDINGS, Proof, name_that_ends, secret_of
from trajcompress.redact.rules.forms import formed_spans
from trajcompress.redact.rules.literals import LINE, QUERY, WORD, ValuePlace, value_span
from trajcompress.redact.spans import MARK_START, Span
from trajcompress.redact.values import Style

NEXT = b" \t\n\"'`\\]=:<>*\0"  # what may stand next to a name with a value, one of these
NAMED = (
    *(ending + bytes([after]) for ending in ENDINGS for after in NEXT),
    *(b"pass" + bytes([after]) for after in b":=\"'>\\"),  # in words it is no password
    *(name + bytes([after]) for name in (b"access", b"refresh") for after in b"\"'\\"),  # tokens, in JSON
)
"""The ends of telling names, with what stands next; most of what looks like one is not: author, keyboard, tokens."""
# What may stand between a name and its separator, and that.
_TOLD = late_re(r"[ \t\"'`\\\]*]{0,80}+[=:](?![ \t]*(?:[>|][+-]?\d?[ \t]*)?(?:\n|\\+n))")
_LINE_START = late_re(r"(?:[\n\r]|\\[nr])[ \t]*(?:(?:export|set|ENV|ARG|-|\+)[ \t]+|\+)?\Z")
_LONGEST_START = 24
_NAME_QUOTE = late_re(r"\\*[\"']")
_ARN = late_re(r"\barn:[\w:-]+\Z")
_OPERATOR = late_re(r"=>|:=|={1,3}(?!=)|:(?![:/]{2})")


def field_spans(text: str, places: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The secrets that a text names; ``places`` are where ``ENDINGS`` start and end."""
    begun = done = 0  # the last secret: names within it are parts of it
    for start, end in places:
        if begun < end <= done or (text[start:end] == "key" and not _goes_before(text[start - 1 : start])):
            continue  # a part of that; or any key of a mapping
        told = _TOLD.match(text, end)
        span = _field(text, end, told.end() - 1) if told else None
        for found in [span] if span else () if told else formed_spans(text, end):
            begun, done = found.start, found.end
            yield found


def _goes_before(character: str) -> bool:
    """Whether a character may be part of a name, before its end."""
    return character.isalnum() or character in "_-.$"


def _field(text: str, end: int, at: int) -> Span | None:
    """The secret after the separator at ``at``, of the name that ends at ``end``."""
    operator = _OPERATOR.match(text, at)
    start, name = name_that_ends(text, end)
    secret = secret_of(name) if operator else None
    if operator is None or secret is None or text.endswith((MARK_START, "://"), 0, start):
        return None
    if name == "secret" and _ARN.search(text, max(0, start - 80), start):
        return None
    if text.endswith("${", 0, start) and text[operator.end() : operator.end() + 1] in {"?", "+", "-"}:
        return None  # what a shell says where the variable is not set
    query = text[max(0, start - 1) : start] in {"?", "&"} or text.endswith(("&amp;", r"\u0026"), 0, start)
    if secret.kind == "signature" and not (query or text.endswith(", ", 0, start)):
        return None
    place = _place(text, operator, (start, end), query=query)
    is_variable = (name.isupper() and "_" in name) or name.startswith("ansible_")
    if secret.proof is Proof.ANY and is_variable and place.style is Style.BARE:
        place = place._replace(style=Style.SHELL)  # in YAML, in an inventory
    return value_span(text, secret, place)


def _place(text: str, operator: re.Match[str], name: tuple[int, int], *, query: bool) -> ValuePlace:
    start, end = name
    quote = _NAME_QUOTE.match(text, end, operator.start())
    if query:
        return ValuePlace(operator.end(), Style.QUERY, QUERY)
    before = text[max(0, start - _LONGEST_START) : start]
    on_a_line = _LINE_START.search("\n" + before if start < _LONGEST_START else before) is not None
    shell = operator[0] == "=" and end == operator.start() and text[start:end].isupper()
    style = Style.SHELL if shell and not text[operator.end() : operator.end() + 1].isspace() else Style.BARE
    return ValuePlace(operator.end(), style, LINE if on_a_line else WORD, quote[0] if quote else "")
