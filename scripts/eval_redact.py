"""Measure redaction on a labelled set: secrets that are gone, and look-alikes that still stand.

    python scripts/eval_redact.py --split test --beside detect-secrets,gitleaks,secretlint

Every row goes through ``trajcompress compress --redact dataset`` as a user would run it, and what comes out is judged
without the package. Recall is the share of rows with secrets in which none can be read any more, nor half of one;
precision the share of right ones among these and the rows in which something went that is no secret. Both come with
their 95 % intervals (Wilson). ``--beside`` has scanners that are on PATH look at the same rows.

Ends with 1 where a figure is under what was asked for.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from redaction.beside import SCANNERS, found_beside
from redaction.judge import Verdict, judge
from redaction.labelled import SET, Labelled, read_set

Z = 1.959964  # of a 95 % interval


def main() -> int:
    """Parse the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure redaction on a labelled set.")
    parser.add_argument(
        "--set", type=Path, default=SET, help="folder of JSON lines (default: tests/support/data/secrets)"
    )
    parser.add_argument(
        "--split",
        choices=("dev", "test", "fresh", "all"),
        default="all",
        help="dev and test: halves of the first set; all: both (default); fresh: a set of its own, by another hand",
    )
    parser.add_argument("--beside", default="", metavar="NAMES", help=f"scanners on PATH: {','.join(SCANNERS)}")
    parser.add_argument("--json", action="store_true", help="print all of it as JSON")
    parser.add_argument("--failures", type=int, default=40, metavar="N", help="failing rows to show (default: 40)")
    parser.add_argument("--fail-under-recall", type=float, metavar="PERCENT")
    parser.add_argument("--fail-under-precision", type=float, metavar="PERCENT")
    options = parser.parse_args()
    scanners = [name for name in options.beside.split(",") if name]
    if unknown := set(scanners) - set(SCANNERS):
        parser.error(f"--beside knows {', '.join(SCANNERS)}, not {', '.join(sorted(unknown))}")
    rows = read_set(options.set, options.split)
    with tempfile.TemporaryDirectory() as scratch:
        redacted = redact_as_a_user(rows, Path(scratch))
        beside = {}
        for name in scanners:
            (folder := Path(scratch) / name).mkdir()
            beside[name] = found_beside(name, rows, folder)
    figures = figures_of([judge(row, redacted[row.id]) for row in rows])
    figures["beside"] = {name: beside_figures(found, figures) for name, found in beside.items()}
    print(json.dumps(figures, ensure_ascii=False, indent=1) if options.json else table(figures, options.failures))
    wanted = {"recall": options.fail_under_recall, "precision": options.fail_under_precision}
    under = [name for name, least in wanted.items() if least is not None and figures[name]["percent"] < least]
    for name in under:
        print(f"{name} {figures[name]['percent']:.2f} % is under {wanted[name]:g} %", file=sys.stderr)
    return 1 if under else 0


