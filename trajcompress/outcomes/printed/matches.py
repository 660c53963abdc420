"""What a search found, each match in a line behind the number of that line."""

from __future__ import annotations

import re

from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.processes.late_patterns import late_re

_SEARCHES = late_re(r"search|find|grep", re.IGNORECASE)
_SEARCH = late_re(
    r"(?:git )?(?:e?grep|rg|ag|ack|find|awk|wc|log|diff|blame|status)\b|[^\n]{0,200}\| *(?:e?grep|rg)\b"
    r"|(?:search|find)_\w"
)
_MATCH = late_re(  # no date, no time; behind the number of a line around one stands a hyphen
    r"^((?!\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d)(?:Line |(?P<file>[\w.@+/-]{1,300}):|[\w.@+/-]{1,300}-)?"
    r"(?P<number>\d{1,7})(?P<sign>[:-]).{0,300}"
    r"|(?P<counted>[\w.@+/-]{1,300}) \(\d{1,7} matches\))$",  # of a file, as SWE-agent's `search_dir` counts them
    re.MULTILINE,
)
_STATED = late_re(  # by the tool: not all may be shown
    r"\b(?:[Ff]ound|[Tt]otal:?|of) (\d[\d,]{0,9}) (?:total )?(?:match(?:es|ing)|results|occurrences|hits)\b"
)
_CUT = late_re(  # by a harness, or by whoever recorded it
    r"(?:\.{3}|…) ?\(?(?:[\d,]{1,12} (?:tokens|chars|characters|bytes|lines) )?truncated\b"
    r"|\[\.{3} (?:omitted|removed|output truncated) |\b[Rr]esults are truncated\b"
)
_READ_CHARS = 6_000
_MOST_USED = 2


def searches(action: Action | None) -> bool:
    """Whether a result is what a search found, and not what it was looked for in."""
    if action is None:
        return False
    return _SEARCHES.search(action.name) is not None or _SEARCH.match(action.target) is not None


def matches(body: str, action: Action | None, later: Later) -> list[str]:
    """Return how many matches a search found, and those that later turns take up, else the first and the last.

    Nothing of what holds no matches. Lines that stand around one are not counted.
    """
    begin = body[:_READ_CHARS]
    found = list(_MATCH.finditer(begin))
    is_search = searches(action) or any(each["file"] or each["counted"] for each in found)
    if 2 * len(found) <= begin.count("\n") or not is_search:
        return []
    lines = [each[1] for each in found if each["sign"] != "-"] or [each[1] for each in found]
    shown = {each[1] for each in found}
    used = [each[1] for each in found if each["number"] in later][:_MOST_USED]  # as lines that the next turn opens
    used = used or [each.line for each in lines_used(begin, later, _MOST_USED) if each.line in shown]
    if used and used[0] not in lines:  # what stands around a match is none
        used = [lines[0], f"beside: {used[0]}", *used[1:]]
    first, *others = used or dict.fromkeys((lines[0], lines[-1]))
    stated = _STATED.search(body)
    is_cut = len(body) > _READ_CHARS or _CUT.search(body) is not None
    count = stated[1] if stated else f"{len(lines)}{'+' if is_cut else ''}"
    return [f"{count} matches: {first}", *others]
