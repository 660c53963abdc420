"""What came of an action: a tool's result in one phrase of its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from trajcompress.facts.next_turns import NOTHING_LATER
from trajcompress.facts.parts import LEAST, Wanted, parts_with
from trajcompress.facts.reading import mentions
from trajcompress.facts.taken import STRONG
from trajcompress.outcomes.action.actions import Action
from trajcompress.outcomes.compact import parse, parse_cut
from trajcompress.outcomes.contents import is_code, is_content, is_log, reads_markup
from trajcompress.outcomes.page import is_page, visible
from trajcompress.outcomes.printed.furniture import NOTHING_REPEATED, Repeated, telling_lines
from trajcompress.outcomes.printed.later import lines_used
from trajcompress.outcomes.printed.reasons import own_lines, reasons
from trajcompress.outcomes.printed.screen import PAGE_CHARS, with_title
from trajcompress.outcomes.printed.shown import (
    GOES_BETWEEN,
    bare,
    in_order,
    is_listing,
    listed,
    placed,
    plain,
    tells,
    without_number,
)
from trajcompress.outcomes.records.structured import read_structured
from trajcompress.outcomes.reports.edits import done_in, is_refused, why_not_applied
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
from trajcompress.outcomes.text import (
    LEAST_CHARS,
    TRACEBACK,
    clip,
    joined,
    one_line,
    shorten,
    uncoloured,
    whole_pieces,
    whole_sentences,
)
from trajcompress.outcomes.unwrap import unwrap
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.feedback import killed_of, nag_of

SAID_CHARS = 150
"""What an outcome takes, where it may not take more."""

_PARSED_CHARS = 60_000  # JSON up to this size is read whole
_SNIPPET_CHARS = 100  # around one value that later turns use
FAILED_CHARS = 240  # an error's reason may stand at its end
_BEGUN_CHARS = 12  # by which a part is found that was cut short before
_SHARE = 3  # of what may be said goes to the rest of a result where later turns use much of it

_NEEDED = 8 * STRONG  # goes before all else that is taken, or it would stand behind that without its line

_OPEN_FILE = late_re(r"\[File: ([^\s(]{1,300}) \((\d+) lines total\)\]")
_LOOKS_UP = ("get", "list", "check", "describe", "poll", "status", "fetch", "read")
_EDGE_CHARS = 2_000
_HTTP_HEAD = late_re(  # of an answer whose body stands below
    r"HTTP/\d(?:\.\d)? (\d{3}[^\r\n]{0,100})\r?\n((?:[\w-]{1,60}:[^\n]{0,4000}\n){1,60})\r?\n"
)
_LEAST_ERROR = "400"
_BLANK = " \t\r\n"
_PROMPT = late_re(
    r"(?:\([\w.-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}:[~/][^\n#$%]{0,160}(?<! )[#$]|(?:ba)?sh-\d[\d.]{0,6}[#$]"
    r"|\[[\w.-]{1,40}@[\w.-]{1,60} [^\s\]]{1,160}\][#$]|[\w.-]{1,40}@[\w.-]{1,60} [~/]\S{0,160} ?%)"
)


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


def read(
    text: str,
    action: Action | None,
    needed: Sequence[str] = (),
    limit: int = SAID_CHARS,
    repeated: Repeated = NOTHING_REPEATED,
    *,
    later: Wanted = NOTHING_LATER,
    taken: Wanted = NOTHING_LATER,
    most: int = 0,
) -> Outcome:
    """Read one result.

    Args:
        text: the result as it stands in the turn.
        action: what it answers.
        needed: what of it later turns use; told with the line or the sentence that it stands in.
        limit: the most characters of what is said.
        repeated: lines that other results have as well.
        later: what the next turns bring in; lines that have it go first.
        taken: what else later turns take from it.
        most: the most characters of what is said where later turns take so much from it.
    """
    held = unwrap(text)
    if (head := _last_head(held)) and held[head.end() :].strip():
        answer = read(held[head.end() :], action, needed, limit, repeated, later=later, taken=taken, most=most)
        return _answered(head, answer, {**later, **taken})
    if nag := nag_of(held):
        return Outcome(whole_sentences(one_line(nag), most or limit) or shorten(one_line(nag), limit), failed=True)
    body = _without_echo(held, action)
    wanted = {**taken, **(later if taken else {}), **dict.fromkeys(needed, _NEEDED)}
    if len(body) <= _PARSED_CHARS and body[:1] in {"{", "["} and (data := _parsed(body)) is not None:
        return _of_json(data, action, {**later, **wanted}, limit, most)
    printed = uncoloured(body).replace("\r\n", "\n")
    body = clip(whole := with_title(printed, repeated, needed))
    of_page = 0 if whole is printed else max(limit, PAGE_CHARS) if limit >= SAID_CHARS else limit
    size = printed.count("\n") + 1
    report = _report(body, action, limit, repeated, later, whole=whole)
    opened = _OPEN_FILE.search(body)
    pieces, lined, page = report.pieces, [], is_page(body) and not reads_markup(action)
    lines = "" if report.done else f"{size:,} lines" if size > 1 else ""
    if not pieces and (report.listing or opened or is_code(action)):
        lined = listed(whole[:_PARSED_CHARS], later)
        lines = f"{opened[2]} lines total" if opened else lines
    if not (pieces or lined or report.listing or opened) and (held or text.strip() or not text.strip(_BLANK)):
        # else it is made of spaces that no shell prints
        shown = visible(body) if page else body
        pieces = plain(shown, action, limit, repeated, later, of_page=of_page)
    limit, most = of_page or limit, max(most, of_page, limit)
    said = in_order(whole, _fitting(lined, limit)) if lined else ""
    tools = sum(len(piece) + 2 for piece in pieces if GOES_BETWEEN in piece)  # with their parameters
    begin = whole_pieces if tools else joined
    at_most = max(limit, FAILED_CHARS) if report.done else limit  # a path may stand before what became of it
    said = said or begin(pieces, max(limit, FAILED_CHARS, most // 5) if report.failed or tools else at_most)
    lines = lines or ("" if said else f"{len(text):,} characters")
    if wanted and len(body) > len(said):
        shown = visible(whole) if page and not lined else whole
        room = max(limit // _SHARE, most // 6)
        begun = at_most if report.done else min(max(room, tools), limit)
        lined = _fitting(lined, room)
        first = said if report.failed or report.tests else in_order(whole, lined) or begin(pieces, begun)
        hidden = needless_frames(shown) if report.failed else []
        change = f"\n{action.change}" if action else ""  # stands in the step, too
        parts = [
            each
            for each in _parts(shown, wanted, first + change, most + len(change), needed)
            if (not report.listing or tells(each[1]))
            and (not is_within(each[0], hidden) or any(map(each[1].__contains__, needed)))
        ]
        if parts:
            if not (lined or report.failed or report.tests):  # what is told in full is not begun before that
                told = in_order(shown, parts, most)
                left = [piece for piece in pieces if not _is_told(piece, told)]
                apart = None if report.done else placed(shown, left, parts)
                first, lined = begin(left, begun) if apart is None else "", _fitting(apart or [], room)
            first = "" if lined else _not_begun(first, [one_line(part) for _, part in parts])  # lines have places
            lined = [each for each in lined if not any(each[1].rstrip("…") in part for _, part in parts)]
            told = in_order(shown, (*lined, *parts), most - sum(len(part) + 3 for _, part in (*lined, *parts)))
            said = f"{first}; {told}" if first else told
    lines = "" if size == 1 and said else lines
    return Outcome(said, lines, report.failed, report.tests, opened[1] if opened else None)


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


def _of_json(data: Any, action: Action | None, wanted: Wanted, limit: int, most: int) -> Outcome:
    asked = f"{action.name} {action.target}" if action else ""
    looked_up = action is not None and (action.kind == "read" or action.name.startswith(_LOOKS_UP))
    makes = action is not None and action.kind == "change"
    return Outcome(*read_structured(data, wanted, limit, most, asked, looked_up=looked_up, makes=makes))


class _Report(NamedTuple):
    """What a result reports in so many words: errors, figures of tests, a change that was made."""

    pieces: list[str]
    failed: bool
    tests: bool
    done: bool
    listing: bool


def _report(
    body: str, action: Action | None, limit: int, repeated: Repeated, later: Wanted, *, whole: str
) -> _Report:
    listing, kind = is_listing(body), action.kind if action else "read"
    held = is_content(body, action)
    found, ran = _reported(whole, body, action, listing=listing, held=held)
    code, tests = None if held else exit_code(body), ran.figures
    killed = killed_of(body) or (crash_of(body) if kind == "run" else "")
    bad_exit = f"exit code {code}" if code not in {None, "0"} else ""
    done = done_in(body) if kind == "change" else None
    rejected = why_not_applied(body) if kind == "change" else ""
    refused = kind == "change" and not done and is_refused(body)
    if ran.failed and not (found or ran.failures):
        found = reasons_of_pytest(body)
    marked = marked_failures(body) if kind == "run" and not (found or ran.failed) else []
    failed = bool((found and not held) or marked or bad_exit or refused or rejected or killed) or ran.failed
    marked += marked_passes(body) if kind == "run" and not tests else []
    why = ran.failures or last_errors(found, rejected, raised=TRACEBACK in body)
    why = [each for each in why if not any(each in other for other in why if other != each)]
    pieces = [piece for piece in (killed, rejected, tests, *why, *marked, bad_exit) if piece]
    if bad_exit and pieces == [bad_exit]:  # however often a command fails so
        own = [line for line in telling_lines(body.splitlines(), NOTHING_REPEATED) if exit_code(line) is None]
        first, *others = map(one_line, reasons(own) or [""])
        others = [shorten(line, _SNIPPET_CHARS) for line in others]
        room = FAILED_CHARS - sum(len(piece) + 2 for piece in (*others, bad_exit))
        pieces = [piece for piece in (shorten(first, room), *others, bad_exit) if piece]
    elif pieces and not rejected and len(body) > limit:  # an error is not all that came of it
        may_tell = kind == "run" and found and not (tests or bad_exit)
        own = telling_lines(beside_errors(body, pieces).splitlines(), repeated) if may_tell else []
        if not own or sum(map(len, own)) > FAILED_CHARS:
            hidden = needless_frames(body)
            used = [each.part for each in lines_used(body, later, 1) if not is_within(each.start, hidden)]
            own = [_last_line(body) if own or not (failed or tests) else "", *used]
        for line in filter(tells, map(one_line, own)):
            is_told = any(line.rstrip("…") in piece or piece in line for piece in pieces)
            pieces += [] if is_told or leads_to_error(line) else [line]
    is_done = done is not None and not pieces
    return _Report([one_line(done[0])] if done and is_done else pieces, failed, bool(tests), is_done, listing)


def _reported(
    whole: str, body: str, action: Action | None, *, listing: bool, held: bool
) -> tuple[list[str], RunReport]:
    """Return errors and the report of a test run; of what a file holds only where that is a log."""
    if held and not is_log(action):
        return [], NO_REPORT
    ran = read_report(whole, anywhere=action is not None and action.kind == "run")
    return [] if listing and TRACEBACK not in body else errors(body), ran


def _last_line(body: str) -> str:
    """Return how a text ends; nothing where its last line belongs to one before it."""
    line = own_lines([line for line in body.rstrip()[-_EDGE_CHARS:].splitlines() if line.strip()] or [""])[-1]
    return "" if line[:1].isspace() or not tells(line) else shorten(one_line(line), _SNIPPET_CHARS)


def _fitting(lined: Sequence[tuple[int, str]], limit: int) -> list[tuple[int, str]]:
    """Return the first of some lines that have room."""
    found = []
    for start, line in lined:
        if limit < LEAST_CHARS:
            break
        found.append((start, shorten(line, limit)))
        limit -= len(found[-1][1]) + 3
    return found


def _not_begun(first: str, parts: Sequence[str]) -> str:
    """Return what is told first without what a part tells in full."""
    begun = first.rstrip("…")
    for part in parts:
        at = 0 if begun in part else begun.rfind(part[:_BEGUN_CHARS])
        if at == 0 or (at > 0 and begun != first and part.startswith(begun[at:])):
            return begun[:at].rstrip(" :;")
    return first


def _is_told(piece: str, told: str) -> bool:
    """Whether a text tells a piece of a result, or of an item of a list all values that it is named by."""
    return all(value in told for value in piece.strip("… ").split(", "))


def _parts(body: str, wanted: Wanted, said: str, most: int, needed: Sequence[str]) -> list[tuple[int, str]]:
    """Return lines and sentences that later turns take from a result, and that are not said already, with places."""
    missing = {word: weight for word, weight in wanted.items() if word not in said or not mentions(said, word)}
    room = most - len(said) - 2
    least = LEAST if most > SAID_CHARS or not needed else 2 * STRONG
    found: dict[str, int] = {}
    for start, end in parts_with(body, missing, room, cost=3, least=least):
        part = one_line(_shown(body[start:end], missing))
        numberless = without_number(part)
        if part and (numberless.rstrip(".") or part) not in said:
            found.setdefault(part, start)
    return [(start, part) for part, start in found.items()]


def _shown(part: str, wanted: Wanted) -> str:
    """Return a part without addresses of links and what else says little, but for what later turns use."""
    short = bare(part)
    return part if short != part and any(word in part and word not in short for word in wanted) else short


def _without_echo(text: str, action: Action | None) -> str:
    """Drop a first line that repeats the command, and the prompt of a shell that waits for the next."""
    if killed_of(text):
        return text
    rest, _, last = text.rstrip().rpartition("\n")
    waits = bool(rest) and last.endswith(("#", "$", "%")) and _PROMPT.fullmatch(last) is not None
    text = rest.rstrip() if waits else text
    typed = action.target if action else ""
    first = text[:_EDGE_CHARS].partition("\n")[0]
    line = one_line(first)
    if waits and len(first) == len(text) and _PROMPT.fullmatch(line.removesuffix(typed).rstrip()):
        return ""  # nothing was printed
    repeats = typed[:-1][:60] in line if typed.endswith("…") else line.endswith(typed)
    repeats = repeats or (typed in line and _PROMPT.match(line) is not None)  # with what a harness waits for
    return text[len(first) + 1 :] if " " in typed and repeats and len(first) < len(text) else text
