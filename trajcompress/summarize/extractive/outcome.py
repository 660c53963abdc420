"""What came of an action: a tool's result in one phrase of its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trajcompress.facts.parts import LEAST, Wanted, parts_with
from trajcompress.facts.reading import mentions
from trajcompress.facts.taken import STRONG
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.compact import parse
from trajcompress.summarize.extractive.errors import (
    errors,
    exit_code,
    marked_failures,
    says_failed,
    test_reasons,
    test_summary,
)
from trajcompress.summarize.extractive.furniture import NOTHING_REPEATED, Repeated, unlinked
from trajcompress.summarize.extractive.later import NOTHING_LATER, lines_used
from trajcompress.summarize.extractive.page import is_page, visible
from trajcompress.summarize.extractive.shown import is_listing, listed, plain
from trajcompress.summarize.extractive.structured import read_structured
from trajcompress.summarize.extractive.text import LEAST_CHARS, TRACEBACK, clip, joined, one_line, shorten, uncoloured
from trajcompress.summarize.extractive.unwrap import unwrap

SAID_CHARS = 150
"""What an outcome takes, where it may not take more."""

_PARSED_CHARS = 60_000  # JSON up to this size is read whole
_SNIPPET_CHARS = 100  # around one value that later turns use
FAILED_CHARS = 240  # an error's reason may stand at its end
_SHARE = 3  # of what may be said goes to the rest of a result where later turns use much of it

_OPEN_FILE = re.compile(r"\[File: ([^\s(]{1,300}) \((\d+) lines total\)\]")
_DONE = re.compile(
    r"^(?:The file \S{1,300} has been|File (?:created|updated|written|saved|edited)|Text replaced"
    r"|[^\n]{0,60}[Ss]uccessfully|Done\b)(?:[^\n.]|\.(?=\S)){0,160}",
    re.MULTILINE,
)
_REFUSED = re.compile(
    r"\b(?:not (?:been )?(?:found|applied|allowed|permitted|unique|match|exist|replaced|changed|edited)"
    r"|no (?:such|match\w*|changes?)|already exists|denied|refused|rejected|failed|unable|can(?:no|')t"
    r"|could(?: not|n't))\b",
    re.IGNORECASE,
)
_NOT_APPLIED = re.compile(
    r"^[^\n]{0,80}\b(?:edit has introduced new|(?:changes|edit) (?:have|has|was|were) (?:NOT|not) been applied"
    r"|NOT been applied|No replacement was performed|did not apply|edit (?:was )?rejected)[^\n]{0,200}",
    re.MULTILINE,
)
_FAULT = re.compile(r"^- ([A-Z]\d{3} [^\n]{1,200})$", re.MULTILINE)
_FIRST_CHARS = 300
_EDGE_CHARS = 2_000
_NUMBER = re.compile(r"\A\d{1,7}[:|]? ")  # of a line
_BLANK = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Outcome:
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
    kind = action.kind if action else "read"
    body = _without_echo(unwrap(text), action)
    most = max(most, limit)
    wanted = {**taken, **(later if taken else {}), **dict.fromkeys(needed, 2 * STRONG)}
    if len(body) <= _PARSED_CHARS and body[:1] in {"{", "["} and isinstance(data := parse(body), dict | list):
        return Outcome(*read_structured(data, {**later, **wanted}, limit, most))
    size = body.count("\n") + 1
    whole = uncoloured(body).replace("\r\n", "\n")
    body = clip(whole)
    listing = is_listing(body)
    found = [] if listing and TRACEBACK not in body else errors(body)
    tests, code, opened = test_summary(body), exit_code(body), _OPEN_FILE.search(body)
    bad_exit = f"exit code {code}" if code not in {None, "0"} else ""
    done = _done(body) if kind == "change" else None
    rejected = _not_applied(body) if kind == "change" else ""
    begins = "\n".join(body[:_FIRST_CHARS].split("\n", 2)[:2])
    refused = kind == "change" and not done and (begins[:5].upper() == "ERROR" or bool(_REFUSED.search(begins)))
    if says_failed(tests) and not found:
        found = test_reasons(body)
    marked = marked_failures(body) if kind == "run" and not found and not tests else []
    failed = bool(found or marked or bad_exit or refused or rejected) or says_failed(tests)
    lines = f"{size:,} lines" if size > 1 else ""
    told = _reasons(found, rejected)
    pieces: list[str] = [piece for piece in (rejected, tests, *told, *marked, bad_exit) if piece]
    page = is_page(body)
    if not pieces:
        if done:
            pieces, lines = [one_line(done[0])], ""
        elif opened:
            lines = f"{opened[2]} lines total"
        if not pieces and (listing or opened):
            pieces = listed(body, later)
        elif not pieces and (body or not text.strip(_BLANK)):  # else it is made of spaces that no shell prints
            shown = visible(body) if page else body
            pieces = plain(shown, action, limit, repeated, later, huge=len(text) > _PARSED_CHARS)
    elif not rejected and len(body) > limit:  # an error is not all that came of it
        used = [one_line(each.part) for each in lines_used(body, later, 1)]
        pieces += [line for line in used if not any(line in piece or piece in line for piece in pieces)]
    said = joined(pieces, max(limit, FAILED_CHARS, most // 5) if failed else limit)
    lines = lines or ("" if said else f"{len(text):,} characters")
    if wanted and len(body) > len(said):
        first = said if failed or tests else joined(pieces, max(limit // _SHARE, most // 6))
        parts = _parts(visible(whole) if page else whole, wanted, first, most, needed)
        said = f"{first}{'; ' if first else ''}{' … '.join(parts)}" if parts else said
    return Outcome(said, "" if size == 1 and said else lines, failed, bool(tests), opened[1] if opened else None)


def _parts(body: str, wanted: Wanted, said: str, most: int, needed: Sequence[str]) -> list[str]:
    """Return lines and sentences that later turns take from a result, and that are not said already."""
    missing = {word: weight for word, weight in wanted.items() if word not in said or not mentions(said, word)}
    room = most - len(said) - 2
    least = LEAST if most > SAID_CHARS or not needed else 2 * STRONG
    found = [
        one_line(_shown(body[start:end], missing))
        for start, end in parts_with(body, missing, room, cost=3, least=least)
    ]
    return [part for part in dict.fromkeys(found) if (bare := _NUMBER.sub("", part)) and bare not in said]


def _shown(part: str, wanted: Wanted) -> str:
    """Return a part without the addresses of its links, but for those that later turns use."""
    short = unlinked(part)
    return part if short != part and any(word in part and word not in short for word in wanted) else short


def _done(body: str) -> re.Match[str] | None:
    """Find where a tool says that a change was made: how the result begins, else the last such line."""
    done = _DONE.match(body)
    for later in _DONE.finditer(body) if done is None else ():
        done = later
    return done


def _without_echo(text: str, action: Action | None) -> str:
    """Drop a first line that repeats the command."""
    typed = action.target if action else ""
    first = text[:2000].partition("\n")[0]
    line = one_line(first)
    repeats = typed[:-1][:60] in line if typed.endswith("…") else line.endswith(typed)
    return text[len(first) + 1 :] if " " in typed and repeats and len(first) < len(text) else text


def _reasons(found: Sequence[str], rejected: str) -> list[str]:
    """Return the last errors but for what is said already: which test failed, and of errors that led on the last."""
    told = [error for error in found[-2:] if not rejected or error[:LEAST_CHARS] != rejected[:LEAST_CHARS]]
    return told if told and told[0].startswith(("FAIL", "ERROR")) else told[::-1]


def _not_applied(body: str) -> str:
    """Return why an editor did not apply an edit, where it says so."""
    told = _NOT_APPLIED.search(body[:_EDGE_CHARS])
    if told is None:
        return ""
    why = _FAULT.search(body, told.start(), told.start() + _EDGE_CHARS)
    said = shorten(one_line(told[0]), _SNIPPET_CHARS)
    return f"{said}; {one_line(why[1])}" if why else said
