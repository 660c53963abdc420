"""What came of an action: a tool's result in one phrase of its own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

from trajcompress.facts import around, brief
from trajcompress.facts.reading import mentions
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.compact import compact, loose, parse
from trajcompress.summarize.extractive.errors import errors, exit_code, says_failed, test_reasons, test_summary
from trajcompress.summarize.extractive.text import TRACEBACK, clip, one_line, shorten, uncoloured
from trajcompress.summarize.extractive.unwrap import unwrap

SAID_CHARS = 150
"""What an outcome takes, where it may not take more."""

_PARSED_CHARS = 60_000  # JSON up to this size is read whole
_SNIPPET_CHARS = 100  # around one value that later turns use
_SHARE = 3  # of what may be said goes to the rest of a result where later turns use much of it
_LEAST_CHARS = 24  # no piece is cut shorter

_OPEN_FILE = re.compile(r"\[File: ([^\s(]{1,300}) \((\d+) lines total\)\]")
_NUMBERED = re.compile(r"\n(?:Line )?[ \t]{0,8}(\d{1,7})(?=[:\t| \n]|\Z)")
_MATCH = re.compile(r"^((?:[\w.@+/-]{1,300}:)?\d{1,7}[:-].{0,300})$", re.MULTILINE)
_MATCH_CHARS = 6_000
_CODE = re.compile(
    r"^(?:Line )?[ \t]{0,8}\d{1,7}[:\t| ]\s{0,20}((?:class|def|async def|function|export|public"
    r"|struct|fn|func|interface|module|package) [^\n]{3,400})",
    re.MULTILINE,
)
_MOST_NAMES = 3
_CODE_CHARS = 120
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
_BLOB = re.compile(r"\S{120,}")
_WORD = re.compile(r"\w{4,}")
_ADDRESS = re.compile(r"\S*/\S*")  # what names a page says nothing of what is wanted there
_LEAST_SHARED = 2
_NOISE = re.compile(  # rules, tags alone, keys without a value, progress of a download
    r"(?:(?:[\W_]|<[^<>]{1,80}>)*|[\w \"-]{1,40}:|\"?(?:success|ok)\"?: true,?)$"
    r"|\s*% Total\s+% Received|\s*Dload\s+Upload|.*--:--:--|.*\d%\|",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^([ \t]*)- (\w{1,40}): (\S[^\n]{0,80})\n\1  (\w{1,40}): (\S[^\n]{0,80})$", re.MULTILINE)
_LEAST_ITEMS = 2


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


def read(text: str, action: Action | None, needed: Sequence[str] = (), limit: int = SAID_CHARS) -> Outcome:
    """Read one result.

    Args:
        text: the result as it stands in the turn.
        action: what it answers.
        needed: what of it later turns use; told first, with the words around it.
        limit: the most characters of what is said.
    """
    kind = action.kind if action else "read"
    body = _without_echo(unwrap(text), action)
    if len(body) <= _PARSED_CHARS and body[:1] in {"{", "["} and isinstance(data := parse(body), dict | list):
        return _structured(data, needed, limit)
    size = body.count("\n") + 1
    body = uncoloured(clip(body)).replace("\r\n", "\n")
    listing = _is_listing(body)
    found = [] if listing and TRACEBACK not in body else errors(body)
    tests, code, opened = test_summary(body), exit_code(body), _OPEN_FILE.search(body)
    bad_exit = f"exit code {code}" if code not in {None, "0"} else ""
    done = None
    for done in _DONE.finditer(body) if kind == "change" else ():  # noqa: B007 - the last one counts
        pass
    rejected = _not_applied(body) if kind == "change" else ""
    begins = "\n".join(body[:_FIRST_CHARS].split("\n", 2)[:2])
    refused = kind == "change" and not done and (begins[:5].upper() == "ERROR" or bool(_REFUSED.search(begins)))
    if says_failed(tests) and not found:
        found = test_reasons(body)
    failed = bool(found or bad_exit or refused or rejected) or says_failed(tests)
    lines = f"{size:,} lines" if size > 1 else ""
    told = [error for error in found[-2:] if not (rejected and _same_start(error, rejected))]
    told.reverse()  # of errors that led to one another the last is the reason
    pieces: list[str] = [piece for piece in (rejected, tests, *told, bad_exit) if piece]
    if not pieces:
        if done:
            pieces, lines = [one_line(done[0])], ""
        elif opened:
            lines = f"{opened[2]} lines total"
        if not pieces and (listing or opened):
            pieces = _code(body)
        elif not pieces:
            pieces = _plain(body, action, limit, huge=len(text) > _PARSED_CHARS)
    said = _joined(pieces, limit)
    if any(value in body and not mentions(said, value) for value in needed):
        around_them = {value: around(value, body) for value in needed if value in body}
        first = _joined(pieces, limit // _SHARE)
        said = _with_needed((first,) if failed or tests else (first, ""), around_them, limit)
    return Outcome(said, "" if size == 1 and said else lines, failed, bool(tests), opened[1] if opened else None)


def _without_echo(text: str, action: Action | None) -> str:
    """Drop a first line that repeats the command."""
    typed = action.target if action else ""
    first = text[:2000].partition("\n")[0]
    line = one_line(first)
    repeats = typed[:-1][:60] in line if typed.endswith("…") else line.endswith(typed)
    return text[len(first) + 1 :] if " " in typed and repeats and len(first) < len(text) else text


def _same_start(one: str, other: str) -> bool:
    return one[:_LEAST_CHARS] == other[:_LEAST_CHARS]


def _not_applied(body: str) -> str:
    """Return why an editor did not apply an edit, where it says so."""
    told = _NOT_APPLIED.search(body[:_EDGE_CHARS])
    if told is None:
        return ""
    why = _FAULT.search(body, told.start(), told.start() + _EDGE_CHARS)
    said = shorten(one_line(told[0]), _SNIPPET_CHARS)
    return f"{said}; {one_line(why[1])}" if why else said


def _with_needed(first: Sequence[str], needed: Mapping[str, str], limit: int) -> str:
    """Say the values that later turns use, each once in the words around it, behind the first of what else there is.

    Where not all of it fits it is said in fewer words, then behind the next.
    """
    whole = ""
    for said, words in ((first[0], _all_words), *((each, brief) for each in first)):
        whole, left_out = said, False
        pieces: list[str] = []
        for value, line in needed.items():
            if not line or mentions(whole, value):
                continue
            added = words(value, line)
            kept = [piece for piece in pieces if not _in_short(piece, added)]
            longer = "; ".join((*filter(None, (said,)), *kept, added))
            if len(longer) <= limit:
                whole, pieces = longer, [*kept, added]
            else:
                left_out = True
        if not left_out:
            break
    return whole


def _in_short(piece: str, line: str) -> bool:
    """Whether a line tells all that a piece does, which may be cut."""
    return piece.rstrip("…") in line


def _all_words(_value: str, line: str) -> str:
    return line


def _joined(pieces: Sequence[str], limit: int) -> str:
    """Join pieces while there is room; the last one is cut."""
    said = ""
    for piece in pieces:
        room = limit - len(said) - 2 * bool(said)
        if room < _LEAST_CHARS:
            break
        said += ("; " if said else "") + shorten(_BLOB.sub(_cut_blob, one_line(piece)), room)
    return said


def _cut_blob(blob: re.Match[str]) -> str:
    return f"{blob[0][:_LEAST_CHARS]}…"


def _structured(data: Any, needed: Sequence[str], limit: int) -> Outcome:
    """Read a JSON result: its error if it names one, then what later turns use of it, then its values."""
    if isinstance(data, dict):
        error = data.get("error") or data.get("errors") or data.get("exception")
        if error and not isinstance(error, bool):
            return Outcome(shorten(f"error: {one_line(compact(error, limit))}", limit), failed=True)
        if str(data.get("status", "")).lower() in {"error", "failed", "failure"} or data.get("success") is False:
            return Outcome(shorten(f"failed: {one_line(compact(data, limit))}", limit), failed=True)
    line = one_line(compact(data, limit)) or "empty"
    size = f"{len(data)} items" if isinstance(data, list) and len(data) > 1 else ""
    if len(line) > limit or line.endswith("…") or "…" in line:
        pairs = _pairs_of(data, needed, limit)
        if sum(len(value) for values in pairs.values() for value in values) + 2 * len(pairs) > limit:
            pairs = _pairs_of(data, needed, limit, brief)
        if pairs and isinstance(data, dict):
            line = one_line(compact({key: value for key, value in data.items() if key not in pairs}, limit))
        told = [f"{key}={', '.join(values)}" if key else ", ".join(values) for key, values in pairs.items()]
        line = _joined([*told, line], limit)
    return Outcome(line, size)


def _pairs_of(
    data: Any, needed: Sequence[str], limit: int, words: Callable[[str, str], str] = around
) -> dict[str, list[str]]:
    """Return the values of JSON that later turns use, by their keys, and for a key that is used its value.

    ``words`` takes the words around a value out of a longer one.
    """
    wanted = set(needed)
    found: dict[str, list[str]] = {}
    waiting: list[tuple[str, Any]] = [("", data)]
    size = 0
    while waiting and wanted and size < limit:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed([(str(name), item) for name, item in value.items()])
            for name in [name for name in value if name in wanted]:
                wanted.discard(name)
                found[name] = [shorten(one_line(compact(value[name], _SNIPPET_CHARS)), _SNIPPET_CHARS)]
        elif isinstance(value, list):
            waiting += reversed([(key, item) for item in value])
        elif value is not None:
            text = str(value)
            if told := {fact for fact in wanted if fact in text and mentions(text, fact)}:
                wanted -= told
                shown = (
                    [text]
                    if len(text) <= (_SNIPPET_CHARS if words is around else _LEAST_CHARS)
                    else [words(fact, text) for fact in told]
                )
                found.setdefault(key, []).extend(map(one_line, shown))
                size += sum(map(len, shown))
    return found


def _code(body: str) -> list[str]:
    """Return the first things that a file which is shown defines."""
    return [
        shorten(one_line(line), _CODE_CHARS)
        for line in islice((match[1] for match in _CODE.finditer(body)), _MOST_NAMES)
    ]


def _is_listing(body: str) -> bool:
    """Whether lines are numbered one after the other, as a file is shown; matches of a search jump."""
    numbers = [int(number[1]) for number in islice(_NUMBERED.finditer(f"\n{body[:1500]}"), 3)]
    return len(numbers) > 1 and all(after == before + 1 for before, after in pairwise(numbers))


def _plain(body: str, action: Action | None, limit: int, *, huge: bool) -> list[str]:
    """Say an ordinary text: a short one in full, of a long one its first and last lines that say something."""
    if len(body) <= limit:
        return [one_line(body) or "no output"]
    kind = action.kind if action else "read"
    if kind == "read" and (found := _MATCH.findall(body[:_MATCH_CHARS])):
        shown = body[:_MATCH_CHARS].count("\n") + 1
        if len(found) >= shown / 2:
            return [f"{shown}{'+' if huge or len(body) > _MATCH_CHARS else ''} matches: {found[0]}", found[-1]]
    if body[0] in "{[" and (line := loose(body, limit)):
        return [line]
    if listed := _items(body):
        return listed
    asked = frozenset(_WORD.findall(_ADDRESS.sub(" ", action.target.lower()))) if action else frozenset()
    return [_ends(body, limit, asked, from_end=kind == "run")]


def _items(body: str) -> list[str]:
    """Return the values of the first two keys of a YAML list: they name its items."""
    found = _ITEM.findall(body)
    if len(found) < _LEAST_ITEMS or len({(first, second) for _, first, _, second, _ in found}) > 1:
        return []
    columns = zip(*((one, other) for _, _, one, _, other in found), strict=True)
    keys = found[0][1], found[0][3]
    return [f"{key}: {', '.join(dict.fromkeys(values))}" for key, values in zip(keys, columns, strict=True)]


def _ends(body: str, limit: int, asked: frozenset[str], *, from_end: bool) -> str:
    """Return lines of a text in their order: how it begins and ends, and the one that says most of what was asked."""
    lines = list(dict.fromkeys(_telling(body.splitlines())))
    if not lines:
        return f"…{shorten(one_line(body[-limit:]), limit - 1)}"
    last = len(lines) - 1
    asked = asked.difference(_WORD.findall(lines[0].lower()))
    best = max(range(last + 1), key=lambda place: _shared(lines[place], asked))
    told = (best,) if _shared(lines[best], asked) >= _LEAST_SHARED else ()
    wanted = (last, 0, *told, last - 1) if from_end else (0, *told, last, 1, 2)
    chosen: dict[int, str] = {}
    room = limit
    for place in wanted:
        if 0 <= place <= last and place not in chosen and room >= _LEAST_CHARS:
            chosen[place] = shorten(lines[place], min(room, max(limit * 2 // 5, _LEAST_CHARS)))
            room -= len(chosen[place]) + 2
    for place in wanted:  # what is left goes to lines that were cut
        if place in chosen and room > 0:
            longer = shorten(lines[place], len(chosen[place]) + room)
            room -= len(longer) - len(chosen[place])
            chosen[place] = longer
    said, before = "", -1
    for place in sorted(chosen):
        gap = "… " if place != before + 1 else ""
        said += f"{'; ' if said else ''}{gap}{chosen[place]}"
        before = place
    return said


def _shared(line: str, asked: frozenset[str]) -> int:
    """Count the words of a line that were asked for, each once."""
    return len(asked.intersection(_WORD.findall(line.lower()))) if asked else 0


def _telling(lines: Iterable[str]) -> list[str]:
    return [one_line(line) for line in lines if not _NOISE.match(line)]
