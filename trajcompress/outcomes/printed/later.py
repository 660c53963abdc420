"""Lines of a result whose words the next turns bring in: they tell the most of what came of it."""

from __future__ import annotations

from typing import NamedTuple

from trajcompress.facts.next_turns import Later
from trajcompress.facts.parts import best_parts

_LINE_CHARS = 160  # a longer line tells several things


class Used(NamedTuple):
    """A line of a result that later turns use: where it begins, the whole of it, and the ``part`` that says so."""

    start: int
    line: str
    part: str


def lines_used(body: str, later: Later, most: int) -> list[Used]:
    """Return the lines of a text that later turns take most from, in their order.

    Args:
        body: a result.
        later: the words that they bring in.
        most: how many lines to return at most.
    """
    found: dict[int, Used] = {}
    for start, end in best_parts(body, later, most):
        begins = body.rfind("\n", 0, start) + 1
        line = body[begins : stop if (stop := body.find("\n", begins)) >= 0 else None]
        part = line if len(line) <= _LINE_CHARS else body[start:end]
        found.setdefault(begins, Used(begins, line, part))
    return list(found.values())
