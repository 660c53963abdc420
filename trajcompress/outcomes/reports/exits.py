"""The exit code that a harness reports beside what a command printed."""

from __future__ import annotations

from trajcompress.processes.late_patterns import holds_any, late_re

_EXIT = late_re(  # a first letter without regard to case would be looked for at every place; behind it the line ends
    r"[EeRr](?i:(?<=e)xit(?:ed(?: with)?)?(?:[ _-]?(?:code|status)|(?=[:=])|(?<=ed)|(?<=with))|(?<=r)eturn ?code)"
    r"[\"'>:= ]{1,2}[*`\"'>:= ]{0,4}(?i:code |status )?(-?\d{1,5})(?!\w|\.\d)"
    r"(?=[^\w\n]{0,4}(?:/\w{1,20}>\W?|\([^()\n]{1,40}\)|(?:after|in) \d[\d.]{0,9} ?\w{1,8}\W?)?[ \t\r]*(?:\n|\Z)"
    r"|[\"']?[,}])"
)
_HINTS = ("exit", "return")
_OPENS = ("<", '"', "'", "[", "(")
_WORD = late_re(r"[^\W\d]\w*|\d+")
_OF_HARNESS = frozenset(
    {"the", "process", "command", "script", "program", "task", "job", "execution", "shell", "container", "it", "unix"}
    | {"ran", "then", "exited", "completed", "finished", "terminated", "failed", "returned", "error", "final", "code"}
    | {"has", "was", "and", "with", "bash", "python"}
)
_FIRST_LINES, _LAST_LINES = 3, 5  # in which harnesses say it; others may be of a file


def exit_code(text: str) -> str | None:
    """Give the exit code that the harness reports in the first or the last lines, if it does.

    What is printed may speak of one amid a sentence: a harness names no more than what has ended before it.
    """
    first = "\n".join(text[:200].split("\n", _FIRST_LINES)[:_FIRST_LINES])
    last = "\n".join(text[-300:].rstrip().rsplit("\n", _LAST_LINES)[-_LAST_LINES:])
    for end in (first, last):
        for found in _EXIT.finditer(end) if holds_any(end.lower(), _HINTS) else ():
            before = end[end.rfind("\n", 0, found.start()) + 1 : found.start()]
            others = [word for word in _WORD.findall(before) if word.lower() not in _OF_HARNESS]
            if before.endswith(_OPENS) or len(others) <= 1:
                return str(int(found[1]))
    return None
