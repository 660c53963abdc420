"""Why something failed, where no known form of an error says so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajcompress.processes.late_patterns import late_re

_WHY = late_re(  # of a text in small letters: without regard to case it takes three times as long
    r"(?<![\w./-])(?:\w{0,40}errors?|fail(?:ed|ing|ures?)|fatal|rejected|denied|refused|exceeded|cannot|can't"
    r"|could(?: not|n't)|unable|invalid"
    r"|un(?:defined|declared|known|expected|supported)|expected|missing|not found|no such|mismatch|"
    r"abort(?:ed|ing)|\w{0,10}killed|timed out|conflicts?|unsatisfiable|no solution|expired|does not"
    r"|segmentation fault|locked|suspended|blocked|not converged|diverged|did not|you have died|game over"
    r"|ungültig\w{0,2}|fehlgeschlagen|abgelehnt|gesperrt|inv[aá]lid[oa]s?|rechazad[oa]|erreur|échec|refusé"
    r"|signal sig\w{2,6})\b(?![-/]\w)"
    r"|错误|失败|无效|拒绝|エラー|失敗|無効|오류|실패"
)
_EVENT = r"(?!\s{1,8}[A-Z]\w{2,20}\s{1,8}\d{1,4}[smhd]\b)"  # of Kubernetes
_ASIDE = late_re(  # advice, places, times, and what a harness adds
    r"\W{0,4}(?:npm (?:ERR!|error)(?: |$))?"
    rf"(?:$|(?-i:[Hh]int|HINT|info|[Nn]ote|NOTE|[Ww]arning{_EVENT}|debug|wandb|[Tt]race)\b|at \S|see "
    r"|for more |run with |start at|duration|time:|total time|took |elapsed"
    r"|build failed in|a complete log|\d+ actionable|current working directory"
    r"|python interpreter|\+ (?:expected|categoryinfo|fullyqualifiederrorid)|\[c\]:|[\w./-]{1,200}:\d+: note:)",
    re.IGNORECASE,
)
_NO_FAULT = late_re(
    r"\b(?:no|0|without)(?: \w{1,20})? (?:errors?|failures?|failed|failing)\b"
    r"|^\W{0,4}[\d:]{0,12}\s{0,4}warning\b" + _EVENT + r"|-> \[Help|\(unknown\)",
    re.IGNORECASE,
)


def own_lines(lines: Sequence[str]) -> list[str]:
    """Return the lines that are no advice and nothing that a harness adds; all where there are no others."""
    return [line for line in lines if not _ASIDE.match(line)] or list(lines)


def speaks_of_a_fault(text: str) -> bool:
    """Whether some line of a text may speak of a failure."""
    return _WHY.search(text.lower()) is not None


def faults(lines: Sequence[str]) -> list[str]:
    """Return the lines that speak of a failure."""
    return [line for line in own_lines(lines) if _WHY.search(line.lower()) and not _NO_FAULT.search(line)]


def reasons(lines: Sequence[str]) -> list[str]:
    """Return why something failed that says so in no known form.

    Of lines that speak of a failure the first and the last, else the last two; no advice, and nothing that a harness
    adds, unless there is nothing else.
    """
    own = own_lines(lines)
    told = [place for place, line in enumerate(own) if _WHY.search(line.lower()) and not _NO_FAULT.search(line)]
    found = [" ".join(own[place : place + 1 + own[place].endswith(":")]) for place in sorted({*told[:1], *told[-1:]})]
    return found or own[-2:]
