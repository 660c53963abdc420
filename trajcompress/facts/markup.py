"""What Markdown and HTML show: their words without addresses, pictures and tags."""

from __future__ import annotations

import re
from html import unescape

from trajcompress.processes.late_patterns import late_re

_ADDRESS = r"\(([^()\s]{1,2000}(?:\([^()\s]{1,200}\)[^()\s]{0,200})?)(?:\s\"([^\"\n]{0,300})\")?\)"
_LINK = late_re(rf"\[(\[?[^\[\]\n]{{0,300}}\]?)\]{_ADDRESS}")
_PICTURE = late_re(rf"!\[[^\[\]\n]{{0,300}}\]{_ADDRESS}")
BLOCK_END = late_re(r"<(?:br|/p|/li|/div|/tr|/h\d|/title|/option)\b[^<>]{0,40}>", re.IGNORECASE)
TAG = late_re(r"</?[a-z!?][^<>]{0,400}>", re.IGNORECASE)


def unlinked(text: str) -> str:
    """Return what Markdown shows: the text of links without their addresses, no pictures and no footnotes' marks.

    >>> unlinked('He saw [Mexico](/wiki/Mexico_(city) "Mexico") first.[[1]](#cite_note-1)')
    'He saw Mexico first.'
    """
    return _LINK.sub(_without_address, _PICTURE.sub(" ", text)) if "](" in text else text


def _without_address(link: re.Match[str]) -> str:
    if link[1].startswith("["):
        return ""
    return f"{link[1]} " if link.string[link.end() : link.end() + 1].isalnum() else link[1]


def shown(text: str) -> str:
    """Return what a text shows, a line for each block, where it is Markdown or has blocks of HTML."""
    if "</" in text and BLOCK_END.search(text):
        text = unescape(TAG.sub(" ", BLOCK_END.sub("\n", text)))
    return unlinked(text)


def linked(text: str, place: int) -> str:
    """Return the link at a place as ``words: address``; nothing where there is none."""
    start = text.rfind("](", max(place - 2_000, 0), place + 1)
    start = text.rfind("[", max(start - 300, 0), start) if start >= 0 else -1
    link = _LINK.match(text, start) if start >= 0 else None
    if link is None or not link.start() <= place < link.end():
        return ""
    label = link[1].strip("[] ")
    return f"{label}: {link[2]}" if label and not label.isdecimal() else link[2]
