"""Lines of a log or a table that are unlike the others: the one error among many notes, the one pod that is down."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice

from trajcompress.outcomes.printed.reasons import faults, speaks_of_a_fault
from trajcompress.processes.late_patterns import holds_any, late_re

_HINTS = (
    "HTTP/",
    "ERR",
    "rror",
    "WARN",
    "arn",
    "FATAL",
    "atal",
    "CRIT",
    "rit",
    "SEVERE",
    "EMERG",
    "emerg",
    "lert",
    "panic",
    "E0",
    "E1",
)
_LEVEL = late_re(  # where logs say it: behind the time and what else stands first, no word of a sentence
    r"\s{0,12}(?:(?=\S{0,60}\d)\S{1,80}+[ \t|]{1,4}+|[A-Z][a-z]{2} {1,2}+|\[[^\]\n]{1,60}\][ \t]{0,4}+){0,6}?"
    r"(?:[\w.-]{1,40}+(?:\[\d{1,8}\])?[ :|]{1,4}+){0,3}?[\[(<\"]?"
    r"(?:(?P<bad>ERROR|FATAL|CRITICAL|CRIT|SEVERE|EMERG|ALERT|error|err|fatal|crit|critical|panic)"
    r"|(?P<warn>WARN|WARNING|warn|warning)|(?P<plain>INFO|DEBUG|TRACE|NOTICE|info|debug|trace|notice))\b"
    r"[\])>\"]?[ \t:|]"
)
_KEYED = late_re(
    r"[\"']?\b(?:level|lvl|severity|levelname|log_level)[\"']?[=:] {0,2}[\"']?"
    r"(?:(?P<bad>error|err|fatal|critical|crit|panic|alert|emerg\w*)|(?P<warn>warn(?:ing)?)|(?P<plain>\w{3,10}))",
    re.IGNORECASE,
)
_KEYED_HINTS = ("level", "lvl", "severity")
_MARKED = late_re(r"\[(?:emerg|alert|crit|critical|error|fatal)\]", re.IGNORECASE)
_SERVED = late_re(r"\" (\d{3}) (?:\d{1,12}|-)[ \n]")  # access logs
_GLOG = late_re(r"(?:(?P<bad>[EF])|(?P<warn>W)|(?P<plain>I))\d{4} \d{2}:\d{2}:\d{2}\.\d")
_LINE_CHARS = 400
_LEAST_LINES, _MOST_ODD, _ONE_IN = 6, 3, 4
_STATES = frozenset({"status", "state", "ready", "health", "active", "result", "conclusion", "sub", "phase", "stat"})
_FINE = frozenset({"completed", "succeeded", "running", "ready", "ok", "up", "active", "done", "success", "passed"})
_WORD = late_re(r"[^\s|]+")
_HEADER_WITHIN = 4
_HEADER = late_re(r"\n(?=[A-Z])(?:[A-Z][A-Z0-9%/_()-]{1,30}(?:[ \t]{1,60}|(?=\n))){3,12}(?=\n)")
_LEAST_ROWS = 1  # breaks between them
_OF_ALL = late_re(  # of a report of a classifier, of columns, of a test
    r"\s{0,20}(?:accuracy|mean)\s{2,60}\d"
    r"|[^\n]{0,120}\b(?:p-?value|adjusted r-squared|rmse|roc[ _]auc|test accuracy)\b[^\n\d]{0,12}\d"
    r"|[^\n]{0,120}\bp ?[=<] ?(?:0?\.\d|\d(?:\.\d{1,6})?e-)",
    re.IGNORECASE,
)
_OF_ALL_HINTS = ("accuracy", "mean", "value", "squared", "rmse", "auc", "p=", "p =", "p<", "p <")
_TOTAL = late_re(  # what was counted at last
    r"\W{0,4}(?:found |fixed |total:? )?\d[\d,]{0,9} (?:\w{1,20} ){0,2}?(?:vulnerabilit\w+|errors?|warnings?"
    r"|problems?|files?|packages?|issues?|tests?|match(?:es)?|failures?|changes?|failing)\b",
    re.IGNORECASE,
)
_KEY_VALUE = late_re(r"[\W_]{0,6}\w[^:\n]{1,40}: {1,8}(\S[^\n]{0,60}?)\s{0,4}\Z")
_NO = late_re(
    r"no|not set|not \w{1,20}|none|failed|inactive|disabled|error|expired|false|missing|offline|down", re.IGNORECASE
)
_MOST_NEGATIVE = 4
_NON_NULL = late_re(r"\b(\d{1,9}) non-null\b")
_PER_CENT = late_re(r"%\w{1,8}|\w{1,8}%")
_FIGURE = late_re(r"\d{1,3}(?:\.\d{1,3})?")
_ALMOST_ALL, _ALL = 90.0, 100.0  # per cent
_BEFORE = 6  # characters of a figure stand before the name of its column
_MOST_COLUMNS = 4
_NOTHING = frozenset({"0", "0.0", "0.00", "0.000000"})
_USUAL_SHARE = 0.6


def odd_lines(body: str, *, ran: bool = False) -> list[str]:
    """Return a few lines of a text that are unlike the others: of a worse level, or of another state in a table.

    Of what a command printed that ``ran`` also those that speak of a failure. Nothing where these are many, or where
    it is neither.
    """
    lines = [line[:_LINE_CHARS] for line in body.splitlines() if line.strip()]
    if len(lines) < _LEAST_LINES:
        return []
    low = body.lower()
    keyed = holds_any(low, _KEYED_HINTS)
    odd = (_worse(lines, keyed=keyed) if holds_any(body, _HINTS) else []) or _of_another_state(lines) or _full(lines)
    odd = odd or _negative(body, lines)
    if odd or not ran:
        return odd
    of_all = [line for line in lines if _OF_ALL.match(line)] if holds_any(low, _OF_ALL_HINTS) else []
    if rows := of_all or [line for line in lines if _TOTAL.match(line)]:
        return rows[-1:]
    found = list(dict.fromkeys(faults(lines))) if speaks_of_a_fault(body) else []
    return found[:_MOST_ODD] if len(found) < _MOST_ODD or len(found) * _ONE_IN <= len(lines) else []


def _worse(lines: Sequence[str], *, keyed: bool) -> list[str]:
    """Return the lines of a log that tell of errors, where few do, else those that warn; ``keyed``: under a key."""
    marked = [line for line in lines if _MARKED.search(line)]
    if 0 < len(marked) <= _MOST_ODD:
        others = [line for line in faults(lines) if line not in marked]
        return [*marked, *others[: _MOST_ODD - len(marked)]]
    served = [(line, status[1]) for line in lines if (status := _SERVED.search(line))]
    for bad in ("5", "4") if len(served) * 2 > len(lines) else ():
        if odd := [line for line, status in served if status.startswith(bad)]:
            return odd[:_MOST_ODD] if len(odd) * 2 <= len(served) else []
    found: dict[str, list[str]] = {"bad": [], "warn": [], "plain": []}
    for line in lines:
        if level := _GLOG.match(line) or _LEVEL.match(line) or (keyed and _KEYED.search(line)):
            found[level.lastgroup or "plain"].append(line)
    levelled = sum(map(len, found.values()))
    if levelled * 2 < len(lines):
        return []
    for kind in ("bad", "warn"):
        if found[kind]:
            odd = list(dict.fromkeys(found[kind]))
            return odd[:_MOST_ODD] if len(odd) * _ONE_IN <= levelled else []
    return []


def _of_another_state(lines: Sequence[str]) -> list[str]:
    """Return the rows of a table whose state is unlike that of most, or which alone have a figure that is not 0."""
    for first, header in enumerate(lines[:_HEADER_WITHIN]):
        named = [word for word in _WORD.finditer(header) if word[0].strip("*|").lower() in _STATES][:_MOST_COLUMNS]
        below = [line for line in lines[first + 1 :] if any(map(str.isalnum, line))] if named else []
        for word in named if "|" not in header else ():
            at = word.start()
            cells = [line[at:].partition(" ")[0] if line[at - 1 : at].isspace() else "" for line in below]
            if odd := _odd(below, cells):
                return odd
        if named and "|" in header:
            columns = [cell.strip(" *").lower() for cell in header.split("|")]
            rows = [(line, line.split("|")) for line in below]
            rows = [(line, row) for line, row in rows if len(row) == len(columns)]
            at = next((at for at, cell in enumerate(columns) if cell in _STATES), 0)
            return _odd([line for line, _ in rows], [row[at].strip() for _, row in rows])
    if 2 * sum(line.endswith("0") for line in lines) < len(lines):  # few tables have such a column
        return []
    ends = [line.rstrip().rpartition(" ")[2] for line in lines]
    pairs = [(line, end) for line, end in zip(lines, ends, strict=True) if line.count("  ") and end[:1].isdigit()]
    is_table = len(pairs) >= len(lines) * _USUAL_SHARE
    return _odd([line for line, _ in pairs], [end for _, end in pairs], _NOTHING) if is_table else []


def _full(lines: Sequence[str]) -> list[str]:
    """Return the rows of what is almost full or busy: disks, processes."""
    found: dict[str, None] = {}
    for word in islice(_PER_CENT.finditer(lines[0]), _MOST_COLUMNS):
        begin, end = max(word.start() - _BEFORE, 0), word.end()
        for line in lines[1:]:
            figures = (float(cell[0]) for cell in _FIGURE.finditer(line, begin, end) if cell.end() >= word.start())
            if any(_ALMOST_ALL <= figure <= _ALL for figure in figures):
                found[line] = None
    return list(found) if len(found) <= _MOST_ODD else []


def _negative(body: str, lines: Sequence[str]) -> list[str]:
    """Return what is not so among many things that are each said with how they stand; columns with gaps."""
    may_say = 2 * body.count(": ") >= len(lines)
    said = [(line, state[1]) for line in lines if (state := _KEY_VALUE.match(line))] if may_say else []
    if 2 * len(said) >= len(lines) and len(said) >= _LEAST_LINES:
        negative = [line for line, state in said if _NO.fullmatch(state)]
        return negative if len(negative) <= _MOST_NEGATIVE else []
    if "non-null" not in body:
        return []
    counts = [(line, count[1]) for line in lines if (count := _NON_NULL.search(line))]
    return _odd([line for line, _ in counts], [count for _, count in counts])


def rows_amid(body: str) -> str:
    """Return the rows of a table that stands amid a text; nothing where there is none, or no other text."""
    header = _HEADER.search(body)
    if header is None:
        return ""
    rows = body[header.end() : end if (end := body.find("\n\n", header.end())) >= 0 else len(body)].strip("\n")
    return rows if rows.count("\n") >= _LEAST_ROWS else ""


def _odd(lines: Sequence[str], cells: Sequence[str], usual: Collection[str] = ()) -> list[str]:
    """Return the lines of which the cell is unlike that of most, where these are few; ``usual``: what most have."""
    if len(lines) < _LEAST_LINES:
        return []
    most, times = Counter(cells).most_common(1)[0]
    others = Counter(cell for cell in cells if cell not in {most, ""} and cell.lower() not in _FINE)
    rare: set[str] = set()
    for cell, count in reversed(others.most_common()):  # the rarest say most
        if sum(others[each] for each in rare) + count <= _MOST_ODD:
            rare.add(cell)
    odd = [line for line, cell in zip(lines, cells, strict=True) if cell in rare]
    return odd if len(odd) * _ONE_IN <= times and most and (not usual or most in usual) else []
