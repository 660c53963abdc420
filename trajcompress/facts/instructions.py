"""What a request asks for in so many words: numbered steps, limits and what must or must not be done."""

from __future__ import annotations

import re

from trajcompress.facts.parts import Wanted
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
_LEAST_LETTERS = 0.7  # of a line of prose; of code and logs there are fewer


def instructions(text: str, weight: float) -> Wanted:
    """Return the lines amid a request that bind, as what is to stay of it where it is cut; those of code do not."""
    found: dict[str, float] = {}
    room = _MOST_CHARS
    is_code = False
    for line in map(str.strip, text[_END_CHARS:-_END_CHARS].splitlines()):
        if line.startswith(_FENCE):
            is_code = not is_code
        elif not is_code and len(line) <= _LINE_CHARS and _BINDS.match(line) and _is_prose(line):
            room -= len(line)
            if room < 0:
                break
            found[line] = weight
    return found


def _is_prose(line: str) -> bool:
    letters = sum(char.isalpha() or char == " " for char in line)
    return letters >= _LEAST_LETTERS * len(line)
