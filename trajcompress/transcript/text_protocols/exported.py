"""Native calls as Roo Code and its kin export them: ``[Tool Use: NAME]``, then ``Key: value`` lines. Pure.

What a tool said stands in the next turn, below ``[Tool]`` or ``[Tool (Error)]``.
"""

from __future__ import annotations

from typing import Any

from trajcompress.processes.late_patterns import late_re
from trajcompress.transcript.text_protocols.acted import Acted
from trajcompress.transcript.text_protocols.written_calls import json_or_text, new_call
from trajcompress.transcript.trajectory import ToolCall

_HINT = "[Tool Use: "
_HEADS = late_re(r"(?:\A|\n)\[Tool Use: ([\w.-]{1,80})\][ \t]*(?=\n|\Z)")
_KEY = late_re(r"([A-Z][a-zA-Z0-9]{0,30}(?:_[a-zA-Z0-9]{1,30}){0,5}):(?: |(?=\n|\Z))")
_BEHIND_TEXT = frozenset(
    (  # noqa: SIM905 - a literal of strings would fill a screen
        "Path Replace Todos Line_count Start_line End_line File_pattern Use_regex Ignore_case Old_string New_string"
        " Old_str New_str Expected_replacements Follow_up Server_name Tool_name Mode_slug"
    ).split()
)
"""Keys that may stand below a value of several lines: any other is a part of that, as ``Note: `` in a document."""
_MOST_CALLS = 50


def exported_at(text: str) -> int:
    """Return where the first exported call begins; -1 where there is none."""
    if _HINT not in text:
        return -1
    found = _HEADS.search(text)
    return found.start(1) - len(_HINT) if found else -1


def exported(text: str) -> Acted | None:
    """Read the calls of a turn; all that stands below the head of one is its arguments."""
    if _HINT not in text:
        return None
    heads = list(_HEADS.finditer(text))[:_MOST_CALLS]
    if not heads:
        return None
    ends = [*(head.start() for head in heads[1:]), len(text)]
    calls = (_call(head[1], text[head.end() : end]) for head, end in zip(heads, ends, strict=True))
    return Acted(tuple(calls), "named", heads[0].start(1) - len(_HINT))


def _call(name: str, written: str) -> ToolCall:
    given: dict[str, list[str]] = {}
    value: list[str] | None = None
    for line in written.strip("\n").split("\n"):
        key = _KEY.match(line)
        if key and key[1] not in given and (value is None or len(value) == 1 or key[1] in _BEHIND_TEXT):
            value = given[key[1]] = [line[key.end() :]]
        elif value is None:
            return new_call(name, written.strip())
        else:
            value.append(line)
    return new_call(name, {f"{key[0].lower()}{key[1:]}": _value("\n".join(lines)) for key, lines in given.items()})


def _value(text: str) -> Any:
    """Read a number, and what holds others, which is written as JSON."""
    if text.isdecimal() and len(text) < 10:  # noqa: PLR2004 - an identifier may begin with zeros
        return int(text)
    return json_or_text(text) if text[:1] in {"[", "{"} else text
