"""What aider reports of edits and commands in its history of a chat, without its marks and questions."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from trajcompress.processes.late_patterns import late_re

_BEGINS = "> ", "Tokens: "  # with its marks, and as it stands on the screen
_APPLIED = "Applied edit to "
_MOST_CHARS = 100_000
_ASIDE = late_re(  # what it counts, advises, and is told when it asks
    r"(?:Tokens: [\d.,k]{1,9} sent|You can use /undo to |Aider v\d|Committing [^\n]{1,300} before applying edits"
    r"|[^\n]{1,300}\? \(Y\)es/\(N\)o)"
)
_MISSED = late_re(r"^(?:> ?)?# \d{1,3} SEARCH/REPLACE blocks? failed to match!$", re.MULTILINE)
_UNDO = "Removed: "
_REMOVED = late_re(r"^(?:> ?)?Removed: ([0-9a-f]{7}) ", re.MULTILINE)
_COMMITS = late_re(r"^(?:> ?)?Commit ([0-9a-f]{7}) ", re.MULTILINE)
_COMMITTED = late_re(r"Commit [0-9a-f]{7,12} \S")


def undone_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the commits that a person has aider undo, as it says, by their hashes."""
    return frozenset(found[1] for text in texts if _UNDO in text for found in _REMOVED.finditer(text))


def is_undone(result: str, undone: Collection[str]) -> bool:
    """Whether all commits that aider reports in a result are among those that were undone."""
    made = _COMMITS.findall(result) if undone else []
    return bool(made) and all(commit in undone for commit in made)


def told_by_aider(text: str) -> str:
    r"""Return how it says that it committed its edits, which files it edited, and what else it printed.

    Of blocks that did not match only where they were to; nothing of another result.

    >>> told_by_aider("> Applied edit to a.py\n> Commit 1b2614a fix: count from one")
    'Commit 1b2614a fix: count from one'
    """
    if not text.startswith(_BEGINS) or len(text) > _MOST_CHARS:
        return ""
    lines = [line.removeprefix(">").strip() for line in text.splitlines()]
    if _MISSED.search(text):
        return "\n".join(line.lstrip("# ") for line in lines if line.startswith("#"))
    applied = [line for line in lines if line.startswith(_APPLIED)]
    if not applied:
        return ""
    last = len(lines) - lines[::-1].index(applied[-1])
    asked = {place for place, line in enumerate(lines) if _ASIDE.match(line)}
    asked |= {place - 1 for place in asked if "(Y)es/(N)o" in lines[place]}  # of which file, or command
    committed = [line for line in lines[last:] if _COMMITTED.match(line)]
    kept = (line for place, line in enumerate(lines) if place not in asked)
    others = [line for line in kept if line and line not in applied and not _COMMITTED.match(line)]
    return "\n".join([*(committed or applied), *others])
