"""What a tool's result says: one phrase for the action's line, errors, and values worth keeping."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from trajcompress.summarize.extractive.compact import compact, loose, parse, scalars
from trajcompress.summarize.extractive.errors import (
    ERROR_CHARS,
    error_name,
    errors,
    exit_code,
    says_failed,
    test_summary,
)
from trajcompress.summarize.extractive.prose import is_prose
from trajcompress.summarize.extractive.text import (
    TRACEBACK,
    clip,
    holds_any,
    one_line,
    sentences,
    shorten,
    uncoloured,
    weigh,
)

PHRASE_CHARS = 110
VALUE_CHARS = 400
_MAX_MATCHES = 3
_MAX_PATHS = 6
_MAX_VALUES = 16
_MAX_SCALARS = 200
_MAX_LINES = 80
_MATCH_CHARS = 6_000
_PARSED_CHARS = 60_000  # JSON up to this size is read whole
_MIN_WEIGHT = 1.5

_WRAPPED = re.compile(r"TextContent\(type='text', text=('|\")")
_LEAD = re.compile(
    r"\s*(?:<tool_response>|<function_response>|<returncode>0</returncode>|<output>|OBSERVATION:|Observation:|Output:"
    r"|exit ?code: 0 \([^)\n]{0,40}\)\s{0,4}(?:Code output:)?"
    r"|The result of executing that last command is:\s{0,4}(?:Command \w{1,60} returned:?)?"
    r"|EXECUTION RESULT of \[[^\]\n]{0,60}\]:?|Here's the result of running `cat -n` on [^\n]{0,300}:)\s*"
)
_TRAIL = re.compile(
    r"\((?:Open file|Current directory): [^\n]{0,300}\)|^[^\n]{0,60}bash-\$\s*$|</(?:tool_response|output)>"
    r"|^\[(?:Python Interpreter|Command finished with exit code 0)[^\n]{0,200}\].*$",
    re.MULTILINE,
)
_TRAIL_MARKS = (
    "(Open file",
    "(Current dir",
    "bash-$",
    "</tool_response>",
    "</output>",
    "[Python Int",
    "[Command fin",
)
_OPEN_FILE = re.compile(r"\[File: ([^\s(]{1,300}) \((\d+) lines total\)\]")
_NUMBERED = re.compile(r"\n(?:Line )?[ \t]{0,8}(\d{1,7})(?=[:\t| \n]|\Z)")
_MATCH = re.compile(r"^((?:[\w.@+/-]{1,300}:)?\d{1,7}[:-].{0,300})$", re.MULTILINE)
_DONE = re.compile(
    r"(?:The file \S{1,300} has been|File (?:created|updated|written|saved|edited)|\[File: |Successfully|Done\b"
    r"|Your .{1,40} successfully|Review the changes)"
)


@dataclass(slots=True)
class Outcome:
    """What a result says; ``phrase`` may be empty. ``errors`` are verbatim, ``values`` the most telling first."""

    phrase: str
    errors: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    names: str = ""  # where names are to be looked for
    file: str | None = None
    failed: bool = False


def read(text: str, kind: str, about: frozenset[str], known: Callable[[], str]) -> Outcome:
    """Read one result.

    Args:
        text: the result as it stands in the turn.
        kind: that of the action which it answers.
        about: the words of the topic, to tell which lines matter.
        known: gives what the record says anyway; fields of JSON that repeat it are left out.
    """
    body = _unwrap(text if len(text) <= _PARSED_CHARS else clip(text))
    data = parse(body) if body[:1] in {"{", "["} else None
    if isinstance(data, dict | list):
        outcome = _structured(data, known)
        outcome.names = " ".join(islice(scalars(data), _MAX_SCALARS))
        return outcome
    size = (body if len(text) <= _PARSED_CHARS else text).count("\n") + 1
    body = uncoloured(clip(body))
    listing = _is_listing(body)
    found = [] if listing and TRACEBACK not in body else errors(body)
    tests, code, opened = test_summary(body), exit_code(body), _OPEN_FILE.search(body)
    bad_exit = f"exit code {code}" if code not in {None, "0"} else ""
    outcome = Outcome("", found, names=body, file=opened[1] if opened else None)
    outcome.failed = bool(found or bad_exit) or says_failed(tests)
    if tests:
        outcome.phrase = tests
    elif found or bad_exit:
        outcome.phrase = ", ".join(part for part in (error_name(found[-1]) if found else "", bad_exit) if part)
    elif kind == "change" and _DONE.match(body):
        outcome.phrase = "ok"
    elif opened:
        outcome.phrase = f"{opened[2]} lines total"
    elif listing:
        outcome.phrase = f"{size} lines"
    elif body.startswith("[(") and len(body) > PHRASE_CHARS:
        outcome.phrase, outcome.values = f"{text.count('), (') + 1} rows", [shorten(one_line(body), VALUE_CHARS)]
    else:
        outcome.phrase, outcome.values = _plain(body, size, kind, about)
    return outcome


def _unwrap(text: str) -> str:
    """Take off what the harness put around the tool's own words."""
    if wrapped := _WRAPPED.search(text[:200]):
        end = text.rfind(wrapped[1] + ", annotations=")
        text = _content(_unquote(text[wrapped.end() : end if end > 0 else len(text)], wrapped[1]))
    lead = _LEAD.match(text)
    body = text[lead.end() :] if lead else text
    return (_TRAIL.sub("", body) if holds_any(body, _TRAIL_MARKS) else body).strip()


