"""What an ordinary text shows, in a few of its own lines: no JSON, no error, no report of a test run."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from trajcompress.facts.entries import entries
from trajcompress.facts.markup import unlinked
from trajcompress.facts.next_turns import Later
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.printed.around import without_around
from trajcompress.outcomes.printed.chained import entitle, is_chain, parts_begun, without_separators
from trajcompress.outcomes.printed.furniture import between_rules, telling_lines
from trajcompress.outcomes.printed.hits import MOST_HITS, cut_hit, hits_among, leads_on
from trajcompress.outcomes.printed.items import items_of
from trajcompress.outcomes.printed.known_forms import known_form
from trajcompress.outcomes.printed.later import Used, lines_used
from trajcompress.outcomes.printed.matches import matches
from trajcompress.outcomes.printed.odd_lines import odd_lines, rows_amid
from trajcompress.outcomes.printed.packages import packages_changed
from trajcompress.outcomes.printed.page_sentences import (
    LONG_CHARS,
    below_clicked,
    below_headings,
    most_about,
    put_sentences,
    words_of,
)
from trajcompress.outcomes.printed.preamble import reads_source, without_preamble
from trajcompress.outcomes.printed.reasons import own_lines
from trajcompress.outcomes.printed.schemas import schema_of
from trajcompress.outcomes.printed.shown import FILE_COLUMNS, tells
from trajcompress.outcomes.printed.tree import in_tree
from trajcompress.outcomes.repeated import Repeated
from trajcompress.outcomes.text import LEAST_CHARS, NO_OUTPUT, on_one_line, one_line, shorten, whole_sentences
from trajcompress.processes.late_patterns import holds_any, late_re

_HEADER_CHARS = 60
_FOLDER_HEADS = ("LastWriteTime", "Directory of ")
_FOLDER_HEAD = late_re(  # as PowerShell and `dir` write it above the files of a folder
    r"(?:\s{0,8}Directory: [^\n]{1,1000}\n)?\s{0,8}Mode {1,40}LastWriteTime {1,40}Length Name[ \r]{0,40}\n"
    r"[- ]{1,90}\r?\n"
    r"|(?:\s{0,4}Volume [^\n]{1,200}\n){0,2}\s{0,8}Directory of [^\n]{1,1000}\n\s{0,8}"
)
_LEAST_LISTED = 3  # files; of one or two also what is said of them
_LONG_LISTING = late_re(r"\s{0,4}(?:total \d[^\n]{0,20}\n)?[-dlcbps][-rwxsStT]{9}[.+@]?\s")  # names tell most
_HIT = late_re(r"(?:[^\s:]{1,300}:)?\d{1,7}[:-]")
_BRACE, _ENDS_BLOCK, _BETWEEN_CHARS = "}", late_re(r"[\s})\];,]*}[\s})\];,]*"), 60
_MOST_USED = 2
_BROWSES = late_re(r"brows|page|click|fill|submit|navigat|goto", re.IGNORECASE)
_HEAD = late_re(r"\| ?head\b[^|\n]{0,20}\Z")
_TIMES = late_re(
    r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]{1,4}", re.MULTILINE
)
_WARNING = "Warning: "
_WARNED_AT = late_re(
    r"^\S{0,200}(?:(?:site|dist)-packages|/lib/python\d\S{0,5})/\S{1,200}:\d{1,7}: (?=\w{1,40}Warning: )",
    re.MULTILINE,
)
_ROW_CHARS = 48
_LEAST_JOINED = 4  # commas of a list in words
_MENU = late_re(
    r"^[ \t]{0,4}(?:AVAILABLE|[Aa]vailable|ADMISSIBLE|[Aa]dmissible|VALID|Valid|Possible|Legal|Allowed)"
    r" (?:ACTIONS?|[Aa]ctions?|COMMANDS?|[Cc]ommands?|MOVES?|[Mm]oves?)\b[^\n:：]{0,40}[:：]",
    re.MULTILINE,
)
_MENU_HINTS = ("ctions", "CTIONS", "ommands", "COMMANDS", "oves", "MOVES")


def _without_menu(body: str) -> str:
    """Drop what an environment says may be done next: that is not what came of an action."""
    menu = _MENU.search(body, 1) if holds_any(body, _MENU_HINTS) else None
    if menu is None or not body[: menu.start()].strip():
        return body
    end = body.find("\n\n", menu.end())
    return body[: menu.start()] if end < 0 else f"{body[: menu.start()]}{body[end:]}"


class Plain:
    """An ordinary text: a short one is told in full, of a long one what is taken up, its first lines and its last.

    Of one that nobody can read there is nothing to be said. It is read once, in however much room it is told.
    """

    def __init__(self, body: str, asked: Asked, done: str | None = None) -> None:
        """Take a text; the room that is asked for is no matter. ``done``: of a page in a browser what led to it."""
        self._body, self._asked, self._done = _without_menu(body), asked, done
        self._is_page = done is not None
        self._is_blank = bool(body) and not any(char.isprintable() and char != " " for char in body)

    def within(self, limit: int) -> list[str]:
        """Return what is told in so many characters; of a page that shows nothing there is nothing to be said."""
        if self._is_blank:
            return []
        if changed := packages_changed(self._body, self._asked.later):
            return changed
        lists = self._body.count("\n") >= _LEAST_LISTED and _LONG_LISTING.match(self._body) is not None
        if len(self._body) <= limit and not lists:
            short = unlinked(_without_header(self._body))
            lines = dict.fromkeys(filter(None, map(one_line, short.splitlines())))
            are_hits = len(lines) > 1 and all(map(_HIT.match, lines))
            told = list(lines) if self._is_page or are_hits else [on_one_line(map(one_line, between_rules(short)))]
            return told if any(told) or self._is_page else [NO_OUTPUT]
        return self._of_form or self._lines.within(limit)

    @cached_property
    def _of_form(self) -> list[str]:
        """What is told of a text that has a form of its own."""
        body, asked = self._body, self._asked
        repeated, later = asked.repeated, asked.later
        if asked.kind == "read" and (found := matches(body, asked.action, later)):
            return found
        known = known_form(body) or schema_of(body, later) or in_tree(body, repeated, later) or items_of(body, later)
        return known or (_rows(body, repeated, later) if asked.kind == "run" and not self._is_page else [])

    @cached_property
    def _lines(self) -> _Lines:
        action = self._asked.action
        acted = self._asked.kind == "run" and not self._is_page
        from_end = (acted or is_chain(action)) and not (action and _HEAD.search(action.target))
        acted = acted or (action is not None and _BROWSES.search(action.name) is not None)
        if self._done is not None:
            return _lines_of_page(self._body, self._asked, self._done, acted=acted)
        return _lines_of(self._body, self._asked, from_end=from_end, acted=acted)


def _rows(body: str, repeated: Repeated, later: Later) -> list[str]:
    """Return the rows of a table amid a text, where none is unlike the others, and nothing is taken up."""
    rows = rows_amid(body)
    if not rows or lines_used(body, later, 1) or odd_lines(body):
        return []
    return [shorten(line, _ROW_CHARS) for line in telling_lines(rows.splitlines(), repeated)]


def _without_header(body: str) -> str:
    """Drop a first line that only announces what comes, and a last one behind which nothing does."""
    first, _, rest = body.partition("\n")
    before, _, last = rest.rstrip().rpartition("\n")
    rest = before if last.endswith(":") and before.strip() else rest
    if not tells(rest):  # nothing came
        return f"{first}\n{rest}"
    return rest if len(first) <= _HEADER_CHARS and first.rstrip().endswith(":") else body


class _Lines(NamedTuple):
    """Those of a text that tell something: the places of what is ``used``, and of what is ``shown`` besides.

    What stands ``amid`` others is a paragraph: how it begins says little.
    """

    body: str
    each: Sequence[str]
    used: Sequence[int]
    shown: Sequence[int]
    amid: Collection[int]

    def within(self, limit: int) -> list[str]:
        """Return lines in their order, with marks where others go between."""
        if not self.each:
            return [f"…{shorten(one_line(self.body[-limit:]), limit - 1)}"]
        chosen = _with_ends_of_blocks(self, _chosen(self, limit))
        return [chosen[place] if place - 1 in {-1, *chosen} else f"… {chosen[place]}" for place in sorted(chosen)]


def _lines_of(body: str, asked: Asked, *, from_end: bool, acted: bool) -> _Lines:
    """Return lines of a text in their order: what is taken up, what is odd in it, and how it begins and ends.

    ``from_end``: its end says most. ``acted``: it came of something that was done, not of a look.
    """
    body = _without_columns(body)
    taken_up = [each for each in lines_used(body, asked.later, _MOST_USED) if not asked.repeated.frames(each.line)]
    odd = [one_line(line) for line in odd_lines(body, ran=acted)]
    heads = _heads(body)
    kept = {*(one_line(each.line) for each in taken_up), *odd, *heads}
    own = without_preamble(body.splitlines(), kept) if reads_source(asked.action) else body.splitlines()
    lines = telling_lines(own, asked.repeated, with_last=from_end, kept=kept)
    lines = own_lines(lines) if from_end else lines  # in a text it may be a sentence
    parts = parts_begun(body, asked.action)
    lines = without_separators(lines) if parts else lines
    last = len(lines) - 1
    used, firsts = _places(lines, taken_up, odd, heads)
    if from_end and is_chain(asked.action):  # the last is what the others prepared
        used = [place for place in (last, *entitle(lines, parts), *used) if place >= 0]
    told = below_headings(lines, firsts) or range(last + 1)
    ends = (-1, 0, -2) if from_end else (0, -1, 1, 2)
    shown = (*hits_among(body, lines), *(told[at] for at in ends if -len(told) <= at < len(told)))
    return _Lines(body, lines, _under(firsts, used), _under(firsts, shown), ())


def _lines_of_page(body: str, asked: Asked, done: str, *, acted: bool) -> _Lines:
    """Return lines of a page: what is taken up, the hits of a search, else what tells most of what was asked.

    Before that, where it shows what was clicked, what stands below.
    """
    taken_up = [each for each in lines_used(body, asked.later, _MOST_USED) if not asked.repeated.frames(each.line)]
    odd = [one_line(line) for line in odd_lines(body, ran=acted)]
    heads = _heads(body)
    kept = {*(one_line(each.line) for each in taken_up), *odd, *heads}
    own = without_around(body.splitlines(), kept)
    lines = telling_lines(own, asked.repeated, kept=kept)
    used, firsts = _places(lines, taken_up, odd, heads)
    words, typed = words_of(asked.action.target) if asked.action else set(), words_of(done)
    hits = [place for place in firsts if leads_on(lines[place])][:MOST_HITS]
    below = [] if hits else below_clicked(lines, done)
    amid = put_sentences(lines, words, typed)
    shown = [*hits, *below, *_under(firsts, amid)] or most_about(lines, words - typed)
    return _Lines(body, lines, _under(firsts, used), shown, amid)


def _heads(body: str) -> set[str]:
    """Return the lines with which the entries of a list begin."""
    ends = ((start, body.find("\n", start)) for start in entries(body))
    return {one_line(body[start : end if end >= 0 else None]) for start, end in ends} - {""}


def _places(
    lines: list[str], taken_up: Iterable[Used], odd: Iterable[str], heads: Collection[str]
) -> tuple[list[int], list[int]]:
    """Return the places of lines that are used, which say from then on what is used of them, and of ``heads``.

    No heads where one of them is left out: what follows that would be another's.
    """
    places = {line: place for place, line in enumerate(lines)}
    used = []
    for each in taken_up:
        if (place := places.get(one_line(unlinked(each.line)))) is not None:
            used.append(place)
            lines[place] = _from_its_beginning(lines[place], one_line(unlinked(each.part)))
    used += [places[line] for line in map(unlinked, odd) if line in places]
    firsts = sorted(places[head] for head in map(unlinked, heads) if head in places)
    return used, firsts if len(firsts) == len(heads) else []


def _under(firsts: Sequence[int], chosen: Iterable[int]) -> list[int]:
    """Return places, each behind that of the line with which its entry of a list begins."""
    return [place for each in chosen for place in (*firsts[: bisect_right(firsts, each)][-1:], each)]


def _with_ends_of_blocks(lines: _Lines, chosen: dict[int, str]) -> dict[int, str]:
    """Return what is chosen, with the brackets that end a block between two lines: what follows is not in it."""
    ended: dict[int, str] = {}
    for place in chosen if _BRACE in lines.body else ():
        if place + 1 in chosen and chosen[place] == (line := lines.each[place]):
            start = lines.body.find(line) + len(line)
            end = lines.body.find(lines.each[place + 1], start, start + _BETWEEN_CHARS)
            between = lines.body[start:end].strip() if start >= len(line) and end >= 0 else ""
            if between and _ENDS_BLOCK.fullmatch(between):
                ended[place] = f"{line} {one_line(between)}"
    return {**chosen, **ended}


def _chosen(lines: _Lines, limit: int) -> dict[int, str]:
    """Return what of some lines has room, by their places: of those that are used first, in whole sentences."""
    each, used, amid = lines.each, lines.used, lines.amid
    chosen: dict[int, str] = {}
    wanted = list(dict.fromkeys((*used, *lines.shown)))
    room = limit
    for place in wanted:
        if room < LEAST_CHARS:
            break
        share = min(room, max(limit * (2 if chosen else 3) // 5, LEAST_CHARS))  # the first says most
        line = each[place]
        may_take_all = place in (*used, *amid) or not (chosen or leads_on(line))
        told = whole_sentences(line, share) or (whole_sentences(line, room) if may_take_all else "")
        told = told if told == line or len(told) >= LEAST_CHARS else ""  # initials are no sentence
        is_short = len(line) <= LONG_CHARS and place not in amid
        if told or place in used or not chosen or is_short:
            chosen[place] = told or cut_hit(line, share)
            room -= len(chosen[place]) + 2
    _lengthen(chosen, each, wanted, room)
    return chosen


def _lengthen(chosen: dict[int, str], lines: Sequence[str], wanted: Sequence[int], room: int) -> None:
    """Give the room that is left to lines that were cut."""
    for place in wanted:
        if place in chosen and room > 0:
            most = len(chosen[place]) + room
            longer = _begun(lines[place], most)
            if len(longer) > len(chosen[place]):
                room -= len(longer) - len(chosen[place])
                chosen[place] = longer


def _without_columns(body: str) -> str:
    """Return a log without the time that each of its lines begins with, a listing of files with their names alone.

    Warnings of installed packages go without where these are.
    """
    body = _FOLDER_HEAD.sub("", body) if holds_any(body, _FOLDER_HEADS) else body
    body = _WARNED_AT.sub("", body) if _WARNING in body else body
    for columns in (_TIMES, FILE_COLUMNS):
        if len(columns.findall(body)) > 2 * (body.count("\n") + 1) / 3:
            return columns.sub("", body)
    return body


def _begun(line: str, most: int) -> str:
    """Return the sentences that a line begins with; of a long list in words as much as has room."""
    whole, cut = whole_sentences(line, most), cut_hit(line, most)
    is_list = cut.count(", ") >= _LEAST_JOINED and "{" not in cut and "[" not in cut
    return cut if not whole or (is_list and 2 * len(whole) < most) else whole


def _from_its_beginning(line: str, part: str) -> str:
    """Return a part of a line behind the first sentence of it, which says what it is about, if that is short."""
    first = whole_sentences(line, _HEADER_CHARS)
    return f"{first} {part}" if first not in {"", line} and not line.startswith(part) else part
