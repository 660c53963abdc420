"""What an HTML page shows: its text, and where its links and forms lead."""

from __future__ import annotations

import re
from html import unescape

from trajcompress.facts.markup import BLOCK_END, TAG
from trajcompress.processes.late_patterns import late_re

_PAGE = late_re(r"<(?:!DOCTYPE html|html|head|body|table|h[1-6])\b", re.IGNORECASE)
_STARTS = late_re(  # where a line begins, or behind a declaration: code that prints a page is none
    r"(?:^|\?>)[^\w\n<]{0,40}\Z", re.MULTILINE
)
_STARTS_CHARS = 42
_BEGINS_WITHIN = 2_000
_HIDDEN = late_re(r"<(script|style)\b[^<>]{0,300}>.{0,4000}?</\1>|<!--.{0,2000}?-->", re.DOTALL | re.IGNORECASE)
_NAMING = late_re(
    r"<(?:a|form)\b[^<>]{0,200}?\b(?:href|action)=\"([^\"<>]{1,200})\"[^<>]{0,200}>",
    re.IGNORECASE,
)
_CELL = late_re(r"</t[dh]\b[^<>]{0,40}>", re.IGNORECASE)
_CODE = late_re(  # a statement that prints tags, as in a source that a page shows
    r"^(<br ?/?>)?[^<>\n\"'`(=]{0,400}+[\"'`(=][^<>\n]{0,400}+<[^\n]{1,2000}[;{}]"
    r"(?=[ \t]{0,8}(?:<br ?/?>)?[ \t]{0,8}$)",
    re.MULTILINE,
)
_KEPT = "\0"
_ENTITY = late_re(r"&#?\w{1,10};\Z")


def is_page(text: str) -> bool:
    """Whether a text is a page, maybe behind what a client printed of its progress."""
    tags = (tag.start() for tag in _PAGE.finditer(text, 0, _BEGINS_WITHIN))
    return any(_STARTS.search(text, max(at - _STARTS_CHARS, 0), at) for at in tags)


def shown_text(text: str) -> str:
    """Return a value without the tags and the entities of a page, where it has some."""
    return unescape(TAG.sub("", text)) if "</" in text else text


def visible(page: str) -> str:
    r"""Return what a page shows, a line for each block; links and forms with their address, and code as it stands.

    >>> visible('<body><a href="/cgi/hello.pl">Hello</a><br>Name: <input type="text" name="who"></body>')
    ' /cgi/hello.pl Hello\nName: '
    """
    page = _CODE.sub(_kept, _HIDDEN.sub(" ", page.replace(_KEPT, " ")))
    shown = _CELL.sub(" ", _NAMING.sub(r" \1 ", page))
    return TAG.sub("", BLOCK_END.sub("\n", shown)).replace(_KEPT, "<")


def _kept(line: re.Match[str]) -> str:
    """Return a line of code with what keeps its tags; one that ends with an entity is none."""
    return line[0] if _ENTITY.search(line[0]) else line[0].removeprefix(line[1] or "").replace("<", _KEPT)
