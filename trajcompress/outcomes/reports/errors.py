"""Lines of errors in what a tool printed."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise

from trajcompress.outcomes.text import (
    HEAD_CHARS,
    LEAST_CHARS,
    TAIL_CHARS,
    TRACEBACK,
    on_one_line,
    one_line,
    shorten,
)
from trajcompress.processes.late_patterns import holds_any, late_re

ERROR_CHARS = 400
_MAX_ERRORS = 4
_TRACEBACK_CHARS = 6_000
_KNOWN_CHARS, _CODE_CHARS = 60, 100

# One of these is in every text that _ERROR can match; looking for them is much quicker.
_HINTS = (
    *("rror", "xception", "FAIL", "atal", "panic", "CRITICAL", "Caused by", "Cannot", "ailed to", "nvalid "),
    *("nknown ", "CONFLICT", "undefined reference", "rejected]", "E: ", "curl: (", "Because "),
    *("No repl", "Exit", "Interrupt", "ailure", "ERR", "Could not", "Your proposed", "to match!"),
)
_ERROR = late_re(
    r"^[ \t]{0,8}(?:E[ \t]{1,8}|│ {1,4}|Code output: |(?:#\d{1,4} )?\d{1,5}\.\d{1,3} |==\d{1,9}==)?"  # docker
    r"((?:[A-Za-z_][\w.]{0,120})?[A-Z]\w{0,60}(?:Error|Exception|Failure|Exit|Interrupt)(?: \[ERR_\w{1,60}\])?"
    r"(?::[^\n]{0,400}|[ \t]*$)|Exception:[^\n]{0,400}"
    r"|(?:ERROR|Error|error|FATAL|Fatal|fatal|panic|CRITICAL|npm ERR!|error\[E\d+\])"
    r"(?:[:!]| [a-z]{3,12} )[^\n]{1,400}"
    r"|(?:(?:(?:Input|Output|Schema|Data) )?[Vv]alidation|MCP|Parse|Syntax|Runtime|Execution|Internal|Server|Network"
    r"|Connection|Database|Request|Protocol|Permission|Authentication|Unexpected) error(?: -?\d{1,6})?: "
    r"(?!-?[\d.]{1,20}$)[^\n]{3,400}"
    r"|(?:Fatal error|FATAL|ERROR|Error):[ \t]{0,8}(?=\n[ \t]{0,8}\S)"
    r"|(?:Exception in thread |Caused by: )[^\n]{1,400}"
    r"|[\w./\\+-]{1,200}(?:(?::\d{1,6}){1,2}:?|\(\d{1,6}(?:,\d{1,6})?\):)"  # compilers
    r" (?:fatal )?error(?: [A-Z]{1,4}\d{1,6}|\[\w{1,20}\])?: [^\n]{1,400}"
    r"|(?:FAILED|FAIL:|ERROR:) (?:[\w./-]{1,200}::\S{1,200}|test\w*)[^\n]{0,300}"
    r"|! \[(?:remote )?rejected\] [^\n]{1,300}|E: [A-Z][^\n]{1,300}"  # git, apt
    r"|\d{1,6}:\d{1,6}[ \t]{1,8}error[ \t]{1,8}[^\n]{1,300}"  # eslint
    r"|CONFLICT \([^()\n]{1,40}\): [^\n]{1,300}|ERROR \d{4} \(\w{5}\)[^\n]{1,400}"  # git, MySQL
    r"|[^\n]{0,200}\bundefined reference to [^\n]{1,200}|curl: \(\d{1,3}\) [^\n]{1,300}"
    r"|(?:Message|Detail|Cause) {0,8}: (?:ERROR|Error|FATAL|Key \()[^\n]{1,300}"
    r"|[│╰└]─?▶? {1,4}Because [^\n]{8,300}"  # uv
    r"|- [EFW]\d{3} [^\n]{1,300}|\d{1,3} SEARCH/REPLACE blocks? failed to match!"
    r"|Your proposed edit has introduced [^\n]{1,200}|(?:Invalid(?! -W option ignored)|Unknown|Could not|Cannot"
    r"|Failed to|No replacement) [^\n]{3,300})",
    re.MULTILINE,
)
_OF_NPM = late_re(r"^npm (?:ERR!|error) ([^\n]{1,400})", re.MULTILINE)
_NPM_ASIDE = late_re(
    r"code |errno |syscall |path |While resolving|Found: |A complete log|node_modules/", re.IGNORECASE
)
_LEAST_NPM = 3
_OF_POWERSHELL = "\n    + CategoryInfo "
_AT_CHAR = late_re(r"At [^\n]{1,400} char:\d{1,7}\s*\Z")
_MESSAGE_CHARS = 2_000
_WENT_WRONG = late_re(
    r"\* What went wrong:\n([^\n]{1,300}(?:\n[ \t]{0,12}>? {0,4}[^\n*]{1,300}|\n){0,6})"
)  # Gradle's
_STACK = late_re(
    r"\n {2,8}#\d{1,2} 0x\w{1,16} in (?!__|operator )(\S[^\n]{0,200} \S{1,200}:\d{1,6}(?::\d{1,6})?)(?=\n)"
)
_STACK_CHARS = 2_000
_ANSWERED = late_re(
    r"(?:\n[^\n]{0,600}){0,3}?\nHTTP response body: [^\n]{0,300}?\"message\": ?\"([^\"\n]{1,300})\""
)  # of API clients
_PLACE = late_re(r"\n[ \t]{1,8}--> (\S{1,200}:\d{1,6}):\d{1,6}")  # of rustc
_SYMBOL = late_re(r"(?:\n[^\n]{0,300}){0,3}\n[ \t]{1,8}symbol: {1,6}([^\n]{1,200})")  # of javac
_REASON = late_re(r"\n(?:[\w.\[\]]{1,80}\n)?[ \t]{1,8}[A-Z][^\n]{3,200}")  # as validators write below what is wrong
_BELOW = late_re(  # a message that begins with a line break, as those of numpy's assertions do
    r"(?:(?:[ \t]{0,8}\n){1,3}[ \t]{0,8}(?!Traceback|During handling|The above exception|File \")\S[^\n]{0,200}){1,2}"
)
_SHELL_ERRORS = (": command not found", ": No such file or directory", ": Permission denied")
_FRAME = late_re(r'File "([^"\n]{1,300})", line (\d+)')
_FRAMES = late_re(
    rf"^[^\n]*{re.escape(TRACEBACK)}[^\n]*\n(?:[ \t][^\n]*\n)*+"
    r"|^[^\n]*\n\n(?:During handling of|The above exception)[^\n]*exception[^\n]*:\n",
    re.MULTILINE,
)
_INSTALLED = late_re(r"(?:site|dist)-packages/|/lib/python\d|^<")  # frames of others' code
_FRAME_LINES = late_re(
    r'^[ \t]{1,8}File "[^"\n]{1,300}", line \d+[^\n]*(?:\n[ \t]{3,}+(?!File ")[^\n]*)*+', re.MULTILINE
)
_CHAINED = late_re(
    rf"^(?:During handling of|The above exception)[^\n]*exception[^\n]*:\n\n{re.escape(TRACEBACK)}", re.MULTILINE
)
_RAISED = late_re(r"\n(?=\S)(?:([A-Za-z_][\w.]{0,120}(?::[^\n]{0,400}|[ \t]*(?=\n|\Z))))?")  # ends a traceback
_MARKS = ("✗", "✘", "❌", "×", "✖", "✕", "FAIL", "not ok", "\nX ", " ERROR")
_WORKER = r"(?:\[gw\d{1,3}\] \[ {0,3}\d{1,3}%\] )?"  # of pytest-xdist
_MARKED = late_re(
    r"^(?:(?P<id>\S{0,300}::\S{1,300}+) (?P<said>FAILED|ERROR)\b"
    rf"|{_WORKER}[^\w\n]{{0,12}}?(?P<sign>X(?= {{2}})|X(?= \w[^\n]{{0,100}} in \d)|✗ ?FAIL(?:ED)?\b|[✗✘❌✕]"
    r"|×(?! \S{1,100}\.\w{1,10} - )"  # systemctl, of a unit
    r"|✖(?! \d{1,6} problems? \(0 errors)|FAIL(?:ED)?\b(?!  \] \d{1,6} tests?)|not ok\b))(?P<rest>[^\n]{0,200})$",
    re.MULTILINE,
)
_TEST_ID = late_re(r" {0,2}\]? {0,2}(\S*::\S+|[\w/]+\.[\w/]+(?=$| \())")  # behind a mark, of pytest and GoogleTest
_PASS_MARKS = ("✓", "✔", "✅", "PASS", "\nok ")
_PASSED = late_re(
    r"^[^\w\n]{0,12}?(✓ ?PASS(?:ED)?\b|[✓✔✅]|PASS(?:ED)?\b(?!  \] \d)|ok(?= \d))|^\S++ (PASSED)\b"
    r"|^\[gw\d{1,3}\] \[ {0,3}\d{1,3}%\] (PASSED)\b",
    re.MULTILINE,
)
_CONFLICT = late_re(r"^CONFLICT \([^()\n]{1,40}\): (?:Merge conflict in )?([^\n]{1,200})$", re.MULTILINE)
_CRASH = late_re(
    r"^(?:[^\n]{0,200}\bline \d{1,6}: {1,4}\d{1,7} )?"
    r"((?:Segmentation fault|Bus error|Illegal instruction|Floating point exception)(?: {0,20}\(core dumped\))?"
    r"|Aborted {1,20}\(core dumped\)|Killed|Fatal Python error: [^\n]{1,100})(?:$| {2})",
    re.MULTILINE,
)
_CRASH_HINTS = ("fault", "core dumped", "Bus error", "Killed", "Fatal Python", "Illegal", "Floating")
_AMID_SUCCESS = "ERROR: pip's dependency resolver"  # which installs all the same; the lines below say what is unmet
_LEAST_TALLY = 3
_MOST_MARKED, _LINES_BEFORE = 3, 2


def errors(text: str) -> list[str]:
    """Find the last few error lines, verbatim, each with file and line where a traceback leads to it."""
    if own := _in_own_form(text):
        return own
    found: dict[str, int] = {}  # where they stand
    if holds_any(text, _HINTS):
        for match in _ERROR.finditer(text):
            found.setdefault(_error_at(text, match), match.start())
        if wrong := _WENT_WRONG.search(text):
            found[shorten(on_one_line(_unique_lines(wrong[1])), ERROR_CHARS)] = wrong.start()
    last = text.rfind(TRACEBACK)
    raised = _RAISED.search(text, last, last + _TRACEBACK_CHARS) if last >= 0 else None
    if raised and raised[1]:  # it may be called otherwise than an error
        known = shorten(one_line(raised[1]), ERROR_CHARS)[:_KNOWN_CHARS]
        if not any(known in each for each in found):
            found.setdefault(_error_at(text, raised), raised.start())
    for ending in _SHELL_ERRORS:
        if (at := text.find(ending)) >= 0:
            line = text[text.rfind("\n", 0, at) + 1 : at] + ending
            found.setdefault(shorten(one_line(line), ERROR_CHARS), at)
    said = _without_links(text, found) if TRACEBACK in text else list(found)
    said = [error for error in said if not error.startswith(_AMID_SUCCESS)]
    if len(files := _CONFLICT.findall(text) if "\nCONFLICT (" in text else []) > 1:
        said = [error for error in said if not error.startswith("CONFLICT (")]
        said.append(shorten(f"{len(files)} × CONFLICT: {'; '.join(map(one_line, files))}", ERROR_CHARS))
    return said[-_MAX_ERRORS:]


def _in_own_form(text: str) -> list[str]:
    """Return the errors of programs whose form nothing else has; nothing of others."""
    if text.count("npm ERR! ") + text.count("npm error ") >= _LEAST_NPM:
        return _errors_of_npm(text)
    return [message] if _OF_POWERSHELL in text and (message := _error_of_powershell(text)) else []


def crash_of(text: str) -> str:
    """Return how a shell says that a program crashed or was killed; nothing where it does not."""
    found = _CRASH.search(text) if holds_any(text, _CRASH_HINTS) else None
    return one_line(found[1]) if found else ""


def _unique_lines(text: str) -> list[str]:
    return [line for line in dict.fromkeys(one_line(line).lstrip("> ") for line in text.splitlines()) if line]


def _error_at(text: str, match: re.Match[str]) -> str:
    """Return an error line with what stands below it that says of what it is, and where it was raised."""
    message, end = shorten(one_line(match[1]), ERROR_CHARS), match.end()
    if message.endswith(":") and (below := _BELOW.match(text, end)):
        message = shorten(f"{message} {'; '.join(filter(None, map(str.strip, below[0].splitlines())))}", ERROR_CHARS)
    if message.endswith("cannot find symbol") and (symbol := _SYMBOL.match(text, end)):
        message = f"{message} {one_line(symbol[1])}"
    if "Sanitizer" in message and (frame := _STACK.search(text, end, end + _STACK_CHARS)):
        return f"{shorten(message, ERROR_CHARS)} in {one_line(frame[1])}"
    if answered := _ANSWERED.match(text, end):
        message = f"{message} {one_line(answered[1])}"
    place = _PLACE.match(text, end)
    message += f" ({place[1]})" if place else _raised_at(text, match.start(), bare=":" not in message)
    reason = _REASON.match(text, end)
    return shorten(f"{message}; {one_line(reason[0])}", ERROR_CHARS) if reason else message


def _errors_of_npm(text: str) -> list[str]:
    """Return what npm says first, which is what went wrong, and what it could not resolve."""
    said = [one_line(line) for line in _OF_NPM.findall(text)]
    own = [line for line in dict.fromkeys(said) if line and not _NPM_ASIDE.match(line)]
    asked = [f"{line} {after}" for line, after in pairwise(own) if line.endswith(":")]
    return [shorten(line, ERROR_CHARS) for line in (*asked[:1], *own[:1])]


def _error_of_powershell(text: str) -> str:
    """Return the message of the first error that PowerShell prints, before or behind the line of code it is of."""
    end = text.index(_OF_POWERSHELL)
    said: list[str] = []
    for line in reversed(text[max(end - _MESSAGE_CHARS, 0) : end].split("\n")):
        if not line.strip() or line.startswith("+ ") or _AT_CHAR.match(line):
            if said:
                break
        else:
            said.insert(0, line)
    return shorten(one_line(" ".join(said)), ERROR_CHARS)


def _without_links(text: str, found: Mapping[str, int]) -> list[str]:
    """Return errors but for those between the root of the last chain of exceptions and what it ended with.

    The root goes as well where the last says the same.
    """
    links = [link.span() for link in _CHAINED.finditer(text)]
    if not links:
        return list(found)
    first = last = len(links) - 1
    while first and text.find(TRACEBACK, links[first - 1][1], links[first][0]) < 0:
        first -= 1
    before = [error for error, at in found.items() if at < links[first][0]]
    behind = [error for error, at in found.items() if at > links[last][0]]
    if before and behind:
        root, last_said = _message(before[-1]), _message(behind[0])
        if root == last_said or (len(root) >= LEAST_CHARS and root in last_said):
            before.pop()
    return [*before, *behind]


def _message(error: str) -> str:
    """Return what an error says, without its kind and place."""
    return error.partition(": ")[2].rpartition(" (")[0] or error


def needless_frames(text: str) -> list[tuple[int, int]]:
    """Return where tracebacks say what led to an error: all but the line of code at hand that came last."""
    if TRACEBACK not in text:
        return []
    heads = [match.span() for match in re.finditer(re.escape(TRACEBACK), text)]
    frames = [frame.span() for frame in _FRAME_LINES.finditer(text)]
    own = [start for start, end in frames if not _INSTALLED.search(text[start:end].partition('"')[2])]
    frames = [(start, text.find("\n", start, end)) if start in own[-1:] else (start, end) for start, end in frames]
    return sorted([*frames, *heads])


def last_errors(found: Sequence[str], rejected: str, *, raised: bool) -> list[str]:
    """Return the errors but for what is said already, in their order, as the first leads to others.

    Of exceptions that are ``raised`` one after the other the last two, which say most, and the very last first.
    """
    unlike = [*{error.lower().removeprefix("error: "): error for error in found}.values()]
    told = [
        error for error in unlike if not any(part[:LEAST_CHARS] in error for part in rejected.split("; ") if part)
    ]
    told = [error for error in told if error.removeprefix("- ").rstrip("…") not in rejected]
    return told[-2:][::-1] if raised and told and not told[0].startswith(("FAIL", "ERROR")) else told


def _raised_at(text: str, end: int, *, bare: bool) -> str:
    """Return where an exception was raised that ends a traceback: its last frame of the code at hand, else of all.

    Of a ``bare`` one, which says nothing, with the code that raised it.
    """
    start = text.rfind(TRACEBACK, max(end - _TRACEBACK_CHARS, 0), end)
    inside = text[start:end].splitlines()[1:] if start >= 0 else []
    is_its_own = all(line[:1].isspace() for line in inside)  # a line that is not indented ends a traceback
    frames = list(_FRAME.finditer(text, start, end)) if inside and is_its_own else []
    own = [frame for frame in frames if not _INSTALLED.search(frame[1])] or frames
    if not own or own[-1][1][0] == "<":  # what was typed is no file
        return ""
    code = one_line(text[own[-1].end() : end].partition("\n")[2].partition("\n")[0]) if bare else ""
    return f" ({own[-1][1]}:{own[-1][2]}{f': {shorten(code, _CODE_CHARS)}' if code else ''})"


def leads_to_error(line: str) -> bool:
    """Whether a line is one of a traceback, whose last says it all."""
    return line.startswith(TRACEBACK) or _FRAME.match(line) is not None


def is_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place lies in one of some spans, which stand in order."""
    at = bisect_right(spans, (place, sys.maxsize)) - 1
    return at >= 0 and place < spans[at][1]


