"""What an edit brings in: the lines of code that it adds, else those that it takes away."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias

from trajcompress.outcomes.text import line_break, one_line, shorten
from trajcompress.processes.late_patterns import late_re

CHANGE_CHARS = 300
"""What is told of an edit takes so much."""

GIST_CHARS = 90
"""What is told of a script or a new file."""

_OLD_KEYS = ("old_str", "old_string", "oldString", "old_text", "oldText", "search", "old")
_NEW_KEYS = ("new_str", "new_string", "newString", "new_text", "newText", "replacement", "replace", "new")
_WHOLE_KEYS = (
    "file_text",
    "content",
    "contents",
    "CodeContent",
    "file_content",
    "fileContent",
    "new_content",
    "data",
)
_DIFF_KEYS = ("diff", "patch")
_LIST_KEY = "edits"
BULK_KEYS = frozenset((*_OLD_KEYS, *_NEW_KEYS, *_WHOLE_KEYS, *_DIFF_KEYS, _LIST_KEY))
"""Arguments of an edit that are told as what it brings in."""

_MOST_EDITS = 20
_LEAST_SAME = 8  # the share of lines that stay, or more: else it is another file
_ASIDE = late_re(r"\W*$|#(?!include|define|if|e(?:lse|nd))|//|/\*|\*[ /]|<!--|-- ")  # comments
_HEADING = late_re(r"#{1,6} \S")
_USUAL = late_re(
    r"import|from|using|package|try:|def main|if __name__|pass\b|sys\.path\.|os\.chdir\(|warnings\.(?:filter|simple)"
    r"|matplotlib\.use\(|load_dotenv\(|pd\.set_option\("
)
_VALUE = late_re(r"(?<![\w\"'])[+-]?\d[\w.+-]{0,30}")
_APART = " … "
_CLOSES = "})];,"
_ENDS = ("```", "end_of_edit")  # of what is brought in
_DOCSTRINGS = ('"""', "'''")
_DIFF = late_re(r"^(?:@@|\*\*\* (?:Update|Add) File: |(?:<{5,9}|-{5,9}) SEARCH)", re.MULTILINE)
_ENCODED, _ENCODED_CHARS = late_re(r"[A-Za-z0-9+/]{40,}+={0,2}"), 1_000_000
_Lines: TypeAlias = Sequence[str | None]
"""Lines of a text; None where others stand between them."""
_SIDES = {"<<<<<": "-", "=====": "+", ">>>>>": ""}  # what stands below such marks is replaced, and what by
_CLINES = late_re(r"(-{5,9} SEARCH|\+{5,9} REPLACE)>?\s{0,4}\Z")  # these marks


def brought_in(data: Mapping[str, Any], *, is_document: bool = False) -> str:
    """Say what the arguments of an edit bring in; nothing where they are none of an edit.

    Of a document in Markdown that is written whole these are its headings.
    """
    listed = data.get(_LIST_KEY)
    edits = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else [data]
    added: list[str | None] = []
    removed: list[str | None] = []
    for edit in edits[:_MOST_EDITS]:
        new, old = _both_sides(edit)
        added += [*_without(new, old), None]
        removed += [*_without(old, new), None]
    if told := told_lines(added):
        return told
    if told := told_lines(removed, GIST_CHARS):
        return f"-{told}"
    lines = whole_text(data).splitlines()
    headings = [line for line in lines if _HEADING.match(line)] if is_document else []
    return told_lines(headings if len(headings) > 1 else lines, GIST_CHARS)


def whole_text(data: Any) -> str:
    """Return the text of a file that a call writes whole, decoded where need be; nothing where it writes none."""
    text = (first_text(data, _WHOLE_KEYS) or "") if isinstance(data, dict) else ""
    return _decoded(text) if _ENCODED.fullmatch(text, 0, _ENCODED_CHARS) else text


