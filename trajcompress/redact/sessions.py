"""Terminal sessions in one text: each command there is a question, and what it prints the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trajcompress.processes.late_patterns import holds_any, late_re

_PROMPTS = ("$ ", "# ", ">")
_PROMPT = late_re(
    r"^(?:\([\w.-]{1,40}\) )?(?:[\w.-]{1,40}@[\w.-]{1,64}[: ][^\n$#]{0,120}[$#]|\[[\w.-]{1,40}@[^\]\n]{1,100}\][$#]"
    r"|(?:ba)?sh-[\d.]{1,5}[$#]|\$|>>>|PS [A-Z]:[^\n>]{0,120}>|[A-Z]:\\[^\n>]{0,120}>) ?(?=[\w./\"'(~])[^\n]*\n",
    re.MULTILINE,
)
_NEXT_PROMPT = late_re(r"(?:\A|(?<=\n))[^\n]{0,120}[$#>] ?\Z")


def exchanges(text: str) -> Iterator[str]:
    """The text itself, but for one with prompts: what stands before them, then each command and what it prints."""
    begin = 0
    for command in _PROMPT.finditer(text) if holds_any(text, _PROMPTS) else ():
        yield text[begin : command.start()]
        yield command[0]
        begin = command.end()
    yield _NEXT_PROMPT.sub("", text[begin:]) if begin else text
