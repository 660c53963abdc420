"""What a browser of an agent says of a page: what was done, where that led, and what the page shows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from trajcompress.outcomes.printed.around import is_prompt
from trajcompress.outcomes.printed.hits import with_hits
from trajcompress.outcomes.printed.page_sentences import words_of
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

PAGE_CHARS = 300
"""What is told of a page takes more than what is told of another text: its title says little."""

_SHORT_PAGE_CHARS = 115
_SHORT = 100  # what another text may be told in, where a page has that
_PART_CHARS = 26  # of what was done, and of an address, are told in any case
_TITLE_CHARS = 40  # a title that has less room tells nothing
_DONE_SHARE, _ADDRESS_SHARE, _TITLE_SHARE = 3, 4, 5
_SCREEN = late_re(  # as browsers of agents say where they are
    r"(Here is a screenshot of \[([^\[\]\n]{0,300})\]\(([^()\s?]{1,300})[^()\s]{0,2000}\)[^\n]{0,200})"
)
_SCREEN_WITHIN = 12_000
_ADDRESSED = late_re(  # as the text browsers of AutoGen and smolagents head a page
    r"\s{0,8}(Address: (\S[^\n]{0,2000}))\n(?:Title: ([^\n]{0,300})\n)?"
    r"(?:You previously visited this page [^\n]{0,80}\n)?Viewport position: Showing page [^\n]{1,60}\n(?:={3,80}\n)?"
)
_AROUND_TITLE = "# ."
_METADATA = late_re(r"\s{0,4}The following metadata [^\n]{1,80}:\s{1,4}(?=\{)")
_READ = late_re(r"\s{0,4}Automatic OCR of [^\n]{1,60} has detected the following text:")
_SCHEME = late_re(r"\A[a-z]{3,6}://")
_SAID_OF_ITSELF = late_re(  # by a model that reads a picture, and by pages on each
    r"\b(?:(?:all|of) (?:the )?visible text|transcribed (?:above|below|text)"
    r"|transcri(?:bed|ption of) (?:all|the|any|every)\b[^\n]{0,40} text"
    r"|(?:feel free to|if you (?:need|have)\b[^\n]{0,100}) let me know|site is protected by reCAPTCHA"
    r"|agree to\b[^\n]{0,80} (?:terms|policy|agreement)|uses? cookies"
    r"|like to show you a description here but)\b",
    re.IGNORECASE,
)
_PICTURE = "<Image>"
_TYPED = late_re(r"\btyped\b")
_FIELD = frozenset({"search", "query", "input", "field", "text", "searched"})  # around what was typed
_LEAST_WORDS = 2


class Page(Struct, frozen=True):
    """What a browser of an agent says: what was ``done``, the page's ``title`` and ``address``, and what it shows.

    The title is empty where what was done, or other results say it; ``name`` is what they are told with in any case.
    """

    done: str
    title: str
    address: str
    name: str
    shown: str

    def head(self, limit: int, needed: Iterable[str]) -> str:
        """Say what was done and on which page, each in its share of some room; in full what is ``needed`` of that."""
        address = shorten(_SCHEME.sub("", self.address), max(limit // _ADDRESS_SHARE, _PART_CHARS))
        done = shorten(self.done, max(limit // _DONE_SHARE, _PART_CHARS))
        room = limit // _TITLE_SHARE
        title = shorten(self.title, room) if room >= _TITLE_CHARS else ""
        both = f"{title} ({address})" if done else f"{title}; {address}"
        where = both if title and address else title or (f"({address})" if address else "")
        said = f"{done} {where}".strip()
        return f"{done} {self.name}" if any(each in self.name and each not in said for each in needed) else said


def read_page(text: str, repeated: Repeated) -> Page | None:
    """Read what a browser of an agent says; None where no such browser wrote it."""
    screen = _SCREEN.search(text, 0, _SCREEN_WITHIN)
    if screen is None:
        return _read_addressed(text, repeated)
    done, title, address = one_line(text[: screen.start()]), one_line(screen[2]), screen[3]
    address = "" if address.startswith("data:") else address
    told = (title.rpartition(" - ")[0] or title) in done or screen[1] in repeated
    metadata = metadata_of(text)
    start = metadata[1] if metadata else screen.end()
    read = _READ.match(text, start)
    shown = text[read.end() if read else start :].strip().removesuffix(_PICTURE).splitlines()
    typed = words_of(done) | _FIELD if _TYPED.search(done) else set()
    page = "\n".join(line for line in shown if not _says_nothing(line, typed)).strip()
    return Page(done, "" if told else title, address, f"{title} ({address})".strip(), with_hits(page))


def _read_addressed(text: str, repeated: Repeated) -> Page | None:
    """Read a page that stands below its address and its title; None of another text."""
    head = _ADDRESSED.match(text)
    if head is None:
        return None
    address, title, shown = head[2].strip(), one_line(head[3] or "").rstrip("."), text[head.end() :].strip()
    first, _, below = shown.partition("\n")
    shown = below.lstrip() if title and first.strip(_AROUND_TITLE) == title else shown
    is_known = head[1] in repeated
    return Page("", title, "" if is_known else address, f"{title} ({address})".strip(), with_hits(shown))


def metadata_of(text: str) -> tuple[int, int] | None:
    """Return where the JSON begins and ends that a browser of an agent gives of a page's metadata, if it does."""
    screen = _SCREEN.search(text, 0, _SCREEN_WITHIN)
    metadata = _METADATA.match(text, screen.end()) if screen else None
    if screen is None or metadata is None:
        return None
    ends = "{}" if text.startswith("{}", metadata.end()) else "\n}"
    end = text.find(ends, metadata.end())
    return (metadata.end(), end + len(ends)) if end >= 0 else None


def _says_nothing(line: str, typed: set[str]) -> bool:
    """Whether a line is a prompt, what a reader says of its answer, or what was typed or clicked once more."""
    words = words_of(line)
    again = len(words) >= _LEAST_WORDS and words <= typed
    return again or _SAID_OF_ITSELF.search(line) is not None or is_prompt(line)


def is_screen(text: str) -> bool:
    """Whether a browser of an agent wrote a text."""
    return _ADDRESSED.match(text) is not None or _SCREEN.search(text, 0, _SCREEN_WITHIN) is not None


def room_for_page(limit: int) -> int:
    """Return the room that a page has where another text has so much: in next to none it has no more."""
    return limit if limit < _SHORT else max(limit, _SHORT_PAGE_CHARS if limit == _SHORT else PAGE_CHARS)
