"""Secrets known by their name: assignments, JSON and YAML fields, headers, URL queries, command-line flags.

A name stands before ``=`` or ``:``, give or take quotes and spaces. Few of these follow a name with a telling end;
all the care is spent on those.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trajcompress.redact.headers import cookies, credentials
from trajcompress.redact.keys import Proof, Secret, secret_of
from trajcompress.redact.spans import Span
from trajcompress.redact.values import JUDGED, Style, is_secret

NEXT = b" \t\"'`\\]=:"  # what may stand next to a name with a value, one of these
# What may stand between a name and its separator, and that.
_TOLD = re.compile(rb"[ \t\"'`\\\]]{0,80}+[=:](?!\n)")
_LONGEST_NAME = 80
_EMAN = re.compile(r"[\w.$-]*")  # a name, read backwards
_LINE_START = re.compile(r"(?:[\n\r]|\\[nr])[ \t]*(?:(?:export|set|ENV|ARG|-|\+)[ \t]+|\+)?\Z")
_LONGEST_START = 24
_NAME_QUOTE = re.compile(r"\\*[\"']")
_OPERATOR = re.compile(r"=>|:=|={1,3}(?!=)|:(?![:/]{2})")
_LEAD = re.compile(  # a type, an opening bracket, the opening quote
    r"[ \t]*(?:(?:Optional\[)?(?:str|String|string|bytes|SecretStr)\]?(?: ?\| ?None)?[ \t]*=[ \t]*)?"
    r"(?:\[(?!REDACTED:)[ \t]*)?(?:[bBrRuUfF]{1,2}(?=[\"']))?(\\*[\"'`])?"
)
_WORD = re.compile(r"(?:[^\s\"'`<>\\,;(){}\[\]|&]|&(?![&\s]|\w{1,64}=)|\\+[^\w\s\"'`\\])+")
_LINE = re.compile(r"(?:[^\s\"'`<>\\]|\\+[^\w\s\"'`\\])+")
_QUERY = re.compile(r"[^\s\"'`<>\\(){}\[\]|&#;,]+")
_CALL = re.compile(r"[({\[!]|[A-Za-z_][\w.]*[(\[{]")
_NOT_LITERAL = re.compile(r"[\s+,).;:&|}\]].*|.*[\s+,(]", re.DOTALL)
_TRAILING = ".,;:"
_QUOTE = {quote: re.compile(rf"(\\*)(?:{quote}|[\r\n])") for quote in "\"'`"}
_LONGEST_QUOTED = 8192
_FLAG = re.compile(
    r"--(?:[a-z]{1,16}-){0,3}((pass)(?:word|wd|phrase)|token|secret|(?:api|access|secret)-key)[ \t]+(?=[^-\s])",
    re.IGNORECASE,
)
_LONGEST_FLAG = 64


class _Place(NamedTuple):
    """What stands around a value."""

    at: int  # where the text after the separator begins
    style: Style
    bare: re.Pattern[str]  # how far a value without quotes goes
    name_quote: str = ""


def field_spans(text: str, folded: bytes, places: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The secrets that a text names.

    ``folded`` holds one ASCII byte for each character of the text, in lower case; ``places`` are where ``ENDINGS``
    start and end.
    """
    done = 0
    for start, end in places:
        told = _TOLD.match(folded, end)
        if told and done < told.end() <= start + _LONGEST_NAME + 1 and (span := _field(text, end, told.end() - 1)):
            done = span.end
            yield span
    for start, end in places:
        if folded[start - 1 : start] == b"-" and (span := _flag(text, folded, start, end)):
            yield span


