"""A result without the command that a terminal repeats, and without the prompt with which it waits for the next."""

from __future__ import annotations

import re

from trajcompress.outcomes.action.actions import SHELLS, Action
from trajcompress.outcomes.shell_screen import PROMPT
from trajcompress.outcomes.text import one_line
from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.feedback import killed_of

_FIRST_CHARS, _TYPED_CHARS, _ARGUMENT_CHARS = 2_000, 60, 50
_TERMINAL = late_re(r"shell|bash|term|console|command|cmd|exec|run|send|type|key|sql|query", re.IGNORECASE)
_QUOTES = "'\"`"
_ENDS_QUOTED = tuple(f"{quote}{sign}" for quote in "\"”'`" for sign in ("", ":", "."))
_NAMES_ARGUMENT = late_re(r"([^\n\"“”'`\d]{0,60}(?:\bfor|\bof|:) {0,2})[\"“'`]([^\n]{3,300})[\"”'`][:.]?")
_SAYS_WHAT_CAME = late_re(
    r"\b(?:no|not|none|nothing|zero|without|fail\w*|errors?|cannot|unable|invalid|missing)\b", re.IGNORECASE
)


def repeats_call(text: str, action: Action | None) -> bool:
    """Whether a result is no more than the words of its call, of a tool that is no terminal: one to think with.

    >>> repeats_call("'Work out the price'", Action("think", "Work out the price", "idle"))
    True
    """
    if action is None or not action.name or action.name.lower() in SHELLS or _TERMINAL.search(action.name):
        return False
    typed = action.target.strip(_QUOTES)
    return " " in typed and one_line(text[:_FIRST_CHARS]).strip(_QUOTES) == typed


def repeats_data(said: str, action: Action | None) -> bool:
    """Whether what is told of data is all that its call was given, as of a list of things to do."""
    return action is not None and " " in said and not said.endswith("…") and said in (action.given, action.target)


def is_only_typed(text: str, typed: str) -> bool:
    """Whether a screen shows nothing but lines that were typed, as it does while a program runs that reads none."""
    lines = {line.strip() for line in typed.splitlines() if line.strip()}
    shown = [line for line in map(str.strip, text[:_FIRST_CHARS].splitlines()) if line]
    return len(lines) > 1 and len(text) <= _FIRST_CHARS and bool(shown) and lines.issuperset(shown)


def without_echo(text: str, action: Action | None) -> str:
    """Drop a first line that repeats the command, and the prompt of a shell that waits for the next."""
    if killed_of(text):
        return text
    rest, _, last = text.rstrip().rpartition("\n")
    waits = bool(rest) and last.endswith(("#", "$", "%")) and PROMPT.fullmatch(last) is not None
    text = rest.rstrip() if waits else text
    typed = action.target if action else ""
    first = text[:_FIRST_CHARS].partition("\n")[0]
    line = one_line(first)
    if waits and len(first) == len(text) and PROMPT.fullmatch(line.removesuffix(typed).rstrip()):
        return ""  # nothing was printed
    if " " in typed and line.removeprefix("$ ") == typed and not text[len(first) :].strip():
        return ""
    if _repeats_argument(line, typed) and text[len(first) :].strip():
        return text[len(first) :].lstrip("\n")
    repeats = typed[:-1][:_TYPED_CHARS] in line if typed.endswith("…") else line.endswith(typed)
    repeats = repeats or (typed in line and PROMPT.match(line) is not None)  # with what a harness waits for
    return text[len(first) + 1 :] if " " in typed and repeats and len(first) < len(text) else text


def _repeats_argument(line: str, typed: str) -> bool:
    """Whether a line only says of which argument of the call all that follows came.

    >>> _repeats_argument('Results for query: "old maps"', "query=old maps, limit=5")
    True
    >>> _repeats_argument('No results for "old maps"', "query=old maps, limit=5")
    False
    >>> _repeats_argument("I clicked 'Old maps'.", "query=Old maps")
    False
    """
    named = _NAMES_ARGUMENT.fullmatch(line) if typed and line.endswith(_ENDS_QUOTED) else None
    if named is None or _SAYS_WHAT_CAME.search(named[1]):
        return False
    return " " in named[2] and named[2][:_ARGUMENT_CHARS] in typed
