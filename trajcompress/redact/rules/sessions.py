"""Terminal sessions in one text: each command there is a question, and what it prints the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trajcompress.processes.late_patterns import Signs, late_re

_PROMPTS = Signs("$ ", "# ", ">>>", "PS ", ":\\")
_PROMPT = late_re(
    r"^(?:\([\w.-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,64}[: ][^\n$#]{0,120}[$#]|\[[\w.-]{1,40}@[^\]\n]{1,100}\][$#]"
    r"|(?:ba)?sh-[\d.]{1,5}[$#]|\$|>>>|PS [A-Z]:[^\n>]{0,120}>|[A-Z]:\\[^\n>]{0,120}>) ?(?=[\w./\"'(~])[^\n]*\n",
    re.MULTILINE,
)
_NEXT_PROMPT = late_re(r"(?:\A|(?<=\n))[^\n]{0,120}[$#>]\s*\Z")
_MOST_LINES = 20
_LONGEST_LINE = 1000


def exchanges(text: str) -> Iterable[str]:
    """The text itself, but for one with prompts: what stands before them, then each command and what it prints."""
    return _exchanges(text) if _PROMPTS.stand_in(text) else (text,)  # quick where there is none, as in most


def _exchanges(text: str) -> Iterator[str]:
    begin = 0
    for command in _PROMPT.finditer(text):
        if command.start() >= begin:
            yield text[begin : command.start()]
            begin = _command_end(text, command)
            yield text[command.start() : begin]
    yield _NEXT_PROMPT.sub("", text[begin:]) if begin else text


def _command_end(text: str, command: re.Match[str]) -> int:
    """Where a command ends, whose quotes or last backslash may lead to more lines."""
    end = command.end()
    for _ in range(_MOST_LINES):
        said = text[command.start() : end]
        if not (said.count("'") % 2 or said.count('"') % 2 or said.endswith("\\\n")):
            break
        line_end = text.find("\n", end, end + _LONGEST_LINE)
        if line_end < 0:
            return command.end()
        end = line_end + 1
    else:
        return command.end()  # an apostrophe
    return end
