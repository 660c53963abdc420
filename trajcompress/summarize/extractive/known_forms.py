"""Texts of which the form is known: of a log of commits its subjects, of the plan of a query what took so long."""

from __future__ import annotations

import re
from itertools import islice

from trajcompress.processes.late_patterns import late_re
from trajcompress.summarize.extractive.text import joined, one_line

_COMMIT = late_re(
    r"^commit ([0-9a-f]{7})[0-9a-f]{0,57}[^\n]{0,200}\n(?:\w+: [^\n]{0,200}\n){1,5}\n {4}(\S[^\n]{0,200})",
    re.MULTILINE,
)
_MOST_COMMITS = 4
_SCREEN_TEXT = late_re(
    r"<node [^<>\n]{0,200}?\btext=\"([^\"\n]{0,120})\"(?:[^<>\n]{0,600}?\bcontent-desc=\"([^\"\n]{0,120})\")?"
)
_FIGURE_ROW = late_re(r"^([^\W\d][^\n\t]{0,40}?(?: {2,60}|\t)-?[\d.,]{1,20}%?)$", re.MULTILINE)
_TIME = late_re(r"Execution Time: [\d.]{1,12} ms|actual time=[\d.]{1,12}\.\.[\d.]{1,12}(?= rows=\d+ loops=1\)\Z)")
_SCAN = late_re(r"\bSeq Scan on [^\n(]{1,80}")
_STATUS = late_re(r"^(/?\S{1,200} {1,40}\(Status: (\d{3})\)[^\n]{0,60})$", re.MULTILINE)
_BEGIN_CHARS = 240
_LEAST_FIGURES = 4


def known_form(body: str) -> list[str]:
    """Return what a text tells whose form is known; nothing of another."""
    return _commits(body) or _query_plan(body) or _found(body) or _screen(body)


def _commits(body: str) -> list[str]:
    """Return the first commits of a log, each with its subject."""
    found = islice(_COMMIT.finditer(body), _MOST_COMMITS) if body.startswith("commit ") else ()
    return [f"{commit[1]} {one_line(commit[2])}" for commit in found]


def _query_plan(body: str) -> list[str]:
    """Return what took a query so long: tables that it reads whole, and the time."""
    time = _TIME.search(body)
    return [one_line(each) for each in (*_SCAN.findall(body)[:2], time[0])] if time else []


def _found(body: str) -> list[str]:
    """Return the paths that a search of a server found, those first that were served."""
    found = _STATUS.findall(body)
    return [one_line(path) for path, _ in sorted(found, key=lambda each: each[1] != "200")]


def _screen(body: str) -> list[str]:
    """Return the texts of a screen of Android."""
    found = _SCREEN_TEXT.findall(body) if "<hierarchy" in body[:_BEGIN_CHARS] else ()
    return [text or other for text, other in found if text or other]


def series(body: str, limit: int) -> list[str]:
    """Return the first rows of names with a figure each, which stand in an order that says something."""
    rows = _FIGURE_ROW.findall(body)
    if len(rows) < _LEAST_FIGURES or 2 * len(rows) < body.count("\n"):
        return []
    return [joined(rows, limit)]
