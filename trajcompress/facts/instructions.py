"""What a text asks for in so many words: numbered steps, limits and what must or must not be done."""

from __future__ import annotations

import re
from itertools import islice

from trajcompress.facts.changes import files_of_change
from trajcompress.facts.parts import Wanted
from trajcompress.facts.quoted import QUOTED
from trajcompress.processes.late_patterns import late_re

_FENCE = "```"
_LINE_CHARS = 400  # a longer one was pasted
_MOST_CHARS = 1_200
_END_CHARS = 400  # of a request that is cut stay in any case
_BINDS = late_re(
    r"\s{0,8}(?:[-*+] )?\d{1,2}[.)] +[A-Za-z]"
    r"|.*\b(?:must|shall|never|do not|don['’]t|should(?: not|n['’]t)?|only|at (?:most|least)|no (?:more|less) than"
    r"|make sure|ensure|limited to|required|forbidden|exactly)\b",
    re.IGNORECASE,
)
_TASK = late_re(  # as harnesses put what is to be done between tags, with rules around that
    r"<((?:pr|issue|task|problem|user|bug)(?:_(?:description|statement|request|query|report))?|question|goal|objective)>\n"
)
_MOST_TAGS = 4
_MOST_OF_TASK = 4_000
_STEP = late_re(r"^\d{1,2}[.)] +[A-Za-z][^\n]{0,398}$", re.MULTILINE)
_ADDRESSES = late_re(r"\b(?:you|your|you['’]ve|please)\b", re.IGNORECASE)
_MOST_STEPS = 12
_MOST_FILES = 12  # of a change, whose names stay
_MANY = 2
_LEAST_LETTERS = 0.7  # of a line of prose; of code and logs there are fewer


def instructions(text: str, weight: float) -> Wanted:
    """Return the lines amid a request that bind, as what is to stay of it where it is cut; those of code do not.

    What is to be done stays before rules do, where tags say that it is that.
    """
    found = _of_task(text, weight)
    room = _MOST_CHARS
    is_code = False
    for line in map(str.strip, text[_END_CHARS:-_END_CHARS].splitlines()):
        if line.startswith(_FENCE):
            is_code = not is_code
        elif not is_code and len(line) <= _LINE_CHARS and _BINDS.match(line) and _is_prose(line):
            room -= len(line)
            if room < 0:
                break
            found.setdefault(line, weight)
    return found


def _of_task(text: str, weight: float) -> dict[str, float]:
    """Return the lines of what is to be done, where tags say that it is that; they tell more than rules do."""
    found: dict[str, float] = {}
    room = _MOST_OF_TASK
    for line in map(str.strip, _between_tags(text).splitlines()):
        room -= len(line)
        if room < 0:
            break
        if any(map(str.isalnum, line)):
            found[line] = 2 * max(weight, QUOTED * len(line))
    return found


def _between_tags(text: str) -> str:
    for opened in islice(_TASK.finditer(text), _MOST_TAGS):
        end = text.find(f"</{opened[1]}>", opened.end())
        if end >= 0:
            return text[opened.end() : min(end, opened.end() + _MOST_OF_TASK)]
    return ""


def outline(text: str, weight: float) -> Wanted:
    """Return what of a result tells how to go on: numbered steps for the agent, and which files a change has."""
    steps = [step[0] for step in _STEP.finditer(text)] if "\n2. " in text or "\n2) " in text else []
    steps = steps if sum(_ADDRESSES.search(step) is not None for step in steps) >= _MANY else []
    found, new = files_of_change(text)
    files = [file[0].partition("\n")[0] for file in found or new] if len(found) + len(new) >= _MANY else []
    told = {step: max(weight, QUOTED * len(step)) for step in steps[:_MOST_STEPS]}  # none of them without the others
    return {**told, **dict.fromkeys(files[:_MOST_FILES], weight)}


def _is_prose(line: str) -> bool:
    letters = sum(char.isalpha() or char == " " for char in line)
    return letters >= _LEAST_LETTERS * len(line)
