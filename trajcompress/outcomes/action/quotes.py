"""What is quoted in a command, and quotes that it was cut in."""

from __future__ import annotations

from trajcompress.processes.late_patterns import late_re

OPEN = "…"
QUOTES = "\"'`"
_QUOTE = late_re(r"\\.|[\"'`]")


def closed(command: str) -> str:
    """Close the quote that a command was cut in.

    >>> closed('python -c "import os…')
    'python -c "import os…"'
    """
    quote = open_quote(command)
    if not quote:
        return command
    return f"{command}{quote}" if command.endswith(OPEN) else f"{command}{OPEN}{quote}"


def open_quote(command: str) -> str:
    """Return the quote that is open where a command ends; an apostrophe within a word opens none."""
    *_, (start, end, quote) = (0, 0, ""), *quoted_spans(command)
    return quote if end < 0 <= start else ""


def quoted_spans(command: str) -> list[tuple[int, int, str]]:
    """Return where quotes open, and where they end: nowhere (-1) if the command was cut in them."""
    spans: list[tuple[int, int, str]] = []
    start, quote = 0, ""
    for mark in _QUOTE.finditer(command):
        sign, ahead = mark[0], command[max(mark.start() - 1, 0) : mark.start()]
        if sign == quote:
            spans.append((start, mark.end(), quote))
            quote = ""
        elif not quote and sign in QUOTES and (sign != "'" or ahead in " =("):
            start, quote = mark.start(), sign
    return [*spans, (start, -1, quote)] if quote else spans
