"""Trimming a summary that is too long: it ends with a sentence, and what is needed of it is put back. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from trajcompress.facts import around, facts_lines, facts_missing, facts_note
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.summary_marks import SUMMARY_PREFIX

_SENTENCE_END = late_re(r"[.!?…]+[\"')\]*_`]*(?=\s|$)|[。！？]|(?=\n)")
_WORD_END = late_re(r"(?<=\S)(?=\s)")


def trim_summary_text(
    text: str, room: int, needed: Sequence[str], count: Callable[[str], int], *, in_part: bool
) -> str | None:
    """Trim a summary to so many tokens, and put what is needed of it back, in the words that it stood in.

    Args:
        text: the summary, without such a note.
        room: the tokens that it may take.
        needed: facts, the most important first.
        count: counts the tokens of a text.
        in_part: whether the facts that do not fit may be left out.

    Returns:
        The summary; None where not all that must be in it fits.
    """
    allowed = room
    while (body := trim_text(text, allowed, count)) is not None:
        note = facts_lines(_words(needed, body, text))
        trimmed = f"{body}\n{note}" if note else body
        over = count(trimmed) - room
        if over <= 0:
            return trimmed
        allowed = min(count(body), allowed) - over
    body = trim_text(text, room, count) if in_part else None
    if body is None:
        return None
    note = facts_note(_words(needed, body, text), room - count(body) - 1, count)
    return f"{body}\n{note}" if note else body


def _words(needed: Sequence[str], body: str, text: str) -> list[str]:
    """Return the words in which a whole summary tells what a trimmed one leaves out."""
    told = text.removeprefix(SUMMARY_PREFIX)
    return [around(fact, told) or fact for fact in facts_missing(needed, body)]


def trim_text(text: str, room: int, count: Callable[[str], int]) -> str | None:
    """Return as much of a summary as fits, up to the end of a sentence, else of a word; None where nothing does."""
    if room <= 0:
        return None
    for end in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in end.finditer(text, len(SUMMARY_PREFIX))]
        at = bisect_right(ends, room, key=lambda end: count(text[:end].rstrip()))
        trimmed = text[: ends[at - 1]].rstrip() if at else ""
        if len(trimmed) > len(SUMMARY_PREFIX):
            return trimmed
    return None
