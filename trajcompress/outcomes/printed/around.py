"""What stands around the text of a page: bars, menus, footers, prompts to sign in."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from trajcompress.outcomes.printed.hits import leads_on
from trajcompress.processes.late_patterns import late_re

_NAMES = (  # the landmarks of ARIA and HTML, and what people call them
    r"(?:(?:top|bottom|side|nav(?:igation)?|menu|tool|search|header|footer|address|status|title|browser)[ -]?bars?"
    r"|headers?|footers?|banner|content ?info|complementary|aside|nav(?:igation)?|menus?|breadcrumbs?"
    r"|ui (?:elements?|labels?|components?)|buttons?|icons?|iconography|labels?|links|social (?:media|profiles|links)"
    r"|(?:table of )?contents(?: hide)?|related (?:searches|articles|stories|topics|posts)"
    r"|people also (?:ask|search(?:ed)? for|viewed)"
    r"|(?:cookie|privacy|copyright|licen[cs]e) (?:notice|banner|notes?)|ad(?:vertisement)?s?|user interface)"
)
_SIGNS = r"[*_#\[\]\- ]{0,8}"
_HEADING = late_re(
    rf"\s{{0,8}}{_SIGNS}(?:[\w/&-]{{1,20}} ){{0,2}}{_NAMES}(?: (?:and |& |\()?[\w/&-]{{1,20}}\)?){{0,2}}{_SIGNS}"
    rf":?{_SIGNS}\s{{0,8}}",
    re.IGNORECASE,
)
_NAMED = late_re(rf"\s{{0,8}}{_SIGNS}(?:[\w/&-]{{1,20}} ){{0,2}}{_NAMES}{_SIGNS}:{_SIGNS}\s", re.IGNORECASE)
_MARKED = late_re(r"\s{0,8}(?:#{1,6} \S[^\n]{0,100}|\*\*[^*\n]{1,80}\*\*:?|\[[^\[\]\n]{1,60}\]|[-=_*]{3,40})\s{0,8}")
_PLAIN = late_re(r"\s{0,8}[^\s\n:][^\n:]{0,60}:\s{0,8}")
_PARAGRAPH_SPACES = 12
_PROMPT = late_re(
    r"\b(?:sign (?:in|up)|log ?in|join now|create (?:an )?account|subscribe|skip to (?:main )?content"
    r"|all rights reserved|privacy (?:policy|notice|statement)|terms (?:of (?:use|service)|and conditions)"
    r"|licen[cs]ed? under|must include:|accept (?:all )?cookies|manage (?:your )?(?:profiles?|preferences))\b",
    re.IGNORECASE,
)
_PROMPT_CHARS = 100
_CAPTION = late_re(r"\s{0,8}\([^()\n]{1,200}\)\s{0,8}")


def without_around(lines: Sequence[str], kept: Collection[str]) -> list[str]:
    """Return the lines of a page that are its text, and those that are ``kept``; all where there are no others."""
    own: list[str] = []
    section: _Section | None = None
    for line in lines:
        if _HEADING.fullmatch(line):
            section = _Section(is_marked=_MARKED.fullmatch(line) is not None)
        elif section and section.ends_before(line):
            section = None
        if line.strip() in kept or not (section or _CAPTION.fullmatch(line) or _NAMED.match(line)):
            own.append(line)
    return own if any(map(str.strip, own)) else list(lines)


class _Section:
    """A section of what stands around the text."""

    def __init__(self, *, is_marked: bool) -> None:
        """Begin one; ``is_marked``: with a heading of Markdown, so that it ends with another."""
        self._is_marked, self._has_lines = is_marked, False

    def ends_before(self, line: str) -> bool:
        """Whether another part of the page begins; without a mark also behind a blank line, or with a paragraph."""
        if _MARKED.fullmatch(line) or leads_on(line):
            return True
        if self._is_marked:
            return False
        was_begun, self._has_lines = self._has_lines, True if line.strip() else self._has_lines
        blank = was_begun and not line.strip()
        return blank or _PLAIN.fullmatch(line) is not None or line.count(" ") >= _PARAGRAPH_SPACES


def is_prompt(line: str) -> bool:
    """Whether a short line asks to sign in, or links to terms."""
    return len(line) <= _PROMPT_CHARS and _PROMPT.search(line) is not None
