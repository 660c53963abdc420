"""What standard output can take: its encoding may lack what rows hold."""

from __future__ import annotations

import io
import sys


def escape_what_cannot_be_printed() -> None:
    """Have characters that the encoding of standard output lacks escaped, as standard error does: rows hold any."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def print_utf8(text: str) -> None:
    """Print in UTF-8 what says of itself that it is, whatever the encoding of the terminal."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)
