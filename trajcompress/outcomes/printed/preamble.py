"""What a source begins with before it says anything of its own: whose it is, under which licence, what it imports."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.printed.matches import searches
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import late_re

_BLOCKS = (("/*", "*/"), ("/-", "-/"), ("{-", "-}"), ("<!--", "-->"), ("(*", "*)"), ('"""', '"""'), ("'''", "'''"))
_LINE_COMMENT = late_re(r"\s{0,8}(?:#(?![\w!\[])|//|--(?!\w)|;;|%(?!\w))")
_OWNED = late_re(
    r"\bcopyright\b|©|\(c\) ?\d{4}|\bSPDX-License|\ball rights reserved\b|\blicen[cs]ed under\b|@licen[cs]e\b"
    r"|\b(?:MIT|Apache|BSD|General Public|Mozilla Public) licen[cs]e\b",
    re.IGNORECASE,
)
_LEGAL = late_re(  # of the paragraphs behind
    r"copyright|licen[cs]e|warrant|redistribut|\bas is\b|\brights\b|free software|permission is|endorse|\bauthors?:",
    re.IGNORECASE,
)
_IMPORT = late_re(  # and what else stands there, such as the name of a package
    r"\s{0,8}(?:import (?:\w{1,20} )?[\"'({*\w@]|from \S{1,200} import\b|# ?(?:include|import) ?[<\"]|#!/|<\?php\s*\Z"
    r"|(?:pub )?use [\w:\\{}, *]{1,300};?\s*\Z|(?:global )?using [\w.= ]{1,200};|open [A-Z][\w. ]{0,200}\Z"
    r"|(?:extern crate|package) [\w.]{1,200};?\s*\Z|@import |[\"']use \w{1,20}[\"'];?\s*\Z"
    r"|require(?:_relative)? [\"']|(?:const|let|var|local) [\w{}, :$]{1,200}= ?(?:await )?@?(?:require|import)\b)"
)
_OPEN, _CLOSE = "({", ")}"
_PROSE = late_re(
    r"\.(?:md|mdx|markdown|rst|adoc|txt|tex)$|(?:\A|[/\\])(?:LICEN[CS]E|COPYING|NOTICE|AUTHORS)\b", re.IGNORECASE
)


def reads_source(action: Action | None) -> bool:
    """Whether a file is read that may begin with a licence and imports, and is not there for these."""
    if action is None or action.kind != "read" or searches(action) or not action.files:
        return False
    return not any(map(_PROSE.search, action.files))


def without_preamble(lines: Sequence[str], kept: Collection[str]) -> list[str]:
    """Return the lines of a source from where it begins, and of those before what tells of it, or is ``kept``.

    All of them where nothing follows.
    """
    own: list[int] = []
    at = 0
    while at < len(lines):
        if (end := _comment_end(lines, at)) > at:
            own += _without_licence(lines, at, end)
        elif (end := _import_end(lines, at)) == at and _says(lines[at]):
            break
        at = max(end, at + 1)
    if not any(map(_says, lines[at:])):
        return list(lines)
    shown = {*own}
    before = [line for place, line in enumerate(lines[:at]) if place in shown or one_line(line) in kept]
    return [*before, *lines[at:]]


def _says(line: str) -> bool:
    return any(map(str.isalnum, line))


def _comment_end(lines: Sequence[str], at: int) -> int:
    """Return where a comment ends that begins in a line; that line itself where none does.

    One that is not closed takes all, so none is looked through twice.
    """
    line = lines[at].lstrip()
    closes = next(((begin, end) for begin, end in _BLOCKS if line.startswith(begin)), None)
    if closes:
        begin, end = closes
        if end in line[len(begin) :]:
            return at + 1
        return next((place + 1 for place in range(at + 1, len(lines)) if end in lines[place]), len(lines))
    end_at = at
    while end_at < len(lines) and _LINE_COMMENT.match(lines[end_at]):
        end_at += 1
    return end_at


def _import_end(lines: Sequence[str], at: int) -> int:
    """Return where an import ends that begins in a line, maybe some lines below; that line itself where none does."""
    if _IMPORT.match(lines[at]) is None:
        return at
    depth = 0
    for place in range(at, len(lines)):
        depth += sum(map(lines[place].count, _OPEN)) - sum(map(lines[place].count, _CLOSE))
        if depth <= 0:
            return place + 1
    return len(lines)


def _without_licence(lines: Sequence[str], start: int, end: int) -> list[int]:
    """Return the places of the lines of a comment that say something else than whose a source is."""
    first = next((place for place in range(start, end) if _OWNED.search(lines[place])), end)
    own = [*range(start, first)]
    paragraph: list[int] = []
    legal = True  # what begins on the line of the owner is theirs
    for place in range(first, end):
        if not _says(lines[place]):
            own += [] if legal else paragraph
            paragraph, legal = [], False
        else:
            paragraph.append(place)
            legal = legal or _LEGAL.search(lines[place]) is not None
    return own + ([] if legal else paragraph)