def _unquote(text: str, quote: str) -> str:
    """Undo Python's quoting of a string; one that was cut stays readable."""
    try:
        return str(ast.literal_eval(f"{quote}{text.replace(chr(10), ' ')}{quote}"))
    except (ValueError, SyntaxError, MemoryError):
        return text.replace("\\n", "\n")


def _content(text: str) -> str:
    """Give the text parts of an MCP result, where it is one."""
    data = parse(text) if text[:1] == "{" else None
    parts = data.get("content") if isinstance(data, dict) else None
    if not isinstance(parts, list):
        return text
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part) or text


def _structured(data: Any, known: Callable[[], str]) -> Outcome:
    """Read a JSON result: its error if it names one, else its values."""
    if isinstance(data, dict):
        error = data.get("error") or data.get("errors") or data.get("exception")
        if error and not isinstance(error, bool):
            rest = one_line(compact({key: value for key, value in data.items() if value is not error}, VALUE_CHARS))
            message = shorten(one_line(compact(error, ERROR_CHARS)), ERROR_CHARS)
            return Outcome("error", [message], [rest] if rest else [], failed=True)
        if str(data.get("status", "")).lower() in {"error", "failed", "failure"} or data.get("success") is False:
            return Outcome("failed", [shorten(one_line(compact(data, ERROR_CHARS)), ERROR_CHARS)], failed=True)
    line = one_line(compact(data, VALUE_CHARS))
    if len(line) <= PHRASE_CHARS:
        return Outcome(line or "empty")
    if isinstance(data, dict):
        told = known()
        fresh = {key: value for key, value in data.items() if not (isinstance(value, str) and value in told)}
        line = one_line(compact(fresh, VALUE_CHARS))
    return Outcome(f"{len(data)} items" if isinstance(data, list) else "", values=[line])


def _is_listing(body: str) -> bool:
    """Whether lines are numbered one after the other, as a file is shown; matches of a search jump."""
    numbers = [int(number[1]) for number in islice(_NUMBERED.finditer(f"\n{body[:1500]}"), 3)]
    return len(numbers) > 1 and all(after == before + 1 for before, after in pairwise(numbers))


def _plain(body: str, size: int, kind: str, about: frozenset[str]) -> tuple[str, list[str]]:
    """Say what an ordinary text is: a short one in full, a long one by its size and its most telling lines."""
    if len(body) <= PHRASE_CHARS:
        return one_line(body) or "no output", []
    counted = f"{size} lines" if size > 1 else ""
    if kind == "read" and (found := _matches(body, size)):
        return found
    if body[0] in "{[" and (line := loose(body, VALUE_CHARS)):
        return counted, [line]
    lines = sentences(body, _MAX_LINES)
    if sum("/" in line and " " not in line for line in lines) > 0.6 * len(lines):
        more = f", … {size - _MAX_PATHS} more" if size > _MAX_PATHS else ""
        return counted, [", ".join(lines[:_MAX_PATHS]) + more]
    if kind in {"run", "change"}:
        last = next((line for raw in reversed(body[-1500:].splitlines()) if any(map(str.isalnum, line := raw))), "")
        return shorten(f"{counted}, the last: {one_line(last)}" if counted else one_line(body), PHRASE_CHARS), []
    best = _telling(lines, about)
    return counted or shorten(one_line(body), PHRASE_CHARS), best


def _telling(lines: Sequence[str], about: frozenset[str]) -> list[str]:
    weights = {line: weigh(line, about) for line in lines if is_prose(line)}
    kept = [line for line, weight in weights.items() if weight >= _MIN_WEIGHT]
    return sorted(kept, key=lambda line: -weights[line])[:_MAX_VALUES]


def _matches(body: str, size: int) -> tuple[str, list[str]] | None:
    """Count the matches of a search and show the first few, where that is what the lines are."""
    found = _MATCH.findall(body[:_MATCH_CHARS])
    if len(found) < 0.5 * (body.count("\n", 0, _MATCH_CHARS) + 1):
        return None
    shown = "; ".join(shorten(one_line(match), PHRASE_CHARS) for match in found[:_MAX_MATCHES])
    more = f"; … {size - _MAX_MATCHES} more" if size > _MAX_MATCHES else ""
    return f"{size} matches", [shown + more]
