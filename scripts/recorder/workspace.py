"""The agent's workspace: a temporary copy of some modules, and the tools that really act on it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from recorder.topics import STDLIB, Topic

_RUN_SECONDS = 20
_MAX_OUTPUT = 9000  # characters; as real harnesses do, longer output loses its middle
MAX_MATCHES = 60
ADDRESS = "0x7f00deadbeef"  # stands for every memory address
_MAX_LINE = 160


class Workspace:
    """``src/`` holds the copied modules, ``tests/`` their suites; every path a tool shows is relative to ``root``."""

    def __init__(self, root: Path, topics: Sequence[Topic]) -> None:
        self.root = root.resolve()
        for topic in topics:
            for source in topic.sources():
                self.put(f"src/{source.relative_to(STDLIB).as_posix()}", source.read_text(encoding="utf-8"))
            self.put(f"tests/test_{topic.name}.py", topic.suite())

    def put(self, path: str, text: str) -> None:
        """Write a file, folders included."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")

    def text(self, path: str) -> str:
        """A file's text."""
        return (self.root / path).read_text(encoding="utf-8")

    def lines(self, path: str) -> list[str]:
        """A file's lines; split at newlines only, since sources hold form feeds."""
        return self.text(path).removesuffix("\n").split("\n")

    def paths(self, under: str = ".") -> list[str]:
        """All files below a folder (or the file itself), sorted, relative to the root."""
        base = self.root / under
        files = [base] if base.is_file() else sorted(path for path in base.rglob("*") if path.is_file())
        return [path.relative_to(self.root).as_posix() for path in files]

    def sources_of(self, topic: Topic) -> list[str]:
        """The topic's own files."""
        return [path for path in self.paths("src") if path.startswith((f"src/{topic.name}/", f"src/{topic.name}.py"))]

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run one tool by name, as the model would; failures come back as text, as tools report them."""
        tools: dict[str, Callable[..., str]] = {
            "list_dir": self.list_dir,
            "read_file": self.read_file,
            "search": self.search,
            "edit_file": self.edit_file,
            "write_file": self.write_file,
            "run_tests": self.run_tests,
            "run_python": self.run_python,
        }
        return tools[name](**arguments)

    def list_dir(self, path: str) -> str:
        """The entries of a folder: sub-folders with a slash, files with their number of lines."""
        folder = self.root / path
        if not folder.is_dir():
            return f"NotADirectoryError: no such directory: {path}"
        entries = sorted(folder.iterdir())
        return "\n".join(
            f"{entry.name}/"
            if entry.is_dir()
            else f"{entry.name} ({len(self.lines(entry.relative_to(self.root).as_posix()))} lines)"
            for entry in entries
        )

    def read_file(self, path: str, start: int = 1, end: int | None = None) -> str:
        """Lines ``start`` to ``end`` (1-based, both included), numbered."""
        if not (self.root / path).is_file():
            return f"FileNotFoundError: no such file: {path}"
        lines = self.lines(path)
        last = min(end or len(lines), len(lines))
        if start > last:
            return f"ValueError: start {start} is past the end; {path} has {len(lines)} lines"
        shown = "\n".join(f"{number:>5}\t{lines[number - 1]}" for number in range(start, last + 1))
        return f"{shown}\n[{path}: lines {start}-{last} of {len(lines)}]"

    def search(self, pattern: str, path: str = ".") -> str:
        """Lines that match a regular expression, as ``path:line:text``."""
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            return f"re.error: {error}"
        if not (self.root / path).exists():
            return f"FileNotFoundError: no such path: {path}"
        found = [
            f"{name}:{number}:{line[:_MAX_LINE]}"
            for name in self.paths(path)
            for number, line in enumerate(self.lines(name), 1)
            if wanted.search(line)
        ]
        if not found:
            return f"No matches for /{pattern}/ in {path}"
        more = [f"... {len(found) - MAX_MATCHES} more matches not shown"] if len(found) > MAX_MATCHES else []
        return "\n".join([*found[:MAX_MATCHES], *more])

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace text that must occur exactly once."""
        if not (self.root / path).is_file():
            return f"FileNotFoundError: no such file: {path}"
        text = self.text(path)
        count = text.count(old)
        if count != 1:
            return f"EditError: the text to replace occurs {count} times in {path}; it must occur exactly once"
        self.put(path, text.replace(old, new))
        line = text[: text.index(old)].count("\n") + 1
        return f"Edited {path} at line {line}: {old.count(chr(10)) + 1} line(s) -> {new.count(chr(10)) + 1} line(s)"

    def write_file(self, path: str, content: str) -> str:
        """Create or overwrite a file."""
        verb = "Overwrote" if (self.root / path).exists() else "Created"
        self.put(path, content)
        return f"{verb} {path} ({len(self.lines(path))} lines)"

    def run_tests(self, target: str) -> str:
        """Run unittest on a dotted name."""
        return self._python("-m", "unittest", "-v", target)

    def run_python(self, code: str) -> str:
        """Run a snippet with the workspace's modules in front of Python's own."""
        return self._python("-c", code)

    def _python(self, *arguments: str) -> str:
        environment = {"PYTHONPATH": "src", "PYTHONHASHSEED": "0", "COLUMNS": "80", "PATH": os.defpath}
        command = [sys.executable, "-S", "-B", "-u", "-X", "utf8", *arguments]
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=_RUN_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"TimeoutError: no result after {_RUN_SECONDS} seconds; the process was stopped"
        return f"{self._scrub(done.stdout).rstrip()}\n[exit code {done.returncode}]".lstrip("\n")

    def _scrub(self, output: str) -> str:
        """Take out what differs from machine to machine or from run to run, and the middle of long output."""
        for prefix, replacement in ((f"{self.root}{os.sep}", ""), (str(self.root), "."), (str(STDLIB), "lib/python")):
            output = output.replace(prefix, replacement)
        output = re.sub(r"(Ran \d+ tests? in )\d+\.\d+s", r"\g<1>0.000s", output)
        output = re.sub(r"\b0x[0-9a-f]{8,}\b", ADDRESS, output)
        output = re.sub(r"\bid=\d{9,}", "id=140000000000000", output)
        output = re.sub(r"={15}\d{15,}==", "===============1234567890123456789==", output)
        if len(output) > _MAX_OUTPUT:
            half = _MAX_OUTPUT // 2
            cut = len(output) - 2 * half
            output = f"{output[:half]}\n[... {cut} characters cut ...]\n{output[-half:]}"
        return output
