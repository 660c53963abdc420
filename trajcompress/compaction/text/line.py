"""One line in the place of a result: which tool, on what, what came of it, how much there was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajcompress.redact import redact
from trajcompress.summarize.extractive import results
from trajcompress.summarize.extractive.actions import Action
from trajcompress.summarize.extractive.text import harmless, one_line, shorten

LINE_CHARS = 140
"""No line is longer, but for the facts that it names. Many lines come to more than their row's answers."""

_LABEL_CHARS = 60
_SAID_CHARS = 32
_FAILURE_CHARS = 56
_LINE = re.compile(r"\[[^\n]* [\d,]{1,15} characters(?:; with [^\n]*)?\]")
_COUNTED = re.compile(r"\d+ (?:lines|rows|items|matches)(?! total)")


def result_line(text: str, label: str, action: Action | None) -> str:
    """Write the line of a result that is dropped.

    Such as ``[read_file src/a.py: 212 lines, 8,031 characters]``.
    """
    outcome = results.read(text, action.kind if action else "read", frozenset(), str)
    said = outcome.phrase or next(iter(outcome.values), "")
    if outcome.errors and said in outcome.errors[-1]:
        said = outcome.errors[-1]
    lines = text.count("\n") + 1
    counted = [] if lines == 1 or _COUNTED.match(said) else [f"{lines:,} lines"]
    size = ", ".join((*counted, _size(text)))
    room = LINE_CHARS - len(f"[{label}: , {size}]")
    said = _plain(said, min(room, _FAILURE_CHARS if outcome.failed else _SAID_CHARS))
    return f"[{label}: {said}, {size}]" if said else f"[{label}: {size}]"


def repeat_line(text: str, label: str) -> str:
    """Write the line of a result that a later call gave again."""
    return f"[same result as a later call: {label}, {_size(text)}]"


def with_facts(line: str, facts: Sequence[str]) -> str:
    """Name facts of the result in its line."""
    return f"{line[:-1]}; with {', '.join(facts)}]" if facts else line


def is_line(text: str) -> bool:
    """Whether a result is such a line already."""
    return _LINE.fullmatch(text) is not None


def label_of(action: Action | None, name: str | None) -> str:
    """Name a result by its call, else by the tool that the row names, else not at all."""
    if action is None:
        return _plain(name or "", _LABEL_CHARS) or "tool result"
    label = f"{action.name or name or ''} {action.target}"
    if len(label) > _LABEL_CHARS and action.files and "/" in action.files[0]:
        label = label.replace(action.files[0], "…/" + action.files[0].rsplit("/", 1)[-1])
    return _plain(label, _LABEL_CHARS) or "tool result"


def _plain(text: str, limit: int) -> str:
    # Half of a secret is not known for one, so it goes before the text is cut.
    return shorten(one_line(harmless(one_line(redact(text).text))), limit)


def _size(text: str) -> str:
    return f"{len(text):,} characters"