def redact_as_a_user(rows: list[Labelled], folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Put all rows through one run of the command, and return the turns that came out, by id.

    Raises:
        SystemExit: The command is not there or fails, or a row did not come out.
    """
    command = shutil.which("trajcompress", path=str(Path(sys.executable).parent)) or shutil.which("trajcompress")
    if command is None:
        raise SystemExit("no trajcompress beside this Python or on PATH: pip install -e .")
    source, out = folder / "rows.jsonl", folder / "out"
    lines = (json.dumps({"id": row.id, "messages": row.turns}, ensure_ascii=False) for row in rows)
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ["--redact", "dataset", "--output", str(out), "--output-format", "jsonl", "--quiet"]
    ended = subprocess.run([command, "compress", str(source), *options], check=False, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"trajcompress ended with {ended.returncode}:\n{ended.stderr}")
    parts = sorted((out / "data").glob("*.jsonl"))
    came = [json.loads(line) for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    turns = {row["id"]: row["messages"] for row in came}
    if missing := [row.id for row in rows if row.id not in turns]:
        raise SystemExit(f"{len(missing)} rows did not come out: {', '.join(missing[:10])}")
    return turns


def figures_of(verdicts: list[Verdict]) -> dict[str, Any]:
    """Add up what was judged."""
    secret = [verdict for verdict in verdicts if verdict.row.secrets]
    plain = [verdict for verdict in verdicts if not verdict.row.secrets]
    caught = sum(not verdict.leaks for verdict in secret)
    alarms = sum(verdict.false_alarm for verdict in plain)
    beyond = sum(verdict.false_alarm for verdict in secret)
    rows: Counter[str] = Counter(verdict.row.category for verdict in verdicts)
    wrong: Counter[str] = Counter(v.row.category for v in verdicts if (v.leaks if v.row.secrets else v.false_alarm))
    return {
        "rows": len(verdicts),
        "recall": share(caught, len(secret)),
        "precision": share(caught, caught + alarms + beyond),
        "look-alikes kept": share(len(plain) - alarms, len(plain)),
        "rows with secrets that lost other text": beyond,
        "categories": {name: {"rows": count, "wrong": wrong[name]} for name, count in sorted(rows.items())},
        "failures": [
            {"id": v.row.id, "what": "survives" if v.leaks else "false alarm", "excerpt": v.excerpt}
            for v in verdicts
            if v.leaks or v.false_alarm
        ],
    }


def beside_figures(found: tuple[int, int] | None, figures: dict[str, Any]) -> dict[str, Any] | None:
    """Make the figures of a scanner from its counts; None: not installed."""
    if found is None:
        return None
    hits, alarms = found
    plain = figures["look-alikes kept"]["of"]
    return {
        "recall": share(hits, figures["recall"]["of"]),
        "precision": share(hits, hits + alarms),
        "look-alikes kept": share(plain - alarms, plain),
    }


def share(part: int, of: int) -> dict[str, float]:
    """Make a share of its counts, in percent, with its Wilson interval."""
    if not of:
        return {"percent": 100.0, "low": 0.0, "high": 100.0, "count": part, "of": of}
    p, spread = part / of, 1 + Z * Z / of
    middle = (p + Z * Z / (2 * of)) / spread
    half = Z * math.sqrt(p * (1 - p) / of + Z * Z / (4 * of * of)) / spread
    low, high = 100 * max(0.0, middle - half), 100 * min(1.0, middle + half)
    return {"percent": 100 * p, "low": low, "high": high, "count": part, "of": of}


def table(figures: dict[str, Any], failures: int) -> str:
    """Set the figures as text."""
    lines = [f"{figures['rows']} rows"]
    lines += [_line(name, figures[name]) for name in ("recall", "precision", "look-alikes kept")]
    beyond = "rows with secrets that lost other text"
    lines += [f"{beyond:<40}{figures[beyond]:>6}", "", f"{'category':<28}{'rows':>6}{'wrong':>7}"]
    lines += [f"{name:<28}{each['rows']:>6}{each['wrong']:>7}" for name, each in figures["categories"].items()]
    for name, each in figures["beside"].items():
        lines += ["", f"beside: {name}" + ("" if each else ", which is not on PATH")]
        lines += [_line(figure, found) for figure, found in (each or {}).items()]
    shown = figures["failures"][:failures]
    lines += ["", f"{len(figures['failures'])} failing rows" + (f", the first {len(shown)}:" if shown else "")]
    lines += [f"  {each['id']:<26} {each['what']:<12} {each['excerpt']!r}" for each in shown]
    return "\n".join(lines)


def _line(name: str, found: dict[str, float]) -> str:
    counts = f"{found['count']} of {found['of']}"
    return f"{name:<20}{found['percent']:>8.2f} %  ({found['low']:.2f} to {found['high']:.2f})  {counts}"


if __name__ == "__main__":
    sys.exit(main())
