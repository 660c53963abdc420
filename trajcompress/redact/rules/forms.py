"""Secrets whose name is told from them by neither ``=`` nor ``:``.

Flags, arguments of calls, name and value side by side, XML, SQL, netrc, tables and plain words. Nothing here looks
beyond a mark: it may be shorter than its secret, and redacting again would look further.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcompress.processes.late_patterns import late_re
from trajcompress.redact.keys import Proof, is_flag, name_that_ends, secret_of
from trajcompress.redact.rules.literals import WORD, ValuePlace, lead, value_span
from trajcompress.redact.rules.spoken import TOLD
from trajcompress.redact.spans import MARK_START, Span
from trajcompress.redact.values import Style, is_secret

_QUOTE = r"\\*[\"']"
_LABEL = r"[^\"'\\<>\n=:,\[]{0,32}"  # the rest of a label or a selector: "Password field", "#password]"
_BLANKS = r"(?:\s|\\++[nrt]|(?<![\w.])\d{1,6}[\t:|→])*+"  # with the numbers of lines
# What stands between a name and a value, by how one follows the other.
_CLOSED = rf"{_LABEL}(?:{_QUOTE}\])?{_QUOTE}"
_ARGUMENT = late_re(rf"{_CLOSED}\s*,\s*(?={_QUOTE}[^-])")
_TYPED = late_re(
    rf"{_CLOSED}\)\s*\.\s*(?:fill|type|send_?keys|pressSequentially|setValue)\(\s*(?={_QUOTE})", re.IGNORECASE
)
_NAMES_OF_VALUES = ("value", "text", "content", "input", "keys", "data")
_TELLS = rf"[^{{}}()\[\]<>;]{{0,100}}?\b(?:{'|'.join(_NAMES_OF_VALUES)})(?:{_QUOTE})?\s*[:=]\s*(?={_QUOTE})"
_BESIDE = late_re(rf"{_LABEL}(?:{_QUOTE}\])?{_QUOTE}{_TELLS}|\]{_QUOTE}{_TELLS}", re.IGNORECASE)
_WITHIN = 300  # characters in which that stands
_UNDER_IT = late_re(
    rf"{_QUOTE}\s*\{{{_BLANKS}(?:(?!default\b)\w+\s*=[^\n\\]{{0,80}}{_BLANKS}){{0,6}}default\s*=\s*(?={_QUOTE})"
    rf"|{_BLANKS}(?:</\w+>{_BLANKS})?(?:<value>|value:[ \t]+)",
    re.IGNORECASE,
)
_SAID = late_re(r"[ \t]+(?:is|was)(?:[ \t]+now)?:?[ \t]+", re.IGNORECASE)
_CELL = late_re(r"[ \t*`]{0,8}\|[ \t*]*|\s*</t[dh]>\s*<t[dh][^<>\[]{0,80}>", re.IGNORECASE)
_BELOW = late_re(r"[=:][ \t]*(?:[>|][+-]?\d?)?[ \t]*(?:\n|\\+n)[ \t]*(?:\d{1,6}[\t:|→])?[ \t]*(?=[^\s-])")
_LEVEL = late_re(r"[ \t]+\d[ \t]+(?=\S)")  # how a router stores it
_SPACED = late_re(r"[ \t]+(?=[^\s|-])")
_ELEMENT = late_re(r"(?:[ \t][^<>\n\[]{0,200})?>([^<>\n\"]{3,512})<\\*/")

_OR = late_re(rf"\\*[\"']?[)\]]?\s*(?:\|\||\?\?)\s*(?={_QUOTE})")
_UNDER = late_re(r"(?:\n|\\+n)[ \t]*(?=[\w+/=.-]{20,}(?:\n|\\+n|\Z))")
_BY_NEXT = {
    "\n": (_UNDER,),
    "\\": (_UNDER,),
    " ": (_SAID, _LEVEL, _OR),
    "\t": (_SAID, _LEVEL),
    ":": (_BELOW,),
    "=": (_BELOW,),
}
"""Forms that begin with a character, apart from those that quotes begin."""

_TYPE = late_re(r"[a-z]+:[A-Za-z]+")  # xs:string
_QUOTED = frozenset("\"'\\`")
_BEFORE = 80  # characters before a name that say what it is
_APART = late_re(r"(?:\A|[\s\"'`(]|\\[nrt])\Z")
_CALL = rf"\(\s*{_QUOTE}(?:[^\"'\n]|={_QUOTE})*\Z"
_CALLED = late_re(rf"(?:\w|[\[(,]\s?){_CALL}")  # a call, or a pair in a list
_SETS = late_re(
    rf"\b(?:fill|setenv|putenv|put|define|setItem|setProperty|(?:set|add)_?(?:request_?)?header){_CALL}",
    re.IGNORECASE,
)
_ROW = late_re(r"(?:\A|[\n\r]|\\[nr])[ \t]*\|[^\n]*\Z")
_NETRC = late_re(r"\b(?:machine\s+\S+|default)\s+login\s+\S+\s+\Z")
_SQL = late_re(r"\b(?:create|alter)\s+(?:user|role|login)\b[^\n;]*\Z", re.IGNORECASE)
_VARIABLE = late_re(r"\b(?:ENV|ARG|setx)[ \t]+\Z")
_NUMBER = late_re(r"(?<![^\n])[ ]*\d{1,6}\Z")  # of a line
_LONG = late_re(r"(?=\S{0,64}\d)[\w+/=-]{20,}(?=[\s,.;]|\Z)")
_ALONE = late_re(r"[\"']?[^\s\"'\\]+[\"']?(?:[ \t]*(?:[\r\n]|\\+[nr]|#)|\s*\\*[\"'`}]*\Z|\\*[\"']\s*[},])")
_KEY = late_re(rf"{_QUOTE}\s*:")
_CONFIGURED = late_re(r"\bconfig(?:ure)?\b[^\n]*\Z")


def formed_spans(text: str, end: int) -> Iterator[Span]:
    """The secrets that follow the name that ends at ``end``, in one of these forms."""
    start, name = name_that_ends(text, end)
    secret = secret_of("password" if name.lower() == "pass" and text.endswith("<", 0, start) else name)
    if secret is None or secret.kind == "signature" or text.endswith(MARK_START, 0, start):
        return
    if (secret.proof is Proof.HEADER or secret.proof is Proof.COOKIES) and text[end : end + 1] not in _QUOTED:
        return
    if text.endswith(("<", ":"), 0, start) and (element := _ELEMENT.match(text, end)):
        if is_secret(element[1], secret.proof, Style.QUOTED) and not _TYPE.fullmatch(element[1]):
            yield Span(*element.span(1), secret.kind)
        return
    before = text[max(0, start - _BEFORE) : start].rpartition(MARK_START)[2]
    for at, style in _places(text, end, name, before):
        span = value_span(text, secret, ValuePlace(at, style, WORD))
        if span and not _KEY.match(text, span.end):  # the next key of an object, after a text that ends in a name
            yield span


def _places(text: str, end: int, name: str, before: str) -> Iterator[tuple[int, Style]]:
    """Where values may follow a name, and how they are written, by what stands around the name."""
    following = text[end : end + 1]
    flag = is_flag(name) and _APART.search(before) is not None
    near = text[end : end + _WITHIN].lower()
    beside = _BESIDE.match(text, end) if any(word in near for word in _NAMES_OF_VALUES) else None
    if form := beside or _UNDER_IT.match(text, end):
        yield form.end(), Style.QUOTED if name.isupper() else Style.ASIDE
    if following not in " \t\n<|:=" and (form := _TYPED.match(text, end)):
        yield form.end(), Style.QUOTED
    if form := _ARGUMENT.match(text, end):
        if flag and form[0][0] in "\"'\\" and before.endswith(("'", '"')):
            yield form.end(), Style.QUOTED
        elif _CALLED.search(before):
            yield form.end(), Style.QUOTED if _SETS.search(before) else Style.ASIDE
    yield from (
        (form.end(), Style.ASIDE) for pattern in _BY_NEXT.get(following, ()) if (form := pattern.match(text, end))
    )
    if (form := _CELL.match(text, end)) and ("<" in form[0] or _ROW.search(before)):
        yield form.end(), Style.ASIDE
    if following == " " and (form := TOLD.match(text, end)) and form["of"] and MARK_START not in form[0]:
        yield form.end(), Style.ASIDE
    if following in " \t" and (form := _SPACED.match(text, end)):
        style = _style_of_words(text, form.end(), name, before, flag=flag)
        if style:
            yield form.end(), style


def _style_of_words(text: str, at: int, name: str, before: str, *, flag: bool) -> Style | None:
    """How a value is written that only blanks part from its name; None where that is no value."""
    quoted = bool(lead(text, at)[1])
    lowered = before.lower()
    if flag:
        return Style.BARE
    if (quoted and _SQL.search(before)) or (name.isupper() and _VARIABLE.search(before)):
        return Style.SHELL
    if "login" in lowered and _NETRC.search(lowered):
        return Style.SHELL
    begins = _begins_a_line(lowered)
    if begins and name.isupper() and "_" in name and text[at - 2 : at].isspace():
        return Style.SHELL
    directive = begins and (_ALONE.match(text, at) or text[at - 3 : at].isspace())
    configured = "config" in lowered and _CONFIGURED.search(lowered) and not name.endswith("signingkey")
    return Style.ASIDE if directive or configured or _LONG.match(text, at) or (name.isupper() and quoted) else None


def _begins_a_line(before: str) -> bool:
    start = _NUMBER.sub("", before.rstrip(" \t"))
    return not start or start.endswith(("\n", "\r", "\\n", ': "', ': \\"'))
