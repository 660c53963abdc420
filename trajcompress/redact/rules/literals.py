"""Values behind names: where they begin and end, and whether they are secrets."""

from __future__ import annotations

import re
from typing import NamedTuple

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof, Secret
from trajcompress.redact.rules.headers import cookies, credentials
from trajcompress.redact.spans import Span
from trajcompress.redact.values import APP_PASSWORD, JUDGED, LOOSE, Style, is_secret

_LEAD = late_re(  # a type, an opening bracket, the opening quote
    r"[ \t]*\**[ \t]*"
    r"(?:(?:Optional\[)?(?:&(?:'\w+ )?)?(?:str|String|string|bytes|SecretStr)\]?(?: ?\| ?None)?[ \t]*=[ \t]*)?"
    r"(?:Final(?:\[\w+\])?[ \t]*=[ \t]*)?"
    r"(?:\[(?!REDACTED:)[ \t]*)?(?:Some\((?=\\*\"))?(?:[bBrRuUfFnN@]{1,2}(?=[\"']))?"
    r"(?:(?P<quote>\\*[\"'])(?P=quote)(?=(?P=quote)))?(?P<open>\\*[\"'`])?(?:FlyV1[ \t]+)?"
)
WORD = late_re(
    r"(?:[^\0\s\"'`<>\\,;(){}\[\]|&]|&(?![&\s]|\w{1,64}=)|\\+(?:[^\w\s\"'`\\]|u(?!00[01])[0-9a-fA-F]{4}))+"
)
LINE = late_re(r"(?:[^\0\s\"'`<>\\]|\\+(?:[^\w\s\"'`\\]|u(?!00[01])[0-9a-fA-F]{4}))+")
QUERY = late_re(r"[^\0\s\"'`<>\\(){}\[\]|&#;,]+")
_CALL = late_re(r"[({\[!]|[A-Za-z_][\w.]*[(\[{]")
NOT_LITERAL = late_re(r"(?:[\s+,).;:&|}\]]|\\+[nrt]).*|.*[\s+,(]", re.DOTALL)
_TRAILING = ".,;:"
_QUOTE = {quote: late_re(rf"(?<!\\)(\\*+)(?:{quote}|[\r\n])") for quote in "\"'`"}
_LONGEST_QUOTED = 8192
_LINE_END = late_re(r"\\*[\r\n]|\\+[rn]")
_NEXT_LINE = late_re(rf"[ \t]*(?:{_LINE_END.pattern})")
_LONGEST_BLOCK = 2048


class ValuePlace(NamedTuple):
    """What stands around a value."""

    at: int  # where the text after the separator begins
    style: Style
    bare: re.Pattern[str]  # how far a value without quotes goes
    name_quote: str = ""


def value_span(text: str, secret: Secret, place: ValuePlace) -> Span | None:
    """The secret that stands there, None where what stands there is none."""
    start, quote = lead(text, place.at)
    if secret.proof is Proof.HEADER:
        return credentials(text, start)
    if secret.proof is Proof.COOKIES:
        return cookies(text, start)
    if quote and text.endswith(quote * 3, 0, start) and _NEXT_LINE.match(text, start):
        return _block(text, secret, start, quote)
    return _literal(text, secret, place, start, quote)


def _literal(text: str, secret: Secret, place: ValuePlace, start: int, quote: str) -> Span | None:
    if quote:
        end = closing(text, start, quote)
        if end is not None:
            value = text[start:end]
            if not place.name_quote and NOT_LITERAL.fullmatch(value):
                return None
            style = Style.QUOTED if place.style in {Style.BARE, Style.QUERY} else place.style
            return Span(start, end, secret.kind) if is_secret(value, secret.proof, style) else None
    if (app := APP_PASSWORD.match(text, start)) and secret.proof is Proof.ANY:
        return Span(*app.span(), secret.kind)
    found = place.bare.match(text, start, start + JUDGED)
    if found is None or _CALL.match(found[0]) or text[found.end() : found.end() + 1] in {"(", "[", "{"}:
        return None
    trailing = _TRAILING if place.style in LOOSE and place.bare is WORD else ",;"
    if not is_secret(found[0].rstrip(trailing), secret.proof, Style.QUOTED if quote else place.style):
        return None
    whole = place.bare.match(text, start) or found
    return Span(start, start + len(whole[0].rstrip(trailing)), secret.kind, "" if quote else place.name_quote)


def _block(text: str, secret: Secret, start: int, quote: str) -> Span | None:
    """The secret that is a whole text in three quotes: the one line of it, or lines that are one word each."""
    end = text.find(quote * 3, start, start + _LONGEST_BLOCK)
    lines, at = [], start
    for line_end in (*_LINE_END.finditer(text, start, max(start, end)), None):
        line = text[at : line_end.start() if line_end else max(at, end)]
        if said := line.strip():
            begin = at + line.index(said)
            lines.append((begin, begin + len(said)))
        at = line_end.end() if line_end else at
    said = "".join(text[begin:end] for begin, end in lines)
    if (
        not lines
        or (len(lines) > 1 and any(map(str.isspace, said)))
        or not is_secret(said, secret.proof, Style.QUOTED)
    ):
        return None
    return Span(lines[0][0], lines[-1][1], secret.kind)


def lead(text: str, at: int) -> tuple[int, str]:
    """Where a value begins, and its opening quote with the backslashes before it."""
    found = _LEAD.match(text, at)
    return (found.end(), found["open"] or "") if found else (at, "")


def closing(text: str, start: int, quote: str) -> int | None:
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
