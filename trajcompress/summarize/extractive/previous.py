"""An earlier summary as lines of the record: told again before what is new, each thing once."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajcompress.outcomes.text import harmless, one_line, shorten
from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.answer import strip_prefixes
from trajcompress.summarize.extractive.fit import ASKED, CHANGED, Line, Section
from trajcompress.summarize.extractive.left_out import (
    COMMAND,
    MOST_WORDS,
    OTHERS,
    REQUEST,
    Left,
    counts,
    read_left,
    steps_in,
    tool_named,
)

_SECTIONS = {
    "goal": Section.REQUESTS,
    "task": Section.REQUESTS,
    "requests": Section.REQUESTS,
    "replies": Section.REPLIES,
    "notes": Section.NOTES,
    "actions": Section.STEPS,
    "actions taken": Section.STEPS,
    "steps": Section.STEPS,
    "files changed": Section.CHANGED,
}
_SKIPPED = frozenset({"needed later", "also needed later"})  # what is needed now is looked up anew
_SCORES = {Section.REQUESTS: ASKED, Section.CHANGED: CHANGED, Section.STEPS: 3.5}
_SCORE = 3.0
_HEADING = late_re(r"#{1,6} +(.+?):?|\**([^\W\d][\w ]{2,30})\**:\**")
_BULLET = late_re(r"(?:[-*+•]|\d{1,2}[.)]) +")
_FILE = late_re(r"(\S{1,300})(?: \((\d{1,6}) times\))?")
_NAME = late_re(r"[\w./-]{1,60}")
_COMMANDED = late_re(r"\w{0,40}edit\w{0,40} [a-z]\w{0,40} \S{0,300}[/.]")  # an editor with its command for a file
_NOTE = late_re(r"(?:also )?needed later: ", re.IGNORECASE)  # as earlier versions wrote it
_REQUEST_CHARS, _LINE_CHARS, _SHORT_CHARS = 1_300, 620, 120


def _read_as(line: str) -> str:
    """Return what a line is known by, once a record has told it."""
    return one_line(harmless(line))


def _left_out(said: str) -> list[Line]:
    """Return the requests and steps that an earlier summary counts."""
    return [
        Line(Section.REQUESTS if left.tool == REQUEST else Section.STEPS, 0, 0, (), times, left)
        for left, times in read_left(said).items()
    ]


def _name_tools(steps: Sequence[Line], lines: Sequence[Line]) -> None:
    """Say of steps that were told what they called, and how many they are: a later update may leave them out.

    Args:
        steps: those of an earlier summary of this kind.
        lines: what is new.
    """
    known = {line.left.tool.replace(COMMAND, " "): line.left.tool for line in lines if line.left.tool}
    editors = {tool.partition(COMMAND)[0] for tool in known.values() if COMMAND in tool}
    for line in steps:
        tool = tool_named(line.forms[0], known)
        first, *rest = line.forms[0].partition(" → ")[0].split(" ", MOST_WORDS)[:MOST_WORDS]
        if not tool and rest and (first in editors or _COMMANDED.match(" ".join((first, *rest)))):
            tool = f"{first}{COMMAND}{rest[0]}"
        line.left = Left(tool or (first if _NAME.fullmatch(first) else OTHERS))
        line.count = steps_in(line.forms[0])


def carry_over(previous: str, lines: Sequence[Line]) -> list[Line]:
    """Return the lines of an earlier summary before those that are new, without what is told anew."""
    known = {_read_as(form) for line in lines for form in line.forms}
    files = {file[1] for line in lines if line.section is Section.CHANGED and (file := _FILE.match(line.forms[0]))}
    section = Section.EARLIER
    skipped = is_own = False
    carried: list[Line] = []
    steps: list[Line] = []
    for raw in strip_prefixes(previous).splitlines():
        text = one_line(raw)
        if heading := _HEADING.fullmatch(text):
            name = (heading[1] or heading[2]).strip("* ").lower()
            section, skipped = _SECTIONS.get(name, Section.EARLIER), name in _SKIPPED
            is_own = text == f"{Section.STEPS.value}:"
            continue
        said = text[marker.end() :] if (marker := _BULLET.match(text)) else text
        if counts(said):
            carried += _left_out(said)
            continue
        file = _FILE.match(said) if section is Section.CHANGED else None
        if not said or skipped or _NOTE.match(said) or _read_as(said) in known or (file and file[1] in files):
            continue
        known.add(_read_as(said))
        limits = (_REQUEST_CHARS, _LINE_CHARS, _SHORT_CHARS)[section is not Section.REQUESTS :]
        forms = tuple(dict.fromkeys(shorten(said, limit) for limit in limits))
        carried.append(Line(section, 0, _SCORES.get(section, _SCORE), forms, left=Left(OTHERS)))
        steps += carried[-1:] if is_own else ()
    _name_tools(steps, lines)
    for place, line in enumerate(carried):
        line.order = place - len(carried) - 1.0
        line.score += place / len(carried) / 2
    return [*carried, *lines]
