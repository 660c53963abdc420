"""Why something failed, where no known form of an error says so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajcompress.processes.late_patterns import late_re

_WHY = late_re(
    r"\b(?:\w{0,40}errors?|fail(?:ed|ing|ures?)|fatal|rejected|denied|refused|exceeded|cannot|can't|could(?: not|n't)"
    r"|unable|invalid|un(?:defined|declared|known|expected|supported)|expected|missing|not found|no such|mismatch|"
    r"abort(?:ed|ing)|killed|timed out|conflicts?)\b",
    re.IGNORECASE,
)
_ASIDE = late_re(  # advice, places, times, and what a harness adds
    r"\W{0,4}(?:(?:hint|info|note|warning|debug|wandb|trace)\b|at \S|see |for more |run with |start at|duration|time:"
    r"|total time|took |elapsed|build failed in|\d+ actionable|current working directory|python interpreter"
    r"|\+ (?:expected|categoryinfo|fullyqualifiederrorid)|\[c\]:|[\w./-]{1,200}:\d+: note:)",
    re.IGNORECASE,
)
_NO_FAULT = late_re(
    r"\b(?:no|0|without)(?: \w{1,20})? (?:errors?|failures?|failed|failing)\b"
    r"|^\W{0,4}[\d:]{0,12}\s{0,4}warning\b|-> \[Help",
    re.IGNORECASE,
)


def reasons(lines: Sequence[str]) -> list[str]:
    """Return why something failed that says so in no known form.

    Of lines that speak of a failure the first and the last, else the last two; no advice, and nothing that a harness
    adds, unless there is nothing else.
    """
    own = [line for line in lines if not _ASIDE.match(line)] or list(lines)
    told = [place for place, line in enumerate(own) if _WHY.search(line) and not _NO_FAULT.search(line)]
    found = [" ".join(own[place : place + 1 + own[place].endswith(":")]) for place in sorted({*told[:1], *told[-1:]})]
    return found or own[-2:]