def beside_errors(text: str, told: Sequence[str]) -> str:
    """Return the lines of a text but for its tracebacks and for errors that are told, with what is indented below."""
    beside: list[str] = []
    is_told = False
    for line in _FRAMES.sub("", text).splitlines() if TRACEBACK in text else text.splitlines():
        said = one_line(line)[:_KNOWN_CHARS]
        is_told = any(said in each for each in told) if said and not (is_told and line[0].isspace()) else is_told
        beside += [] if is_told else [line]
    return "\n".join(beside)


def marked_failures(text: str) -> list[str]:
    """Give what a script marks as failed: the first that is so marked, with the lines before it where it is bare.

    Of several their number with the mark, which is not told again with each.
    """
    marked = _failures(text)
    told = [", ".join(f"{times} × {mark}" for mark, times in _by_mark(marked).items())] if len(marked) > 1 else []
    for mark in marked[:_MOST_MARKED]:
        line = mark["id"] or mark["rest"].lstrip(" ]") if told else one_line(mark[0])
        if not (mark["id"] or any(map(str.isalnum, mark["rest"]))):
            before = text[max(mark.start() - ERROR_CHARS, 0) : mark.start()].rpartition("\n\n")[2]
            line = f"{'; '.join(before.splitlines()[-_LINES_BEFORE:])} {line}"
        told.append(one_line(line))
    return told


