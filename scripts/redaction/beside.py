"""What other scanners find in the same rows: whole-text tools for repositories, asked for their findings by line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from redaction.judge import views
from redaction.labelled import Labelled, strings

Lines = dict[str, set[int]]
"""Numbers of lines with a finding, from 1, by row."""


def write_texts(rows: list[Labelled], folder: Path) -> dict[str, list[str]]:
    """Write each row as a plain text, escapes undone and control sequences gone, and return the lines.

    That is kinder than a transcript is: what is measured are their rules, not how they read JSON.
    """
    lines = {}
    for row in rows:
        text = "\n".join(list(views(string))[-1] for turn in row.turns for string in strings(turn))
        lines[row.id] = text.splitlines()
        (folder / f"{row.id}.txt").write_text("\n".join(lines[row.id]), encoding="utf-8")
    return lines


def detect_secrets(folder: Path) -> Lines:
    """Ask detect-secrets with all its plugins, without calls to vendors."""
    answer = _run("detect-secrets", "-c", "1", "scan", "--all-files", "--no-verify", ".", cwd=folder)
    return _lines(
        (Path(file).stem, found["line_number"])
        for file, all_ in json.loads(answer)["results"].items()
        for found in all_
    )


def gitleaks(folder: Path) -> Lines:
    """Ask gitleaks with its own rules."""
    report = folder / "report.json"
    _run("gitleaks", "dir", ".", "--no-banner", "--exit-code", "0", "-f", "json", "-r", report.name, cwd=folder)
    return _lines((Path(found["File"]).stem, found["StartLine"]) for found in json.loads(report.read_text()))


def secretlint(folder: Path) -> Lines:
    """Ask secretlint with the preset that it recommends."""
    report = folder / "report.json"  # a pipe gets 64 KB of it
    preset = '{"rules": [{"id": "@secretlint/secretlint-rule-preset-recommend"}]}'
    options = ("--secretlintrcJSON", preset, "--format", "json", "--output", report.name)
    _run("secretlint", *options, "**/*.txt", cwd=folder, found=1)
    return _lines(
        (Path(file["filePath"]).stem, found["loc"]["start"]["line"])
        for file in json.loads(report.read_text(encoding="utf-8"))
        for found in file["messages"]
    )


SCANNERS: dict[str, Callable[[Path], Lines]] = {
    "detect-secrets": detect_secrets,
    "gitleaks": gitleaks,
    "secretlint": secretlint,
}


def found_beside(scanner: str, rows: list[Labelled], folder: Path) -> tuple[int, int] | None:
    """Count the rows with secrets that a scanner finds, and the look-alikes in which it finds something.

    A row counts as found where every secret stands at least once on a line with a finding. None: not installed.
    """
    if shutil.which(scanner) is None:
        return None
    lines = write_texts(rows, folder)
    findings = SCANNERS[scanner](folder)
    hits = alarms = 0
    for row in rows:
        flagged = [lines[row.id][number - 1] for number in findings.get(row.id, ())]
        if row.secrets:
            hits += all(any(secret in line for line in flagged) for secret in row.secrets)
        else:
            alarms += bool(flagged)
    return hits, alarms


def _run(*command: str, cwd: Path, found: int = 0) -> str:
    """Run a scanner, whose exit code is ``found`` where there are findings, and return what it printed."""
    ended = subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True)
    if ended.returncode not in {0, found}:
        raise SystemExit(f"{command[0]} ended with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout


def _lines(findings: Iterable[tuple[str, int]]) -> Lines:
    lines: Lines = defaultdict(set)
    for row, number in findings:
        lines[row].add(number)
    return lines
