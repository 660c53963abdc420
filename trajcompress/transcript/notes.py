"""What harnesses say in tags around the words of a person or a tool: what an editor has open, what not to forget."""

from __future__ import annotations

_TAGS = "environment_details", "system-reminder"
"""Cline has one behind each turn; Claude Code has several before a request, and behind a result."""

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


def notes_at(text: str) -> int:
    """Return where the notes behind a text begin, with the spaces before them; its length without spaces if none."""
    end = len(text.rstrip())
    tags = [tag for tag in _TAGS if f"</{tag}>" in text]
    for tag in tags * _MOST:
        if text.endswith(f"</{tag}>", 0, end) and (begin := text.rfind(f"<{tag}>", 0, end)) >= 0:
            end = len(text[:begin].rstrip())
    return end