def _field(text: str, end: int, at: int) -> Span | None:
    """The secret after the separator at ``at``, of the name that ends at ``end``."""
    operator = _OPERATOR.match(text, at)
    backwards = _EMAN.match(text[max(0, at - _LONGEST_NAME) : end][::-1])
    if operator is None or backwards is None:
        return None
    name = backwards[0][::-1]
    start = end - len(name)
    if text[max(0, start - 1) : start] == "\\" and name[:1] in {"n", "r", "t"}:  # an escaped line end
        start, name = start + 1, name[1:]
    secret = secret_of(name)
    if secret is None or text.endswith("[REDACTED:", 0, start):
        return None
    if secret.proof is Proof.HEADER:
        return credentials(text, _lead(text, operator.end())[0])
    if secret.proof is Proof.COOKIES:
        return cookies(text, _lead(text, operator.end())[0])
    query = text[max(0, start - 1) : start] in {"?", "&"} or text.endswith(("&amp;", r"\u0026"), 0, start)
    if secret.kind == "signature" and not (query or text.endswith(", ", 0, start)):
        return None
    return _value(text, secret, _place(text, operator, (start, end), query=query))


def _flag(text: str, folded: bytes, start: int, end: int) -> Span | None:
    """The secret after the command-line flag whose last word this is."""
    at = folded.rfind(b" --", max(0, start - _LONGEST_FLAG), start)
    flag = _FLAG.match(text, at + 1) if at >= 0 else None
    if flag is None or flag.end(1) != end:
        return None
    secret = Secret("password", Proof.ANY) if flag[2] else Secret("token", Proof.OPAQUE)
    return _value(text, secret, _Place(flag.end(), Style.BARE, _WORD))


def _place(text: str, operator: re.Match[str], name: tuple[int, int], *, query: bool) -> _Place:
    start, end = name
    quote = _NAME_QUOTE.match(text, end, operator.start())
    if query:
        return _Place(operator.end(), Style.QUERY, _QUERY)
    before = text[max(0, start - _LONGEST_START) : start]
    on_a_line = _LINE_START.search("\n" + before if start < _LONGEST_START else before) is not None
    shell = operator[0] == "=" and end == operator.start() and text[start:end].isupper()
    style = Style.SHELL if shell and not text[operator.end() : operator.end() + 1].isspace() else Style.BARE
    return _Place(operator.end(), style, _LINE if on_a_line else _WORD, quote[0] if quote else "")


def _value(text: str, secret: Secret, place: _Place) -> Span | None:
    start, quote = _lead(text, place.at)
    if quote:
        end = _closing(text, start, quote)
        if end is not None:
            value = text[start:end]
            if not place.name_quote and _NOT_LITERAL.fullmatch(value):
                return None
            style = place.style if place.style is Style.SHELL else Style.QUOTED
            return Span(start, end, secret.kind) if is_secret(value, secret.proof, style) else None
    found = place.bare.match(text, start, start + JUDGED)
    if found is None or _CALL.match(found[0]) or text[found.end() : found.end() + 1] in {"(", "[", "{"}:
        return None
    trailing = _TRAILING if place.style is Style.BARE and place.bare is _WORD else ",;"
    if not is_secret(found[0].rstrip(trailing), secret.proof, Style.QUOTED if quote else place.style):
        return None
    whole = place.bare.match(text, start) or found
    return Span(start, start + len(whole[0].rstrip(trailing)), secret.kind, "" if quote else place.name_quote)


def _lead(text: str, at: int) -> tuple[int, str]:
    """Where a value begins, and its opening quote with the backslashes before it."""
    lead = _LEAD.match(text, at)
    return (lead.end(), lead[1] or "") if lead else (at, "")


def _closing(text: str, start: int, quote: str) -> int | None:
    """Where the string ends that ``quote`` opens; None where its line ends first.

    A quote in JSON inside JSON carries backslashes, twice as many and one more at each level.
    """
    depth = len(quote) - 1
    for found in _QUOTE[quote[-1]].finditer(text, start, start + _LONGEST_QUOTED):
        if found[0][-1] in "\r\n":
            return None
        slashes = len(found[1])
        if slashes < depth:
            return found.start()
        if slashes % (2 * (depth + 1)) == depth:
            return found.end() - len(quote)
    return None
