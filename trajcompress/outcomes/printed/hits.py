"""What a search found, as a page shows it: each hit under its title, with the address that it leads to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from trajcompress.facts.entries import LEADS_ON
from trajcompress.outcomes.compact import parse, parse_cut
from trajcompress.outcomes.text import one_line, shorten
from trajcompress.processes.late_patterns import late_re

_ADDRESS = late_re(  # alone on its line: an address, or the parts of one as search engines show it
    r"^[ \t]{0,4}(?:[-*•+] |\d{1,2}\. )?(?:[^\W\d]{1,12}: {1,4})?[*_`<(]{0,3}"
    r"(https?://[^\s›<>()]{1,300}(?: › [^\n›()]{1,100}){0,8}"
    r"|(?:[\w-]{1,40}\.){1,4}[a-z]{2,12}(?: › [^\n›()]{1,100}){1,8})"
    r"[*_`>)]{0,3}[ \t]{0,4}$",
    re.MULTILINE,
)
_LEADS_ON = late_re(rf"{LEADS_ON}\Z")
_SIGNS = late_re(
    r"\A\s{0,8}(?:[-•+*] |\d{1,2}\. |#{1,6} )?(?:(?:Link |Page )?(?:Title|Text|Link): )?\s{0,4}[*_`\[]{0,3}"
    r"|[*_`\]]{0,3}\s{0,8}\Z"
)
_LABELLED = late_re(r"^[ \t]{0,8}[*_#]{0,3} ?[^\W\d_][\w -]{0,40}:[*_]{0,2}[ \t]{1,4}(?=\[\{\")", re.MULTILINE)
_LISTS = ': [{"'
_TITLES, _URLS = ("title", "name"), ("url", "link", "href")
_PARSED_CHARS = 60_000
_TITLE_CHARS = 110
_SITE_CHARS = 40
_BEHIND = 2  # lines a title stands behind its address, at most
_LEAST_HITS = 2
_LEADS = " | http"
MOST_HITS = 4
"""Of a page so many are told."""


def with_hits(page: str) -> str:
    r"""Return a page with a line for each hit, its title and its address; a page that is no such list as it is.

    >>> print(with_hits("Atlas\nhttps://maps.org\nMaps of old\nOld maps.\n\nhttps://b.org/c\nNew maps\nAll new."))
    Atlas | Maps of old | https://maps.org
    Old maps.
    <BLANKLINE>
    New maps | https://b.org/c
    All new.
    """
    lines = page.split("\n")
    places = [place for place, line in enumerate(lines) if _ADDRESS.match(line)]
    if len(places) < _LEAST_HITS:
        return page
    gone: set[int] = set()
    heads: dict[int, str] = {}
    for place in places:
        before, behind = _before(lines, place), _behind(lines, place)
        title = behind if behind is not None else before
        address = _ADDRESS.match(lines[place])
        if title is None or address is None or title in gone:
            continue
        site = "" if before in {None, title} or len(lines[before or 0]) > _SITE_CHARS else _bare(lines[before or 0])
        gone |= {title, *([before] if before is not None and site else [])}
        named = [site] if site and site not in lines[title] else []
        heads[place] = " | ".join((*named, _bare(lines[title]), address[1].rstrip()))
    kept = (heads.get(place, line) for place, line in enumerate(lines) if place in heads or place not in gone)
    return "\n".join(kept)


def with_listed_hits(text: str) -> str:
    r"""Return a text with a line for each hit where it has them as JSON behind a label, on one line.

    >>> print(with_listed_hits('Links: [{"title": "Maps", "url": "https://maps.org"}]\n\nThese were found.'))
    Maps | https://maps.org
    <BLANKLINE>
    These were found.
    """
    if _LISTS not in text:
        return text
    told, at = "", 0
    for label in _LABELLED.finditer(text):
        end = stop if (stop := text.find("\n", label.end())) >= 0 else len(text)
        if hits := _listed(text[label.end() : end].rstrip()):
            told += text[at : label.start()] + "\n".join(hits)
            at = end
    return told + text[at:]


def _listed(written: str) -> list[str]:
    """Return the hits that a line of JSON lists; nothing of another list."""
    if len(written) > _PARSED_CHARS:
        return []
    data = parse(written)
    data = parse_cut(written) if isinstance(data, str) else data
    hits = data if isinstance(data, list) and all(isinstance(each, dict) for each in data) else []
    named = [(_held(each, _TITLES), _held(each, _URLS)) for each in hits]
    return [f"{_bare(title)} | {url}" for title, url in named] if all(map(all, named)) else []


def _held(hit: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    held = next((hit[key] for key in keys if isinstance(hit.get(key), str)), "")
    return one_line(held).replace(" | ", " – ")


def hits_among(body: str, lines: Sequence[str]) -> list[int]:
    """Return the places of the first hits among the lines of a text; none where it has hardly any."""
    found = [place for place, line in enumerate(lines) if leads_on(line)] if _LEADS in body else []
    return found[:MOST_HITS] if len(found) >= _LEAST_HITS else []


def cut_hit(line: str, most: int) -> str:
    """Return a line in so many characters; of a hit rather its title alone than half of its address.

    >>> cut_hit("Maps of old | https://maps.org/of/old", 30)
    'Maps of old'
    """
    title = line[: line.rfind(_LEADS)] if len(line) > most and _LEADS in line else ""
    return shorten(title or line, most)


def leads_on(line: str) -> bool:
    """Whether a line is that of a hit: it ends with an address."""
    return _LEADS_ON.search(line) is not None


def _before(lines: list[str], place: int) -> int | None:
    """Return the line right above an address."""
    above = lines[place - 1] if place else ""
    return place - 1 if _bare(above) and not above.rstrip().endswith(":") and not _ADDRESS.match(above) else None


def _behind(lines: list[str], place: int) -> int | None:
    """Return the line behind an address, where that is no sentence, which would be what the page found says."""
    for at in range(place + 1, min(place + 1 + _BEHIND, len(lines))):
        if (line := _bare(lines[at])) and not line.endswith(":"):
            is_title = len(line) <= _TITLE_CHARS and (not line.endswith(".") or line.endswith(".."))
            return at if is_title and not _ADDRESS.match(lines[at]) else None
    return None


def _bare(line: str) -> str:
    """Return a line without signs of Markdown, and with one sign where it is cut: three end a sentence."""
    bare = _SIGNS.sub("", line)
    return f"{bare.rstrip('. ')}…" if bare.endswith("...") else bare
