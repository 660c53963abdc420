"""What a browser of an agent says of a page: what was done, where that led, and what the page shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.text import sentences
from trajcompress.processes.late_patterns import late_re

PAGE_CHARS = 300
"""What is told of a page takes more than what is told of another text: its title says little."""

LONG_CHARS = 160
"""A longer line is a paragraph."""

_SENTENCE_SPACES, _MOST_SENTENCES = 6, 3
_NAMED = late_re(r"\(\w{2,12}:[^\s()]{1,300}\)\Z")
_WORD = late_re(r"[^\W_]{4,40}")
_SCREEN = late_re(  # as browsers of agents say where they are
    r"(Here is a screenshot of \[([^\[\]\n]{0,300})\]\(([^()\s?]{1,300})[^()\s]{0,2000}\)[^\n]{0,200})"
    r"(?:\n\s{0,4}The following metadata [^\n]{1,80}:\s{1,4}\{\n?(?:[^}\n][^\n]{0,4000}\n){0,400}\})?"
    r"(?:\s{0,4}Automatic OCR of [^\n]{1,60} has detected the following text:)?"
)
_SCREEN_WITHIN = 12_000
_SAID_OF_ITSELF = late_re(  # by a model that reads a picture, and by pages on each
    r"\b(?:(?:all|of) (?:the )?visible text|transcri(?:bed|ption of) (?:all|the|any|every)\b[^\n]{0,40} text"
    r"|(?:feel free to|if you (?:need|have)\b[^\n]{0,100}) let me know|site is protected by reCAPTCHA"
    r"|agree to\b[^\n]{0,80} (?:terms|policy|agreement)|uses? cookies)\b",
    re.IGNORECASE,
)
_PICTURE = "<Image>"


def with_title(text: str, repeated: Repeated, needed: Iterable[str]) -> str:
    """Return what a browser of an agent says with the page's title and address for how much it shows of the page.

    Without these where other results have them as well, and nothing ``needed`` is in them, and without a title that
    it says before. The text itself where no such browser wrote it.
    """
    screen = _SCREEN.search(text, 0, _SCREEN_WITHIN)
    if screen is None:
        return text
    before = text[: screen.start()].rstrip()
    title = "" if (screen[2].rpartition(" - ")[0] or screen[2]) in before else screen[2]
    title = title if screen[3].startswith("data:") else f"{title} ({screen[3]})".strip()
    told = screen[1] in repeated and not any(each in screen[1] for each in needed)
    shown = text[screen.end() :].removesuffix(_PICTURE).splitlines()
    page = "\n".join(line for line in shown if not _SAID_OF_ITSELF.search(line))
    return f"{before}\n{'' if told else title}\n{page}"


def put_sentences(lines: list[str], asked: Collection[str]) -> list[int]:
    """Put in the place of lines of a page the sentence that tells most of what was asked.

    Return the best of them, behind the name of the page, if that is told.
    """
    named = [1] if len(lines) > 1 and _NAMED.search(lines[1]) else []
    typed = words_of(lines[0])
    about = set(asked) - typed
    found: dict[int, int] = {}
    seen: set[str] = set()
    for place, line in enumerate(lines[len(named) + 1 :], len(named) + 1):
        spans = sentences(line) if line.count(" ") >= _SENTENCE_SPACES else ()
        told = [line[start:end].strip() for start, end in spans if end - start <= LONG_CHARS]
        ranked = {each: len(about.intersection(words_of(each))) for each in told if _is_sentence(each)}
        best = max(ranked, key=ranked.__getitem__, default="")
        if not words_of(best) <= typed and best not in seen:
            lines[place], found[place] = best, ranked[best]
            seen.add(best)
    return [*named, *sorted(found, key=lambda place: (-found[place], place))[:_MOST_SENTENCES]]


def words_of(text: str) -> set[str]:
    """Return the words of a text that may tell what it is about."""
    return set(_WORD.findall(text.lower()))


def _is_sentence(text: str) -> bool:
    """Whether a text has as many words as no label, and besides those with capitals, as menus have, some other."""
    return text.count(" ") >= _SENTENCE_SPACES and any(
        not word[:1].isupper() for word in text.split() if word.isalnum()
    )
