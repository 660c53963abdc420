"""What a printed result reports in so many words: errors, figures of tests, an edit that was made."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajcompress.outcomes.asked import FAILED_CHARS, Asked
from trajcompress.outcomes.contents import is_content, is_log
from trajcompress.outcomes.printed.furniture import telling_lines
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.printed.reasons import own_lines, reasons
from trajcompress.outcomes.printed.shown import is_listing, tells
from trajcompress.outcomes.repeated import NOTHING_REPEATED
from trajcompress.outcomes.reports.edits import (
    done_in,
    edit_refused,
    lines_changed,
    lines_of_diff,
    refusal_in,
    why_not_applied,
)
from trajcompress.outcomes.reports.errors import (
    beside_errors,
    crash_of,
    errors,
    is_within,
    last_errors,
    leads_to_error,
    marked_failures,
    marked_passes,
    needless_frames,
)
from trajcompress.outcomes.reports.exits import exit_code
from trajcompress.outcomes.reports.runners import NO_REPORT, RunReport, read_report, reasons_of_pytest
from trajcompress.outcomes.text import TRACEBACK, one_line, shorten
from trajcompress.transcript.text_protocols.feedback import killed_of

_SNIPPET_CHARS = 100
_MOST_USED = 3  # lines
_SEVERAL = 2
_END_CHARS = 2_000


class Report(Struct, frozen=True):
    """What is reported, in ``pieces``; whether something ``failed``, ``tests`` ran, an edit was ``done``.

    A ``listing`` is of files or matches: what it shows reports nothing.
    """

    pieces: Sequence[str]
    failed: bool
    tests: bool
    done: bool
    listing: bool


def report_of(body: str, whole: str, asked: Asked) -> Report:
    """Read what a printed result reports; of a ``whole`` one that is long ``body`` is its beginning and its end."""
    listing, kind = is_listing(body), asked.kind
    held = is_content(body, asked.action)
    found, ran = _found(whole, body, asked, listing=listing, held=held)
    code, tests = None if held else exit_code(body), ran.figures
    killed = killed_of(body) or (crash_of(body) if kind == "run" else "")
    bad_exit = f"exit code {code}" if code not in {None, "0"} else ""
    done = done_in(body) if kind == "change" else None
    rejected = why_not_applied(body) if kind == "change" else ""
    refused = kind == "change" and not done and edit_refused(body)
    if ran.failed and not (found or ran.failures):
        found = reasons_of_pytest(body)
    marked = marked_failures(body) if kind == "run" and not (found or ran.failed) else []
    failed = bool((found and not held) or marked or bad_exit or refused or rejected or killed) or ran.failed
    marked += marked_passes(body) if kind == "run" and not tests else []
    why = ran.failures or last_errors(found, rejected, raised=TRACEBACK in body)
    why = [each for each in why if not any(each in other for other in why if other != each)]
    why = (
        why if len(why) < _SEVERAL else sorted(why, key=asked.repeated.__contains__)
    )  # what every run says is no news
    no = refusal_in(body) if refused and listing and not why else ""
    pieces = [piece for piece in (killed, rejected, no, tests, *why, *marked, bad_exit) if piece]
    if bad_exit and pieces == [bad_exit]:  # however often a command fails so
        pieces = [*_why_it_exits(body, bad_exit), bad_exit]
    elif pieces and not rejected and len(body) > asked.limit:  # an error is not all that came of it
        may_tell = kind == "run" and bool(found) and not (tests or bad_exit)
        used = 1 if tests else _MOST_USED  # the figures of tests say most of what others speak of
        pieces += _beside(body, pieces, asked, used, may_tell=may_tell, speaks=failed or bool(tests))
    is_done = done is not None and not pieces
    if done and is_done:
        shown = lines_changed(body) if asked.action and not asked.action.change else []
        pieces = [one_line(done[0]), *shown]
    pieces = pieces or lines_of_diff(body)
    return Report(pieces, failed, bool(tests), is_done, listing)


def _found(whole: str, body: str, asked: Asked, *, listing: bool, held: bool) -> tuple[list[str], RunReport]:
    """Return errors and the report of a test run; of what a file holds only where that is a log."""
    if held and not is_log(asked.action):
        return [], NO_REPORT
    ran = read_report(whole, anywhere=asked.action is not None and asked.kind == "run")
    return [] if listing and TRACEBACK not in body else errors(body), ran


def _why_it_exits(body: str, bad_exit: str) -> list[str]:
    """Return what a command says that reports nothing but that it failed."""
    own = [line for line in telling_lines(body.splitlines(), NOTHING_REPEATED) if exit_code(line) is None]
    first, *others = map(one_line, reasons(own) or [""])
    others = [shorten(line, _SNIPPET_CHARS) for line in others]
    room = FAILED_CHARS - sum(len(piece) + 2 for piece in (*others, bad_exit))
    return [piece for piece in (shorten(first, room), *others) if piece]


def _beside(
    body: str, pieces: Sequence[str], asked: Asked, most_used: int, *, may_tell: bool, speaks: bool
) -> list[str]:
    """Return what a result says beside its errors: all if that is little, else its last line, and what is used.

    Args:
        body: the result.
        pieces: what it reports.
        asked: what is to be told.
        most_used: how many lines that are used.
        may_tell: whether all of it may be told.
        speaks: whether what is reported says what came of it, so that the last line may be left out.
    """
    own = telling_lines(beside_errors(body, pieces).splitlines(), asked.repeated) if may_tell else []
    if not own or sum(map(len, own)) > FAILED_CHARS:
        hidden = needless_frames(body)
        used = [each.part for each in lines_used(body, asked.later, most_used) if not is_within(each.start, hidden)]
        own = [_last_line(body) if own or not speaks else "", *used]
    told: list[str] = []
    for line in filter(tells, map(one_line, own)):
        is_told = (line in asked.repeated and exit_code(line) is None) or any(
            line.rstrip("…") in piece or piece in line for piece in (*pieces, *told)
        )
        told += [] if is_told or leads_to_error(line) else [line]
    return told


def _last_line(body: str) -> str:
    """Return how a text ends; nothing where its last line belongs to one before it."""
    line = own_lines([line for line in body.rstrip()[-_END_CHARS:].splitlines() if line.strip()] or [""])[-1]
    return "" if line[:1].isspace() or not tells(line) else shorten(one_line(line), _SNIPPET_CHARS)
