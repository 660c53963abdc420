"""Secrets whose name is told from them by neither ``=`` nor ``:``.

Flags, arguments of calls, name and value side by side, XML, SQL, netrc, tables and plain words.
"""

from __future__ import annotations

import re

from trajcompress.redact.headers import cookies, credentials
from trajcompress.redact.keys import Proof, name_that_ends, secret_of
from trajcompress.redact.literals import WORD, ValuePlace, lead, value_span
from trajcompress.redact.spans import MARK_START, Span
from trajcompress.redact.values import Style, is_secret

_QUOTE = r"\\*[\"']"
_LABEL = r"[^\"'\\<>\n=:,\[]{0,32}"  # the rest of a label or a selector: "Password field", "#password]"
# What stands between a name and a value, by how one follows the other. Nothing here and below looks beyond a mark: it
# may be shorter than its secret, and redacting again would look further.
_FORM = re.compile(
    rf"(?P<pair>{_LABEL}{_QUOTE}[^{{}}()\[\]<>;]{{0,100}}?\b(?:value|text)(?:{_QUOTE})?\s*[:=]\s*(?={_QUOTE})"
    r"|(?:\s|\\n)*(?:</\w+>)?(?:\s|\\n)*(?:<value>|value:[ \t]+))"
    rf"|(?P<argument>{_LABEL}{_QUOTE}\s*,\s*(?={_QUOTE}[^-]))"
    r"|(?P<element>>)"
    r"|(?P<said>[ \t]+(?:is|was)[ \t]+(?:now[ \t]+)?)"
    r"|(?P<cell>[ \t*`]{0,8}\|[ \t*]*)"
    r"|(?P<spaced>[ \t]+(?=[^\s|]))",
    re.IGNORECASE,
)
_ELEMENT = re.compile(r"(?:[ \t][^<>\n\[]{0,200})?>([^<>\n]{3,512})<\\?/")
_FLAG = re.compile(r"--?[A-Za-z]")
_APART = re.compile(r"(?:\A|[\s\"'`(]|\\[nrt])\Z")
_BEFORE = 80  # characters before a name that say what it is
_ARGUMENT = rf"\(\s*{_QUOTE}[^\"'\n]*\Z"
_CALLED = re.compile(rf"(?:\w|[\[(]){_ARGUMENT}")  # a call, or a pair in a list
_SETS = re.compile(rf"(?:fill|type|press|enter|send|set|put|add|append|header)\w*{_ARGUMENT}", re.IGNORECASE)
_ROW = re.compile(r"(?:\A|[\n\r]|\\[nr])[ \t]*\|[^\n]*\Z")
_NETRC = re.compile(r"\blogin\s+\S+\s+\Z")
_SQL = re.compile(r"\b(?:user|role|login|with|encrypted)\b[^\n]*\Z", re.IGNORECASE)
_CONFIGURED = re.compile(r"\bconfig(?:ure)?\b[^\n]*\Z")


def formed_span(text: str, end: int) -> Span | None:
    """The secret that follows the name that ends at ``end``, in one of these forms."""
    form = _FORM.match(text, end)
    if form is None:
        return None
    start, name = name_that_ends(text, end)
    secret = secret_of(name)
    if secret is None or secret.kind == "signature" or text.endswith(MARK_START, 0, start):
        return None
    if text.endswith(("<", ":"), 0, start) and (element := _ELEMENT.match(text, end)):
        found = is_secret(element[1], secret.proof, Style.QUOTED)
        return Span(*element.span(1), secret.kind) if found else None
    before = text[max(0, start - _BEFORE) : start].rpartition(MARK_START)[2]
    style = _style(text, form, name, before)
    if style is None:
        return None
    if secret.proof in {Proof.HEADER, Proof.COOKIES}:
        read = credentials if secret.proof is Proof.HEADER else cookies
        return read(text, lead(text, form.end())[0])
    return value_span(text, secret, ValuePlace(form.end(), style, WORD))


def _style(text: str, form: re.Match[str], name: str, before: str) -> Style | None:
    """Judge by what stands around a name whether a value follows it, and how it is written."""
    flag = _FLAG.match(name) is not None and _APART.search(before) is not None
    if form["argument"]:
        if flag and form[0][0] in "\"'\\" and before.endswith(("'", '"')):
            return Style.QUOTED
        return _style_of_argument(before)
    if form["pair"]:
        return Style.SHELL if name.isupper() else Style.ASIDE
    if form["spaced"]:
        return _style_of_words(text, form.end(), name, before, flag=flag)
    return Style.ASIDE if form["said"] or (form["cell"] and _ROW.search(before)) else None


def _style_of_argument(before: str) -> Style | None:
    if _CALLED.search(before) is None:
        return None
    return Style.QUOTED if _SETS.search(before) else Style.ASIDE


def _style_of_words(text: str, at: int, name: str, before: str, *, flag: bool) -> Style | None:
    if flag:
        return None if text[at] == "-" else Style.BARE
    if lead(text, at)[1] and (name.isupper() or _SQL.search(before)):
        return Style.SHELL
    before = before.lower()
    if "login" in before and _NETRC.search(before):
        return Style.SHELL
    return Style.ASIDE if "config" in before and _CONFIGURED.search(before) else None
