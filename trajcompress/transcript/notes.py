"""What harnesses say in tags around the words of a person or a tool: what an editor has open, what not to forget."""

from __future__ import annotations

_TAGS = "environment_details", "system-reminder"
"""Cline has one behind each turn; Claude Code has several before a request, and behind a result."""

_OF_STATE = "environment_details"
_LEAST_CHARS = 200
_MOST = 8
"""As many are taken off either end, so that no text is searched more often."""


def without_notes(text: str) -> str:
    """Return a text without the notes before and behind it; nothing of one that is made of them alone."""
    tags = [tag for tag in _TAGS if f"</{tag}>" in text]
    if not tags:
        return text
    said = text.strip()
    for tag in tags * _MOST:
        if said.startswith(f"<{tag}>") and (end := said.find(f"</{tag}>")) >= 0:
            said = said[end + len(tag) + 3 :].lstrip()
        if said.endswith(f"</{tag}>") and (begin := said.rfind(f"<{tag}>")) >= 0:
            said = said[:begin].rstrip()
    return said


def without_state(text: str) -> str:
    """Return a result without what a note behind it tells of an editor's state, which later ones tell anew."""
    before, begin, rest = text.rpartition(f"<{_OF_STATE}>")
    told, end, behind = rest.rpartition(f"</{_OF_STATE}>")
    if not begin or not end or behind.strip() or len(told) < _LEAST_CHARS:
        return text
    return f"{before}{begin}[… {len(told):,} characters elided …]{end}{behind}"
