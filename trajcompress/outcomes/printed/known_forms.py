"""Texts of which the form is known: of a log of commits its subjects, of the plan of a query what took so long."""

from __future__ import annotations

import re
from itertools import islice

from trajcompress.outcomes.printed.shop_pages import shop_page
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import holds_any, late_re

_COMMIT = late_re(
    r"^commit ([0-9a-f]{7})[0-9a-f]{0,57}[^\n]{0,200}\n(?:\w+: [^\n]{0,200}\n){1,5}\n {4}(\S[^\n]{0,200})",
    re.MULTILINE,
)
_MOST_COMMITS = 4
_SCREEN_TEXT = late_re(
    r"<node [^<>\n]{0,200}?\btext=\"([^\"\n]{0,120})\"(?:[^<>\n]{0,600}?\bcontent-desc=\"([^\"\n]{0,120})\")?"
)
_TIME = late_re(r"Execution Time: [\d.]{1,12} ms|actual time=[\d.]{1,12}\.\.[\d.]{1,12}(?= rows=\d+ loops=1\)\Z)")
_TIME_HINTS = ("Execution Time: ", "actual time=")
_SCAN = late_re(r"\bSeq Scan on [^\n(]{1,80}")
_STATUS = late_re(r"^(/?\S{1,200} {1,40}\(Status: (\d{3})\)[^\n]{0,60})$", re.MULTILINE)
_VERDICT_HINTS = ("\nPlan: ", "\nApply c", "\nDestroy c", "first bad commit", "definitely lost")
_PLAN = late_re(r"^Plan: \d[^\n]{0,200}$", re.MULTILINE)
_APPLIED = late_re(r"^(?:Apply|Destroy) (?:complete|cancelled)[!.][^\n]{0,200}", re.MULTILINE)
_OUTPUT = late_re(r"^(\w[\w-]{0,60} = [^\n]{1,200})$", re.MULTILINE)
_OUTPUTS = "\nOutputs:\n"
_REPLACED = late_re(r"^ {2}# (\S{1,120} (?:must be replaced|will be destroyed))", re.MULTILINE)
_FIRST_BAD = late_re(
    r"^[0-9a-f]{7,40} is the first bad commit(?=\n(?:[^\n]{0,300}\n){1,8}? {4}(\S[^\n]{0,200}))", re.MULTILINE
)
_LOST = late_re(r"^==\d{1,9}== (\d[^\n]{0,120} definitely lost)\b[^\n]{0,80}$", re.MULTILINE)
_OWN_FRAME = late_re(r"\n==\d{1,9}== {2,8}(?:at|by) 0x\w{1,16}: (\S{1,200} \(\S{1,200}:\d{1,7}\))")
_DESCRIBED = late_re(r"Name: {2,40}\S[^\n]{0,200}\n(?:Namespace|Priority|Labels|Roles|Annotations): {2,40}")
_STATE = late_re(  # what Kubernetes says of how a thing is
    r"^[ \t]{0,12}((?:Replicas|Status|State|Last State|Reason|Message|Exit Code|Restart Count|Pods Status|Endpoints)"
    r": {1,40}\S[^\n]{0,200}|Ready: {1,40}False)$",
    re.MULTILINE,
)
_WARNED = late_re(r"^ {0,8}Warning {2,12}\w[^\n]{0,300}$", re.MULTILINE)
_MOST_STATES = 8
_BEGIN_CHARS = 240
_MOST_OUTPUTS = 4


def known_form(body: str) -> list[str]:
    """Return what a text tells whose form is known; nothing of another."""
    return (
        shop_page(body)
        or _described(body)
        or _commits(body)
        or _verdict(body)
        or _query_plan(body)
        or _found(body)
        or _screen(body)
    )


def _verdict(body: str) -> list[str]:
    """Return the lines by which Terraform, git bisect and Valgrind say what they came to."""
    if not holds_any(body, _VERDICT_HINTS):
        return []
    if applied := _APPLIED.search(body):  # no plan any more
        outputs = body.find(_OUTPUTS, applied.end())
        named = islice(_OUTPUT.finditer(body, outputs), _MOST_OUTPUTS) if outputs >= 0 else ()
        return [applied[0], *(one_line(each[1]) for each in named)]
    plan = _PLAN.search(body)
    lost = _LOST.search(body)
    frame = _OWN_FRAME.search(body, lost.end()) if lost else None
    found = [plan and plan[0], *(_REPLACED.findall(body) if plan else ()), lost and lost[1], frame and frame[1]]
    bad = _FIRST_BAD.search(body)
    return [one_line(each) for each in [*found, bad and f"{bad[0]} {bad[1]}"] if each]


def _described(body: str) -> list[str]:
    """Return what befell a thing of Kubernetes first, and how it is."""
    if not _DESCRIBED.match(body):
        return []
    states = list(dict.fromkeys(map(one_line, islice(_STATE.findall(body), _MOST_STATES))))
    warning = _WARNED.search(body)
    name = body.partition("\n")[0]
    return [one_line(warning[0] if warning else name), *states] if warning or states else []


def _commits(body: str) -> list[str]:
    """Return the first commits of a log, each with its subject."""
    found = islice(_COMMIT.finditer(body), _MOST_COMMITS) if body.startswith("commit ") else ()
    return [f"{commit[1]} {one_line(commit[2])}" for commit in found]


def _query_plan(body: str) -> list[str]:
    """Return what took a query so long: tables that it reads whole, and the time."""
    time = _TIME.search(body) if holds_any(body, _TIME_HINTS) else None
    return [one_line(each) for each in (*_SCAN.findall(body)[:2], time[0])] if time else []


def _found(body: str) -> list[str]:
    """Return the paths that a search of a server found, those first that were served."""
    found = _STATUS.findall(body) if "(Status: " in body else ()
    return [one_line(path) for path, _ in sorted(found, key=lambda each: each[1] != "200")]


def _screen(body: str) -> list[str]:
    """Return the texts of a screen of Android."""
    found = _SCREEN_TEXT.findall(body) if "<hierarchy" in body[:_BEGIN_CHARS] else ()
    return [text or other for text, other in found if text or other]
