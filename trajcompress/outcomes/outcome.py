"""What came of an action: a tool's result in one phrase of its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.facts import facts_in
from trajcompress.facts.parts import Wanted
from trajcompress.facts.reading import readable
from trajcompress.facts.taken import STRONG
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.action.shell import installed
from trajcompress.outcomes.asked import Asked
from trajcompress.outcomes.commands_apart import parts_of
from trajcompress.outcomes.compact import parse, parse_cut, parse_printed, parse_series
from trajcompress.outcomes.contents import is_code, reads_markup
from trajcompress.outcomes.echo import is_only_typed, repeats_call, repeats_data, without_echo
from trajcompress.outcomes.editor import is_made
from trajcompress.outcomes.mcp import is_flagged
from trajcompress.outcomes.page import is_page, visible
from trajcompress.outcomes.printed.chained import runs_at_last
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.printed.hits import with_listed_hits
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.printed.plain import Plain
from trajcompress.outcomes.printed.screen import read_page, room_for_page
from trajcompress.outcomes.printed.shown import listed
from trajcompress.outcomes.printed.tuples import tell_tuples
from trajcompress.outcomes.records.rest import Query
from trajcompress.outcomes.records.structured import read_structured
from trajcompress.outcomes.repeated import NOTHING_REPEATED
from trajcompress.outcomes.reported import Report, report_of
from trajcompress.outcomes.reports.errors import errors
from trajcompress.outcomes.shell_screen import Screen, read_screen
from trajcompress.outcomes.telling import Telling
from trajcompress.outcomes.text import (
    clip,
    joined,
    line_break,
    one_line,
    shorten,
    uncoloured,
    whole_sentences,
    with_arrays_on_a_line,
    with_empty_cells_told_once,
    with_usual_heads,
)
from trajcompress.outcomes.unwrap import unwrap
from trajcompress.outcomes.used import Placed
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.feedback import killed_of, nag_of
from trajcompress.transcript.text_protocols.heard import verdict_of

_PARSED_CHARS = 60_000  # JSON up to this size is read whole
_READS = (parse, parse_printed, parse_series, parse_cut)  # in this order
_OPEN_FILE = late_re(r"\[File: ([^\s(]{1,300}) \((\d+) lines total\)\]")
_LOOKS_UP = ("get", "list", "check", "describe", "poll", "status", "fetch", "read")
_HTTP_HEAD = late_re(  # of an answer whose body stands below
    r"HTTP/\d(?:\.\d)? (\d{3}[^\r\n]{0,100})\r?\n((?:[\w-]{1,60}:[^\n]{0,4000}\n){1,60})\r?\n"
)
_LEAST_ERROR = "400"
_NOTE_CHARS, _NOTE_SHARE = 500, 3
_REPEATED = "the same words"
_BLANK = " \t\r\n"
_CONTROL = late_re(r"[\x01-\x06\x10-\x1a\x1c-\x1f]")  # what no program prints between words
_LEAST_CONTROLS = 3


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


class Reading:
    """One result, as it stands in its turn: what it reports and shows is read once, however often it is told."""

    def __init__(self, text: str, asked: Asked) -> None:
        """Take a result, and what is to be told of it; how much room it has is said when it is told."""
        self.text, self.asked = text, asked
        self._held = unwrap(text)
        head = _last_head(self._held)
        self._head = head if head and self._held[head.end() :].strip() else None

    def told(self, limit: int, most: int, taken: Wanted) -> Outcome:
        """Tell it in so many characters, and in ``most`` where later turns take much of it: see :class:`Asked`."""
        told = self._told(limit, most, taken)
        return replace(told, failed=True) if is_flagged(self.text) else told

    def _told(self, limit: int, most: int, taken: Wanted) -> Outcome:
        asked = replace(self._asked, limit=limit, most=most, taken=taken)
        if self._head:
            return _answered(self._head, self._answer.told(limit, most, taken), {**asked.later, **taken})
        if by_harness := self._of_harness(limit, most):
            return by_harness
        if repeats_call(self._held, self.asked.action):
            return Outcome(_REPEATED)
        if self._data is not None:
            told = _of_json(self._data, asked, self._note)
            return Outcome(_REPEATED) if repeats_data(told.said, self.asked.action) else told
        if self._body.startswith("[(") and len(self._body) > limit:
            rows, number = tell_tuples(self._body, {**asked.later, **asked.wanted}, limit, most)
            if rows:
                return Outcome(rows, f"{number} items")
        told = self._printed.told(asked)
        told = replace(told, failed=False) if is_made(self._held) else told
        return told if told.said or told.size else replace(told, size=f"{len(self.text):,} characters")

    def _of_harness(self, limit: int, most: int) -> Outcome | None:
        """Tell what a harness says in the place of a result: what a person decided, or that it read no action."""
        if decided := verdict_of(self.text):
            return Outcome(decided, failed=decided.startswith(("rejected", "denied")))
        if not self._nag:
            return None
        return Outcome(whole_sentences(self._nag, most or limit) or shorten(self._nag, limit), failed=True)

    @property
    def refuses_reply(self) -> bool:
        """Whether a harness says that it read no action in the turn before."""
        return bool(self._nag)

    @property
    def is_data(self) -> bool:
        """Whether it is JSON, maybe with its end cut off."""
        return self._data is not None

    @cached_property
    def _answer(self) -> Reading:
        """What stands below the head of an answer by HTTP."""
        return Reading(self._held[self._head.end() :] if self._head else self._held, self.asked)

    @cached_property
    def _nag(self) -> str:
        return one_line(nag_of(self._held) or "")

    @cached_property
    def _body(self) -> str:
        return self._shown[1]

    @property
    def _note(self) -> str:
        return self._shown[0]

    @cached_property
    def _shown(self) -> tuple[str, str]:
        """What was printed, and before that what a program that ran says above the data it gives."""
        if self.asked.action and is_only_typed(self._held, self.asked.action.typed):
            return "", ""
        if self._screen is not None:
            return _above_data(self._screen.output)
        printed = without_echo(self._held, self.asked.action)
        return _above_data(printed) if self.asked.kind == "run" else ("", printed)

    @cached_property
    def _screen(self) -> Screen | None:
        return None if killed_of(self._held) else read_screen(self._held, self.asked.action)

    @property
    def printed(self) -> str:
        """What was printed, without what a terminal repeats of what was typed."""
        return self._held if self._screen is None else self._screen.output

    @cached_property
    def parts(self) -> Sequence[Reading]:
        """What each of several commands printed that were typed at once, where a screen tells them apart."""
        told = [(part.action, part.output) for part in parts_of(self._screen, self.asked.action) if part.output]
        return [self._part(action, output) for action, output in told] if len(told) > 1 else ()

    def _part(self, action: Action, output: str) -> Reading:
        needed = facts_in(self.asked.needed, readable(output))
        return Reading(output, replace(self.asked, action=action, needed=needed))

    @cached_property
    def _asked(self) -> Asked:
        """What is to be told; of a screen on which a program ran, as of what that printed."""
        action = self.asked.action
        if action is None:
            return self.asked
        if packages := installed(action.target):  # and not those that came with them
            named = {**dict.fromkeys(packages, STRONG), **{f"{name}==": 2 * STRONG for name in packages}}
            return replace(self.asked, later={**self.asked.later, **named})
        if not runs_at_last(action) and (self._screen is None or not self._screen.runs):
            return self.asked
        return replace(self.asked, action=replace(action, kind="run"))

    @cached_property
    def _data(self) -> dict[str, Any] | list[Any] | None:
        return _parsed(self._body)

    @cached_property
    def _printed(self) -> _Printed:
        text = self.text
        is_printed = bool(self._held or text.strip() or not text.strip(_BLANK))  # not of spaces that no shell prints
        printed = _without_binary(uncoloured(self._body).replace("\r\n", "\n"))
        printed = with_empty_cells_told_once(with_arrays_on_a_line(with_usual_heads(printed)))
        return _Printed(with_listed_hits(printed), self._asked, is_printed=is_printed)


def _without_binary(text: str) -> str:
    """Return a text without the lines that nobody can read, as of a file that is none of text."""
    if _CONTROL.search(text) is None:
        return text
    lines = text.split("\n")
    return "\n".join(line for line in lines if len(_CONTROL.findall(line)) < _LEAST_CONTROLS)


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


def is_data(text: str) -> bool:
    """Whether a result, as it stands in its turn, is JSON, maybe with its end cut off."""
    return _parsed(unwrap(text)) is not None


def _parsed(body: str) -> dict[str, Any] | list[Any] | None:
    """Return the JSON that a result is, or was before its end was cut off, or what Python prints of such."""
    if len(body) > _PARSED_CHARS or body[:1] not in {"{", "["}:
        return None
    found = (data for reads in _READS if isinstance(data := reads(body), dict | list))
    return next(found, None)


def _above_data(printed: str) -> tuple[str, str]:
    """Divide what a program printed where some words stand above JSON, which is all else."""
    starts = (printed.find(f"\n{sign}", 0, _NOTE_CHARS) + 1 for sign in "{[")
    at = min(filter(None, starts), default=0) if printed.endswith(("}", "]")) else 0
    is_note = at > 0 and len(printed) <= _PARSED_CHARS
    is_note = is_note and any(isinstance(reads(printed[at:]), dict | list) for reads in (parse, parse_series))
    is_note = is_note and not errors(printed[:at])
    return (printed[:at].strip(), printed[at:]) if is_note else ("", printed)


def _of_json(data: Any, asked: Asked, note: str = "") -> Outcome:
    """Tell data, behind a ``note`` that stands above it, but for lines that other results have as well."""
    action = asked.action
    above = [line for line in telling_lines(note.splitlines(), NOTHING_REPEATED) if line not in asked.repeated]
    if head := joined(above, asked.limit // _NOTE_SHARE):
        told = _of_json(data, replace(asked, limit=asked.limit - len(head) - 2))
        return replace(told, said=f"{head}{line_break(head)}{told.said}")
    said = f"{action.name} {action.given or action.target} {action.passed}" if action else ""
    looked_up = action is not None and (action.kind == "read" or action.name.startswith(_LOOKS_UP))
    makes = action is not None and action.kind == "change"
    query = Query({**asked.later, **asked.wanted}, said, makes, looked_up)
    return Outcome(*read_structured(data, query, asked.limit, asked.most))


class _Printed:
    """A text: what it reports, else what it lists, else what it shows."""

    def __init__(self, printed: str, asked: Asked, *, is_printed: bool) -> None:
        self._printed, self._asked, self._is_printed = printed, asked, is_printed
        self._page = read_page(printed, asked.repeated)
        self._whole = self._page.shown if self._page else printed
        self._body = clip(self._whole)
        self._is_markup = is_page(self._body) and not reads_markup(asked.action)
        self._opened = _OPEN_FILE.search(self._body)
        self._reports: dict[bool, Report] = {}

    def told(self, asked: Asked) -> Outcome:
        """Tell it, and what later turns use of it."""
        opened, report, page = self._opened, self._report(asked), self._page
        limit = room_for_page(asked.limit) if page else asked.limit
        head = page.head(limit, asked.needed) if page else ""
        before = len(head) + 2 if head else 0
        lists = report.listing or opened is not None
        pieces: Sequence[str] = report.pieces
        may_list = not pieces and (lists or is_code(asked.action))
        lined = self._lined if may_list else []
        limit, most = max(limit - before, 0), max(asked.most, limit) - before
        if not (pieces or lined or lists) and self._is_printed:
            pieces = self._plain.within(limit)
        telling = Telling(self._whole, report, pieces, lined, replace(asked, limit=limit, most=most), before=head)
        said = telling.first
        if len(self._body) > len(said) and asked.wanted:
            said = telling.with_used(self._visible if self._is_markup and not lined else self._whole)
        said = f"{head}{line_break(head)}{said}".removesuffix("; ") if head else said
        size = "" if said and "\n" not in self._printed else _size(self._printed, report, opened)
        return Outcome(said, size, report.failed, report.tests, opened[1] if opened else None)

    def _report(self, asked: Asked) -> Report:
        """Return what is reported; where the whole has no room that is not all."""
        is_long = len(self._body) > asked.limit
        if is_long not in self._reports:
            self._reports[is_long] = report_of(self._body, self._whole, asked)
        return self._reports[is_long]

    @cached_property
    def _lined(self) -> Sequence[Placed]:
        return listed(self._whole[:_PARSED_CHARS], self._asked.later)

    @cached_property
    def _visible(self) -> str:
        return visible(self._whole)

    @cached_property
    def _plain(self) -> Plain:
        shown = visible(self._body) if self._is_markup else self._body
        return Plain(shown, self._asked, self._page.done if self._page else None)


def _size(printed: str, report: Report, opened: re.Match[str] | None) -> str:
    """Say how long a text is, or the file that an editor shows; nothing where it says that an edit was made."""
    if opened and not report.pieces:
        return f"{opened[2]} lines total"
    size = printed.count("\n") + 1
    return f"{size:,} lines" if size > 1 and not report.done else ""
