"""Running the command: in a process of its own, on a terminal, or within the test where the process is no matter."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import forked
from typer.main import get_command

TARGET = 2000
"""Tokens that a :func:`conversation` of twelve steps is above, and one of two steps is not."""

_TERMINAL_COLUMNS = 140
_mistakes_meant: list[str] = []
_get_command_once = functools.cache(get_command)
"""Makes the command line of its definition, which takes as long as many a command."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. On a terminal ``stdout`` holds everything."""

    code: int
    stdout: str
    stderr: str = ""

    def __post_init__(self) -> None:
        """Fail a test of anything else in which a row met a mistake of the program: its run goes on."""
        if not _mistakes_meant:
            assert "× internal_error" not in self.stdout + self.stderr, self.stdout + self.stderr

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.stdout)


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder to work in, and a small tokenizer that loads at once."""

    folder: Path
    tokenizer: str

    @property
    def options(self) -> tuple[str, ...]:
        """What makes twelve steps too long."""
        return (
            "--tokenizer",
            self.tokenizer,
            "--target-max-tokens",
            str(TARGET),
            "--summary-target-tokens",
            "300",
            "--output-format",
            "jsonl",
        )

    def compress(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Ran:
        """Run ``compress`` within this process; options given here win."""
        return run_here("compress", *self.options, *arguments, cwd=self.folder, env=env)

    def path(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, rows: Iterable[dict[str, Any]]) -> Path:
        """Write rows as JSON lines."""
        return write_rows(self.folder / name, rows)


def make_desk(folder: Path, make_tokenizer: Callable[[], str]) -> Desk:
    desk = folder / "desk"
    desk.mkdir()
    return Desk(desk, make_tokenizer())


def run_command(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    encoding: str = "utf-8",
    fresh: bool = False,
) -> Ran:
    """Run the command in a process of its own, with pipes; see :func:`forked.start` for ``fresh``."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with forked.start(arguments, cwd=cwd, env=environment(env), fresh=fresh, **pipes) as process:
        try:
            stdout, stderr = process.communicate(stdin, timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return Ran(process.returncode, stdout.decode(encoding), stderr.decode(encoding))


def run_on_terminal(
    *arguments: str | Path,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    columns: int = _TERMINAL_COLUMNS,
    fresh: bool = False,
) -> Ran:
    """Run the command in a process of its own on a pseudo-terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    named = environment({"TERM": "xterm", **(env or {})})
    with forked.start(arguments, cwd=cwd, env=named, fresh=fresh, **terminal) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # how Linux says that the other side is closed
            while chunk := os.read(ours, 1 << 16):
                shown += chunk
        code = process.wait()
    os.close(ours)
    return Ran(code, shown.decode())


@contextlib.contextmanager
def mistakes_meant(why: str) -> Iterator[None]:
    """Let rows meet mistakes of the program, which fail a test elsewhere."""
    _mistakes_meant.append(why)
    try:
        yield
    finally:
        _mistakes_meant.pop()


def run_here(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> Ran:
    """Run the command within this process, which spares the imports."""
    from trajcompress.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    on_stop = signal.getsignal(signal.SIGTERM)
    with (
        mock.patch.object(sys, "argv", ["trajcompress", *map(str, arguments)]),
        mock.patch("typer.main.get_command", _get_command_once),
        mock.patch.dict(os.environ, environment(env), clear=True),
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            signal.signal(signal.SIGTERM, on_stop)
    return Ran(code, out.getvalue(), err.getvalue())


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What this process has, without anything that settings are read from."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("TRAJCOMPRESS_") and name not in {"OPENAI_API_KEY", "NO_COLOR", "COLUMNS"}
    }
    return {**kept, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "default", **(extra or {})}


def conversation(number: int, steps: int = 12, *, sharegpt: bool = False, **columns: Any) -> dict[str, Any]:
    """Make a row: a task, and ``steps`` calls of a tool with their results. Twelve steps are above the target."""
    turns = [
        ("system", "You are a careful engineer. Use the shell tool, and say what you find."),
        ("user", f"Find out why build {number} of the parser fails, and mend it in src/parser_{number}.py."),
    ]
    for step in range(steps):
        turns += [
            ("assistant", f"Step {step}: I look at module {step} of build {number} next."),
            (
                "tool",
                "\n".join(
                    f"src/module_{step}.py:{line}: def handle_{line}(node): raise ValueError('case {line} of {step}')"
                    for line in range(3)
                ),
            ),
        ]
    turns += [("assistant", f"I mended src/parser_{number}.py."), ("user", "Thank you.")]
    if sharegpt:
        names = {"user": "human", "assistant": "gpt"}
        messages = [{"from": names.get(role, role), "value": text} for role, text in turns]
        return {"id": f"row-{number}", "conversations": messages, **columns}
    return {"id": f"row-{number}", "messages": [{"role": role, "content": text} for role, text in turns], **columns}


SHORT = 2
"""Steps of a conversation that is under the target."""
ROWS = [conversation(0), conversation(1, SHORT), conversation(2, sharegpt=True), conversation(3, SHORT)]


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read_lines(folder: Path) -> list[bytes]:
    """The lines of a JSONL dataset, in order."""
    return [line for file in sorted((folder / "data").glob("*.jsonl")) for line in file.read_bytes().splitlines()]


def read_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL dataset, in order."""
    return [json.loads(line) for line in read_lines(folder)]


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    import pyarrow.parquet as pq

    return pq.read_table(folder / "metrics.parquet").to_pylist()


def read_rejected(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "rejected.jsonl").read_text().splitlines()]


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file that a run leaves for its reader, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".state" not in path.parts
    }
