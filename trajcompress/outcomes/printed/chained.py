"""What several commands printed that ran in one line, one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from trajcompress.outcomes.action.actions import SHELLS, Action
from trajcompress.outcomes.printed.shown import tells
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import holds_any, late_re

_QUOTED = late_re(r"'[^'\n]{0,400}'|\"(?:[^\"\\\n]|\\.){0,400}\"")
_CHAIN = late_re(r"(?:;|&&|\|\||\n)\s{0,8}[\w./~$\[({]")  # behind a semicolon another command
_RUNS_LAST = late_re(
    r"(?:;|&&) ?(?:python[\d.]{0,5}|pytest|node|bash|sh|ruby|perl|php|make|npm|npx|cargo|go|java|\./\S{1,80})"
    r"(?: [^;&|]{0,300})?\Z"
)
_INTERPRETER = late_re(
    r"shell|bash|terminal|command|i?python|interpreter"
    r"|(?<![a-z])(?:node|ruby|perl|java|sh|php|go)(?:\d[\d.]{0,6})?\Z|PYTHONPATH=",
    re.IGNORECASE,
)
_PARTS = ("echo", "printf", "Write-Host", "Write-Output")
_SEPARATOR = late_re(r"\s{0,8}([-=#*~+_])\1{1,80}(?: ?([^\W_][^\n]{0,60}?) ?\1{2,80})?\s{0,8}")


class Begun(NamedTuple):
    """How a part of a result begins, and under which ``title``, where it has one."""

    title: str
    line: str


def is_chain(action: Action | None) -> bool:
    """Whether several commands ran, of which the last may be of another kind than the first.

    >>> [is_chain(Action("bash", ran, "idle")) for ran in ("ls -la; node -v", "echo 'a; b'", "pwd;")]
    [True, False, False]
    """
    if action is None or action.kind not in {"run", "idle"}:
        return False
    return _CHAIN.search(_QUOTED.sub("''", action.target)) is not None


def runs_at_last(action: Action | None) -> bool:
    """Whether a command that writes a file runs a program behind that, which printed what came.

    >>> runs_at_last(Action("", "cat <<'EOF' > fix.py; python fix.py", "change"))
    True
    """
    return action is not None and action.kind == "change" and _RUNS_LAST.search(action.target) is not None


def runs_programs(action: Action | None) -> bool:
    """Whether what a shell or an interpreter ran printed a result: that says most at its end."""
    if action is None or not (action.kind == "run" or is_chain(action) or runs_at_last(action)):
        return False
    return action.name.lower() in SHELLS or _INTERPRETER.search(action.name) is not None


def parts_begun(body: str, action: Action | None) -> list[Begun]:
    """Return how the parts of a result begin that a command set apart by lines of its own; none where it did not."""
    if action is None or not holds_any(action.target, _PARTS):
        return []
    found: list[Begun] = []
    title, begins, separators = "", True, 0
    for line in body.splitlines():
        if separator := _SEPARATOR.fullmatch(line):
            title, begins, separators = one_line(separator[2] or ""), True, separators + 1
        elif begins and tells(line):
            found.append(Begun(title, one_line(line)))
            begins = False
    return found if separators else []


def without_separators(lines: Sequence[str]) -> list[str]:
    """Return lines without those that set parts apart."""
    return [line for line in lines if not _SEPARATOR.fullmatch(line)]


def entitle(lines: list[str], parts: Sequence[Begun]) -> list[int]:
    """Put the line with which each part begins under its title; return the places of these."""
    places = {line: place for place, line in reversed([*enumerate(lines)])}
    begun = {places[part.line]: part for part in parts if part.line in places}
    for place, part in begun.items():
        lines[place] = f"{part.title}: {part.line}" if part.title else part.line
    return sorted(begun)
