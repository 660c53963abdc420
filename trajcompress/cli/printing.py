"""Printing: what the encoding of standard output lacks, and what is longer than the terminal."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap

import typer


def open_closed_streams() -> None:
    """Have standard streams that are closed lead nowhere, as files opened later would take their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in order, as each takes the lowest number
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - a number, and for good
            os.set_inheritable(nowhere.fileno(), True)
            setattr(sys, name, nowhere)


def escape_what_cannot_be_printed() -> None:
    """Have characters that the encoding of standard output lacks escaped, as standard error does: rows hold any."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def terminal_width() -> int | None:
    """Return the columns of the terminal; None where standard output is a pipe or a file, which take whole lines."""
    return shutil.get_terminal_size((80, 24)).columns if sys.stdout.isatty() else None


def wrapped(text: str, width: int | None, *, hanging: str = "") -> str:
    """Return the text in lines of at most ``width`` columns, broken between words; None: as it is.

    Lines that go on begin with ``hanging``.
    """
    if width is None:
        return text
    lines = text.split("\n")
    return "\n".join(
        textwrap.fill(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)
        if len(line) > width
        else line
        for line in lines
    )


def print_utf8(text: str) -> None:
    """Print in UTF-8 what says of itself that it is, whatever the encoding of the terminal."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(text)


def print_paged(text: str, *, page: bool) -> None:
    """Print a text, through ``PAGER`` (``less`` by default) if asked to and it is longer than the terminal."""
    rows = shutil.get_terminal_size((100, 40)).lines
    if not (page and text.count("\n") >= rows and _through_pager(text)):
        typer.echo(text, nl=False)


def _through_pager(text: str) -> bool:
    """Show a text in the pager; return False where there is none."""
    if os.environ.get("TERM") == "dumb":
        return False
    try:
        command = shlex.split(os.environ.get("PAGER", "less"))
    except ValueError:  # a quote that is never closed
        return False
    program = shutil.which(command[0]) if command else None
    if program is None or command == ["cat"]:
        return False
    options = {"LESS": "-FRX", "LV": "-c", **os.environ}  # colours come through; others' wishes first
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        with subprocess.Popen([program, *command[1:]], stdin=subprocess.PIPE, env=options) as pager:  # noqa: S603 - the user's own pager
            pager.communicate(text.encode("utf-8", "backslashreplace"))
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True
