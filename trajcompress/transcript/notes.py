"""What harnesses say in tags around the words of a person or a tool: what an editor has open, what not to forget."""

from __future__ import annotations

from trajcompress.processes.late_patterns import late_re

_TAGS = "environment_details", "system-reminder"
"""Cline has one behind each turn; Claude Code has several before a request, and behind a result."""

_OF_STATE = "environment_details"
_LEAST_CHARS = 200
_MOST = 8
"""As many are taken off either end, so that no text is searched more often."""

_CONSTANTS = late_re(  # of Claude Code, and of Inspect's agents
    r"\s{0,8}(?:\[Request interrupted by user(?: for tool use)?\]"
    r"|Your submission was incorrect\. Please proceed and attempt to find the correct answer\."
    r"|Please proceed to the next step using your best judgement\."
    r"(?:\s{1,4}If you believe you\s{1,4}have completed the task, please call the `?\w{1,40}(?:\(\))?`? tool"
    r"[^\n]{0,80})?)\s{0,8}"
)
_CONSTANT_CHARS = 300
_PLAN_TAIL = "If you need specific details from before exiting plan mode ("
_PLAN_TAIL_ENDS = "read the full transcript at: "
_PLAN_TAIL_CHARS = 1_500


def is_constant(text: str) -> bool:
    """Whether a turn is what harnesses say in the place of a person, always in the same words."""
    return len(text) <= _CONSTANT_CHARS and _CONSTANTS.fullmatch(text) is not None


def without_notes(text: str) -> str:
    """Return a text without the notes before and behind it; nothing of one that is made of them alone."""
    if is_constant(text):
        return ""
    tail = text.find(_PLAN_TAIL, max(len(text) - _PLAN_TAIL_CHARS, 0))
    if tail >= 0 and _PLAN_TAIL_ENDS in text[tail:] and "\n" not in text[tail:].strip():
        text = text[:tail].rstrip()  # of Claude Code, behind a plan that a person accepts
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


def without_state(text: str) -> str:
    """Return a result without what a note behind it tells of an editor's state, which later ones tell anew."""
    before, begin, rest = text.rpartition(f"<{_OF_STATE}>")
    told, end, behind = rest.rpartition(f"</{_OF_STATE}>")
    if not begin or not end or behind.strip() or len(told) < _LEAST_CHARS:
        return text
    return f"{before}{begin}[… {len(told):,} characters elided …]{end}{behind}"
