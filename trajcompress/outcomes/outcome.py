"""What came of an action: a tool's result in one phrase of its own words."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.facts.parts import Wanted
from trajcompress.outcomes.asked import SAID_CHARS, Asked
from trajcompress.outcomes.compact import parse, parse_cut
from trajcompress.outcomes.contents import is_code, reads_markup
from trajcompress.outcomes.echo import without_echo
from trajcompress.outcomes.page import is_page, visible
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.printed.screen import PAGE_CHARS, with_title
from trajcompress.outcomes.printed.shown import listed, plain
from trajcompress.outcomes.records.rest import Query
from trajcompress.outcomes.records.structured import read_structured
from trajcompress.outcomes.reported import Report, report_of
from trajcompress.outcomes.telling import Telling
from trajcompress.outcomes.text import clip, one_line, shorten, uncoloured, whole_sentences
from trajcompress.outcomes.unwrap import unwrap
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.feedback import nag_of

_PARSED_CHARS = 60_000  # JSON up to this size is read whole
_OPEN_FILE = late_re(r"\[File: ([^\s(]{1,300}) \((\d+) lines total\)\]")
_LOOKS_UP = ("get", "list", "check", "describe", "poll", "status", "fetch", "read")
_HTTP_HEAD = late_re(  # of an answer whose body stands below
    r"HTTP/\d(?:\.\d)? (\d{3}[^\r\n]{0,100})\r?\n((?:[\w-]{1,60}:[^\n]{0,4000}\n){1,60})\r?\n"
)
_LEAST_ERROR = "400"
_BLANK = " \t\r\n"


class Outcome(Struct, frozen=True):
    """What a result says.

    ``said`` is one line, ``size`` what was too long to be said; ``file`` is one that an editor shows. ``tests``: it
    is the report of a test run.
    """

    said: str
    size: str = ""
    failed: bool = False
    tests: bool = False
    file: str | None = None


def read(text: str, asked: Asked) -> Outcome:
    """Read one result, as it stands in its turn."""
    held = unwrap(text)
    if (head := _last_head(held)) and held[head.end() :].strip():
        return _answered(head, read(held[head.end() :], asked), {**asked.later, **asked.taken})
    if nag := nag_of(held):
        most = asked.most or asked.limit
        return Outcome(whole_sentences(one_line(nag), most) or shorten(one_line(nag), asked.limit), failed=True)
    body = without_echo(held, asked.action)
    if len(body) <= _PARSED_CHARS and body[:1] in {"{", "["} and (data := _parsed(body)) is not None:
        return _of_json(data, asked)
    is_printed = bool(held or text.strip() or not text.strip(_BLANK))  # not of spaces that no shell prints
    told = _of_printed(uncoloured(body).replace("\r\n", "\n"), asked, is_printed=is_printed)
    return told if told.said or told.size else replace(told, size=f"{len(text):,} characters")


def _last_head(text: str) -> re.Match[str] | None:
    """Return the head of an answer by HTTP, of several the last: those before it led to that."""
    head = _HTTP_HEAD.match(text)
    while head and (after := _HTTP_HEAD.match(text, head.end())):
        head = after
    return head


def _answered(head: re.Match[str], body: Outcome, later: Wanted) -> Outcome:
    """Return what an answer by HTTP holds, behind its status where that is an error, and a field that is used."""
    failed = head[1] >= _LEAST_ERROR
    told = [head[1]] if failed else []
    told += [one_line(each.line) for each in lines_used(head[2], later, 1)]
    return replace(body, said="; ".join(filter(None, (*told, body.said))), failed=body.failed or failed)


def _parsed(body: str) -> dict[str, Any] | list[Any] | None:
    """Return the JSON that a result is, or was before its end was cut off."""
    found = (data for reads in (parse, parse_cut) if isinstance(data := reads(body), dict | list))
    return next(found, None)


def _of_json(data: Any, asked: Asked) -> Outcome:
    action = asked.action
    said = f"{action.name} {action.target}" if action else ""
    looked_up = action is not None and (action.kind == "read" or action.name.startswith(_LOOKS_UP))
    makes = action is not None and action.kind == "change"
    query = Query({**asked.later, **asked.wanted}, said, makes, looked_up)
    return Outcome(*read_structured(data, query, asked.limit, asked.most))


def _of_printed(printed: str, asked: Asked, *, is_printed: bool) -> Outcome:
    """Read a text: what it reports, else what it lists, else what it shows, and what later turns use of it."""
    whole = with_title(printed, asked.repeated, asked.needed)
    body = clip(whole)
    report, opened = report_of(body, whole, asked), _OPEN_FILE.search(body)
    is_markup, lists = is_page(body) and not reads_markup(asked.action), report.listing or opened is not None
    of_page = 0 if whole is printed else _room_for_page(asked.limit)
    pieces, lined = report.pieces, []
    if not pieces and (lists or is_code(asked.action)):
        lined = listed(whole[:_PARSED_CHARS], asked.later)
    if not (pieces or lined or lists) and is_printed:
        pieces = plain(visible(body) if is_markup else body, asked, of_page=of_page)
    room = replace(asked, limit=of_page or asked.limit, most=max(asked.most, of_page, asked.limit))
    telling = Telling(whole, report, pieces, lined, room)
    said = telling.first
    if len(body) > len(said) and asked.wanted:
        said = telling.with_used(visible(whole) if is_markup and not lined else whole)
    size = "" if said and "\n" not in printed else _size(printed, report, opened)
    return Outcome(said, size, report.failed, report.tests, opened[1] if opened else None)


def _room_for_page(limit: int) -> int:
    return max(limit, PAGE_CHARS) if limit >= SAID_CHARS else limit


def _size(printed: str, report: Report, opened: re.Match[str] | None) -> str:
    """Say how long a text is, or the file that an editor shows; nothing where it says that an edit was made."""
    if opened and not report.pieces:
        return f"{opened[2]} lines total"
    size = printed.count("\n") + 1
    return f"{size:,} lines" if size > 1 and not report.done else ""
