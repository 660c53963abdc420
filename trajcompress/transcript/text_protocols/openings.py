"""How turns begin: the label, the sign, or the first words that one has in common with others. Pure."""

from __future__ import annotations

from trajcompress.processes.late_patterns import late_re

_LABEL = late_re(r"\s{0,20}[^\W\d_][^\n:：]{1,40}[:：](?=\s)")
_BRACKETS = late_re(r"\s{0,8}(?:【[^】\n]{1,30}】|\[[^\]\n]{1,30}\])")
_HEADER = late_re(r"\s{0,8}(?:\[[^\]\n]{1,30}\]\s|<[a-z][\w-]{1,30}[ >]|\{\s{0,8}\"\w{1,40}\"\s{0,2}:)")
_FIGURES = late_re(r"\d+")
BEGIN_CHARS = 12


def label_of(text: str) -> str:
    """Return the label that a text begins with, as ``Output:``; nothing where it has none."""
    label = _LABEL.match(text)
    return label[0].strip() if label else ""


def form_of(text: str) -> str:
    """Return the label, the header, the tag or the first key that a text begins with; nothing where it has none."""
    header = _LABEL.match(text) or _HEADER.match(text)
    return header[0].strip() if header else ""


def opening_of(text: str) -> str:
    """Return the label that a text begins with, else its first characters."""
    label = _LABEL.match(text) or _BRACKETS.match(text)
    return label[0].strip() if label else text.lstrip()[:BEGIN_CHARS]


def begin_of(text: str) -> str:
    """Return with what kind of character a text begins: a sign itself, a letter by its case, a figure."""
    first = text.lstrip()[:1]
    if not first.isalnum():
        return first
    return "0" if first.isdigit() else "A" if first.isupper() else "a"


def without_figures(text: str, most: int = BEGIN_CHARS) -> str:
    """Return so many of the first characters of a text, whatever the figures among them."""
    return _FIGURES.sub("0", text[: 2 * most])[:most]