def _failures(text: str) -> list[re.Match[str]]:
    """Return where something is marked as failed: each test once, though a summary may name it again."""
    found: dict[str | int, re.Match[str]] = {}
    for mark in _MARKED.finditer(text) if holds_any(text, _MARKS) else ():
        test = _TEST_ID.match(mark["rest"])
        found.setdefault(mark["id"] or (test[1] if test else mark.start()), mark)
    return list(found.values())


def _by_mark(marked: Sequence[re.Match[str]]) -> Counter[str]:
    return Counter(one_line(mark["said"] or mark["sign"]) for mark in marked)


def marked_passes(text: str) -> list[str]:
    """Count what a script marks as passed, in its most frequent mark; nothing of a text that was clipped."""
    marks = _passes(text).most_common(1) if len(text) < HEAD_CHARS + TAIL_CHARS else []
    return [f"{times} × {mark}" for mark, times in marks if times > 1]


def marks_any(text: str) -> bool:
    """Whether a text may mark anything as failed or as passed: where not, nor does any part of it."""
    return holds_any(text, _MARKS) or holds_any(text, _PASS_MARKS)


def tally(text: str) -> str:
    """Count what a script marks as failed and as passed, if it does so for several things."""
    marks = _by_mark(_failures(text)) + _passes(text)
    return ", ".join(f"{times} × {mark}" for mark, times in marks.items()) if marks.total() >= _LEAST_TALLY else ""


def _passes(text: str) -> Counter[str]:
    found = _PASSED.findall(text) if holds_any(text, _PASS_MARKS) else ()
    return Counter(filter(None, chain.from_iterable(found)))