def _decoded(text: str) -> str:
    """Return what a text in base64 holds, as programs that write to a repository take files; or the text itself."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except ValueError:
        return text


def written_anew(text: str, before: str) -> str:
    """Say what is new in a file that is written once more, figures first; nothing where little is as before."""
    lines, known = text.splitlines(), before.splitlines()
    new = _without(lines, known)
    if _LEAST_SAME * new.count(None) <= len(lines):
        return ""
    gone = {_VALUE.sub("", line) for line in _without(known, lines) if line and _VALUE.search(line)}
    values = dict.fromkeys(line for line in new if line and _VALUE.sub("", line) in gone)  # all else of these stays
    others = [None if line in values else line for line in new]
    return told_lines([*chain.from_iterable((line, None) for line in values), *others], GIST_CHARS)


def _without(lines: _Lines, others: _Lines) -> _Lines:
    """Return lines but for those that stand among others as well."""
    known = {line for line in others if line and line.strip()}
    return [None if line in known else line for line in lines]


def _both_sides(edit: Mapping[str, Any]) -> tuple[_Lines, _Lines]:
    """Return the new lines of an edit, and those that they replace."""
    if diff := first_text(edit, _DIFF_KEYS):
        return diff_sides(diff)
    return (first_text(edit, _NEW_KEYS) or "").splitlines(), (first_text(edit, _OLD_KEYS) or "").splitlines()


def is_diff(text: str) -> bool:
    """Whether a text is a diff, or blocks to search and replace."""
    return _DIFF.search(text) is not None


def diff_sides(diff: str) -> tuple[_Lines, _Lines]:
    """Return the new lines of a diff, or of blocks to search and replace, and those that they replace."""
    sides: dict[str, list[str | None]] = {"+": [], "-": []}
    side = ""
    lines = diff.splitlines()
    files = {at for at, (a, b) in enumerate(pairwise(lines)) if a.startswith("--- ") and b.startswith("+++ ")}
    for at, line in enumerate(lines):
        if line[:5] in _SIDES or _CLINES.match(line):
            side = _SIDES.get(line[:5], "-" if line[0] == "-" else "")
            sides[side or "+"].append(None)
        elif side:
            sides[side].append(line)
        elif line[:1] in sides and files.isdisjoint((at - 1, at)):  # else it names a file; code may begin as it does
            sides[line[0]].append(line[1:])
        elif line.strip():
            sides["+"].append(None)
            sides["-"].append(None)
    return sides["+"], sides["-"]


def told_lines(lines: Iterable[str | None], limit: int = CHANGE_CHARS, beyond: str = "") -> str:
    """Join the first lines of code, or else of comments and imports, that have room, and count the others.

    Those between which others stand are told apart; those ``beyond`` are counted alone.
    """
    given: list[tuple[str, bool]] = []
    apart = False
    for raw in lines:
        line = one_line(raw) if raw is not None else ""
        if line and not line.startswith(_ENDS):
            given.append((line, apart))
            apart = False
        apart = apart or raw is None
    code = _code_of(given) or [(line, apart, 1) for line, apart in given]
    said, told = "", 0
    for line, apart, number in code:
        between = _APART if said and apart else line_break(said)
        if said and len(said) + len(between) + len(line) > limit:
            break
        said += between + shorten(line, limit - len(between))
        told += number
    left = len(given) - told + sum(map(bool, map(str.strip, beyond.splitlines())))
    return said + (f" (+{left} line{'s' if left > 1 else ''})" if left else "")


def _code_of(lines: Sequence[tuple[str, bool]]) -> list[tuple[str, bool, int]]:
    """Return lines of code: no comment, import, or what stands in a docstring; how many are one with their ends."""
    code: list[tuple[str, bool, int]] = []
    quote = ""
    apart = False  # from the last of them, by more than comments
    ends: list[str] = []  # of blocks: without them what follows would stand inside
    for line, is_apart in lines:
        apart = apart or is_apart
        if quote:
            quote = "" if quote in line else quote
        elif line.startswith(_DOCSTRINGS):
            quote = "" if line[:3] in line[3:] else line[:3]
        elif _USUAL.match(line):
            apart = True
        elif not line.strip(_CLOSES):
            ends.append(line)
        elif not _ASIDE.match(line):
            if ends and code and not apart:
                before, was_apart, number = code[-1]
                code[-1] = " ".join((before, *ends)), was_apart, number + len(ends)
            code.append((line, apart, 1))
            apart, ends = False, []
    return code


def first_text(data: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return the first text that is not blank under one of the keys, in their order."""
    return next((value for key in keys if isinstance(value := data.get(key), str) and value.strip()), None)
