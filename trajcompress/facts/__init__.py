"""The facts that the rest of a trajectory needs from the turns that a summary replaces. Pure.

This tool is offline, so it knows the future: the kept turns after the region name paths, ids, figures and the like.
What only the region tells them, in no turn that is kept before, must survive in the summary.
"""

from __future__ import annotations

from trajcompress.facts.brief_words import in_brief, in_few_words
from trajcompress.facts.kept import facts_in, facts_kept, facts_missing
from trajcompress.facts.needed import MAX_FACTS, facts_needed
from trajcompress.facts.note import facts_lines, facts_note, without_note
from trajcompress.facts.telling import Told, around, told_where, words_around

__all__ = [
    "MAX_FACTS",
    "Told",
    "around",
    "facts_in",
    "facts_kept",
    "facts_lines",
    "facts_missing",
    "facts_needed",
    "facts_note",
    "in_brief",
    "in_few_words",
    "told_where",
    "without_note",
    "words_around",
]
