"""Which facts a text tells, and which a summary leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from trajcompress.facts.reading import mentions
from trajcompress.facts.telling import telling_lines


def facts_in(facts: Sequence[str], text: str) -> tuple[str, ...]:
    """Return those of the facts that stand in a text, verbatim and as a whole."""
    return tuple(fact for fact in facts if fact in text and mentions(text, fact))


def facts_kept(facts: Sequence[str], summary_text: str) -> tuple[str, ...]:
    """Return those of the facts that a summary tells: verbatim, as a whole, and not in a bare list of names."""
    telling = telling_lines(summary_text)
    return facts_in(facts, telling)


def facts_missing(facts: Sequence[str], summary_text: str) -> tuple[str, ...]:
    """Return those of the facts that a summary leaves out, in their order."""
    kept = frozenset(facts_kept(facts, summary_text))
    return tuple(fact for fact in facts if fact not in kept)
