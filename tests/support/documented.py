"""The blocks of the documentation: found, grouped, and run in a folder of their own as a reader would run them."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest import mock

from commands import environment, run_here

from trajcompress.run.build import components as build
from trajcompress.tokens.tokenizer import load_tokenizer

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
_load_tokenizer = cache(load_tokenizer)
ROWS = 3
"""Rows of each file in ``data/`` that the blocks work on."""

_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<why>.+?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_PLAIN = re.compile(r"trajcompress (?P<arguments>[^|&;<>$`]+?)(?: > (?P<file>\S+))?")
"""A line that is one of our commands, and nothing that only a shell can do."""

_SEPARATORS = {"&&", "||", ";", "|", "&"}


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code; ``why`` says why it cannot run offline, None where it can."""

    page: Path
    line: int
    language: str
    text: str
    why: str | None


def blocks(page: Path, *languages: str) -> list[Block]:
    """Find the blocks of a page in these languages, in order."""
    text = page.read_text(encoding="utf-8")
    found = (
        Block(page, text.count("\n", 0, match.start("language")) + 1, match["language"], match["text"], match["why"])
        for match in _BLOCK.finditer(text)
    )
    return [block for block in found if block.language in languages]


def commands_in(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each call of our command in a piece of shell, redirections left out."""
    lexer = shlex.shlex(text.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = list(lexer)
    for is_separator, group in groupby(words, key=lambda word: word in _SEPARATORS):
        command = list(group)
        if is_separator or "trajcompress" not in command:
            continue
        command = command[command.index("trajcompress") + 1 :]
        redirected = next((place for place, word in enumerate(command) if set(word) <= {"<", ">"}), len(command))
        yield command[:redirected]


def runnable(text: str) -> str:
    """Leave out of a piece of shell what installs, and what runs these tests."""
    lines = (re.sub(r"^pip install [^&]*(?:&& )?", "", line) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip() != "pytest")


def make_workspace(folder: Path, page: Path) -> Path:
    """Make what a reader has after ``git clone``; ``data/`` holds a few rows, and those that the page names."""
    for name in ("docs", "configs"):
        (folder / name).symlink_to(ROOT / name)
    named = re.findall(r"\bagent-\d+\b", page.read_text(encoding="utf-8"))
    (folder / "data").mkdir()
    for source in (ROOT / "data").iterdir():
        target = folder / "data" / source.name
        if source.suffix == ".json":
            target.write_text(json.dumps(json.loads(source.read_bytes())[:ROWS]))
        elif ".jsonl" in source.suffixes:
            opened = gzip.open if source.suffix == ".gz" else open
            with opened(source, "rb") as lines, opened(target, "wb") as kept:
                kept.writelines(_few(lines, [f'"{name}"'.encode() for name in named]))
    return folder


def _few(lines: Iterable[bytes], named: list[bytes]) -> Iterator[bytes]:
    return (line for number, line in enumerate(lines) if number < ROWS or any(name in line for name in named))


def run_blocks(found: Iterable[Block], folder: Path) -> None:
    """Run blocks in order, all that can run: our commands and Python here, which spares the imports, else bash.

    Tokenizers are loaded once for all of them.
    """
    variables: dict[str, Any] = {}
    for block in found:
        if block.why is not None:
            continue
        where = f"{block.page.name}:{block.line}"
        if block.language == "python":
            with contextlib.chdir(folder), mock.patch.dict(os.environ, environment(), clear=True):
                exec(compile(block.text, where, "exec"), variables)  # noqa: S102 - what the page says to run
            continue
        for piece in _pieces(runnable(block.text)):
            with mock.patch.object(build, "load_tokenizer", _load_tokenizer):
                code, said = _run_piece(piece, folder)
            assert code == 0, f"{where}: {piece}: exit code {code}: {said}"


def _pieces(shell: str) -> Iterator[str]:
    """Cut a piece of shell into whole lines."""
    return (line for line in shell.replace("\\\n", " ").splitlines() if line.strip())


def _run_piece(piece: str, folder: Path) -> tuple[int, str]:
    plain = _PLAIN.fullmatch(piece)
    if plain is None:
        run = run_in(folder, "bash", "-euo", "pipefail", "-c", piece)
        return run.returncode, run.stdout + run.stderr
    ran = run_here(*shlex.split(plain["arguments"]), cwd=folder)
    if plain["file"]:
        (folder / plain["file"]).write_text(ran.stdout)
    return ran.code, ran.stdout + ran.stderr


def run_in(folder: Path, *command: str, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, our own on the path, the hub out of reach, with no settings but ``extra``."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = environment({"PATH": path, "HF_HOME": str(folder / ".hub"), "HF_HUB_OFFLINE": "1", **extra})
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
