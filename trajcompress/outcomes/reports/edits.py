"""What an editor says of an edit: that it was made, that it was refused, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

from trajcompress.facts.changes import hunks
from trajcompress.facts.reading import mentions
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

_DONE = late_re(
    r"^(?:The file \S{1,300} has been|File (?:created|updated|written|saved|edited)|Text replaced"
    r"|Updated \S{1,300} with \d{1,6} (?:addition|removal)"  # Claude Code
    r"|(?:> )?Applied edit to (?=\S)|Commit [0-9a-f]{7,12} (?=\S)"  # aider
    r"|\[[\w./-]{1,80} (?:\(root-commit\) )?[0-9a-f]{6,12}\] |[^\n]{0,60}[Ss]uccessfully|Done\b)"
    r"(?:[^\n.]|\.(?=\S)){0,160}",
    re.MULTILINE,
)
_REFUSED = late_re(
    r"\b(?:not (?:been )?(?:found|applied|allowed|permitted|unique|match|exist|replaced|changed|edited)"
    r"|no (?:such|match\w*|changes?|space left)|already exists|denied|refused|rejected|failed|unable|can(?:no|')t"
    r"|could(?: not|n't)|ensure it is unique"
    r"|must (?:be (?:an? )?(?:absolute|unique|provided|specified|given|valid|relative|inside|within)|use your|first)"
    r"|(?:outside(?: of)?|not in) (?:the )?allowed|missing (?:a )?(?:required|value)|is (?:a )?required"
    r"|invalid (?:arguments?|parameters?|params|paths?|inputs?|requests?|edits?|patch|diff|format|json|line|range)"
    r"|(?:limit|quota|deadline) exceeded|unauthori[sz]ed|forbidden"
    r"|(?:multiple|found (?:[2-9]|\d\d+)) (?:matches|occurrences)"
    r"|not been read|modified since|read-only|(?:was|been) reverted|timed out|dry run|\Aaborted|was aborted"
    r"|0 (?:replacements?|changes|edits|files (?:changed|written))"
    r"|(?:operation|command|request|edit|write)(?: was)? (?:cancell?ed|blocked)|cancell?ed by)\b",
    re.IGNORECASE,
)
_TOOL_ERROR = "<tool_use_error>"  # of Claude Code
_NOT_APPLIED = late_re(
    r"^[^\n]{0,80}\b(?:edit has introduced new|(?:changes|edit) (?:have|has|was|were) (?:NOT|not) been applied"
    r"|NOT been applied|No replacement was performed|did not apply|edit (?:was )?rejected)[^\n]{0,200}",
    re.MULTILINE,
)
_FAULT = late_re(r"^- ([A-Z]\d{3} [^\n]{1,200})$", re.MULTILINE)
_CHANGED = late_re(r"^ {0,8}\d{1,6} ([+-]) {0,40}(?=\S)([^\n]{1,400})$", re.MULTILINE)
_MOST_CHANGED = 6
_NAMES, _ABOVE_CHARS, _MOST_OF_DIFF = "\n+++ ", 100, 40
_DIFF = late_re(r"^(?:diff --git |--- (?=\S[^\n]*\n\+\+\+ )|@@ -\d)", re.MULTILINE)
_IN_HUNK = late_re(r"^([+-]) {0,60}((?=\S)[^\n]{1,400})$", re.MULTILINE)
_FIRST_CHARS = 300
_EDGE_CHARS = 2_000
_SNIPPET_CHARS = 100


def done_in(body: str) -> re.Match[str] | None:
    """Find where a tool says that a change was made: how the result begins, else the last such line."""
    done = _DONE.match(body)
    for later in _DONE.finditer(body) if done is None else ():
        done = later
    return done


def done_to(path: str, body: str) -> bool:
    """Whether a tool says of a file that a change was made to it."""
    return any(mentions(said[0], path) for said in _DONE.finditer(body))


def edit_refused(body: str) -> bool:
    """Whether a result begins as of an edit that was not made."""
    begins = "\n".join(body[:_FIRST_CHARS].split("\n", 2)[:2])
    return begins.startswith(_TOOL_ERROR) or begins[:5].upper() == "ERROR" or _REFUSED.search(begins) is not None


def lines_changed(body: str) -> list[str]:
    """Return the lines that a result shows as new, then those that went, of an edit that Claude Code shows."""
    return _signed(_CHANGED.findall(body))[:_MOST_CHANGED]


def lines_of_diff(body: str) -> list[str]:
    """Return the lines that a diff brings in, then those that it takes out, of each file.

    Nothing of a text that says more above it than a few words, as of the commit.
    """
    begin = _DIFF.search(body)
    if begin is None or len(body[: begin.start()].strip()) > _ABOVE_CHARS:
        return []
    lines: dict[str, list[tuple[str, str]]] = {}  # of each file
    name, end = "", 0
    for hunk in hunks(body):
        _, named, names = f"\n{body[end : hunk.start()]}".rpartition(_NAMES)
        name = names.partition("\n")[0].partition("\t")[0].removeprefix("b/") if named else name
        end = hunk.end()
        lines.setdefault(name, []).extend(_IN_HUNK.findall(hunk["lines"]))
    told: list[str] = []
    for name, of_file in lines.items():
        first, *others = _signed(of_file) or [""]
        told += [f"{name}: {first}" if len(lines) > 1 else first, *others] if first else []
    return told[:_MOST_OF_DIFF]


def _signed(lines: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{sign}{one_line(line)}" for sign, line in sorted(lines, key=itemgetter(0))]  # "+" stands before "-"


def refusal_in(body: str) -> str:
    """Return the line that says that the edit was not made, of the first two of a result; nothing where none does."""
    lines = (line for line in body[:_FIRST_CHARS].split("\n", 2)[:2] if _REFUSED.search(line))
    return shorten(one_line(next(lines, "")), _SNIPPET_CHARS)


def why_not_applied(body: str) -> str:
    """Return why an editor did not apply an edit, where it says so."""
    told = _NOT_APPLIED.search(body[:_EDGE_CHARS])
    if told is None:
        return ""
    why = _FAULT.search(body, told.start(), told.start() + _EDGE_CHARS)
    said = shorten(one_line(told[0]), _SNIPPET_CHARS)
    if said.count("`") % 2:  # a block of lines is quoted, and what became of it stands behind that
        behind = body[told.end() : told.end() + _EDGE_CHARS].partition("`")[2].partition("\n")[0]
        said = f"{said.rstrip('…')} …`{shorten(behind.rstrip(), _SNIPPET_CHARS)}"
    return f"{one_line(why[1])}; {said.partition('. ')[0].rstrip('.')}" if why else said  # what to do says nothing
