"""Compare two versions of the package, byte for byte, so that a refactoring can be shown to change nothing.

    python scripts/compare_versions.py --old ../before --new . --tokenizer DIR --quick data/
    python scripts/compare_versions.py --old ../before --new . --tokenizer DIR --tokenizer OTHER data/ more/

A version is a checkout, which the current interpreter runs, or the interpreter of a virtual environment. Both run the
same command lines on the same inputs, some of them against a scripted model that answers the same to the same, one
request at a time. Compared are data files, metrics, rejects, totals, the card, plans, exit codes, and each request
that the model saw; left out are times (``latency_s``), ``run.json`` and ``.state``. Exit code 1 where any differs.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from comparing import differences
from comparing.cases import CONFIG, NAMES, QUICK, SETTINGS, Case, cases
from comparing.model import ScriptedModel
from comparing.versions import Ran, Version

TARGETS = [8000, 4000]
_TIME = re.compile(r"\b\d[\d.,:]*\s*(?:s|ms|min|h|rows/s|/s|it/s|seconds|minutes)\b")
_WRONG_USAGE = 2


@dataclass(frozen=True, slots=True)
class Result:
    """What a version made of a case: how it ended, the folder it ran in, and what it sent."""

    ran: Ran
    folder: Path
    requests: list[dict[str, Any]]

    @property
    def output(self) -> Path:
        """The run folder."""
        return self.folder / "out"

    @property
    def rows(self) -> int:
        """Rows of the metrics; 0 where there are none."""
        metrics = self.output / "metrics.parquet"
        return pq.read_metadata(metrics).num_rows if metrics.exists() else 0


def main() -> int:
    """Parse the options, run each case with both versions, print; return 1 where any differs."""
    options = _options()
    versions = Version.named("old", options.old), Version.named("new", options.new)
    for version in versions:
        print(f"{version.name}: {version.package()}, {version.python}")
    tokenizers, targets = options.tokenizer, sorted(options.target or TARGETS, reverse=True)
    if options.quick:
        tokenizers, targets = tokenizers[:1], targets[-1:]
    began, count, differing, requests = time.monotonic(), 0, 0, 0
    model = ScriptedModel()
    with (
        tempfile.TemporaryDirectory(prefix="compare-") as name,
        model as url,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        for tokenizer in tokenizers:
            for case in cases(tokenizer, targets, options.case):
                folder, start = Path(name) / str(count), time.monotonic()
                run = [pool.submit(_run, case, each, folder, options.input, url) for each in versions]
                old, new = (
                    Result(*each.result(), model.taken(v.name)) for each, v in zip(run, versions, strict=True)
                )
                found = list(_differences(case, old, new, options))
                title = f"{Path(tokenizer).name} {case.name}"
                size = f"{new.rows:5} rows {len(new.requests):5} requests {time.monotonic() - start:6.1f} s"
                print(f"{'DIFFERS' if found else 'equal':7} {title:34} {size}", flush=True)
                print(*(f"        {line}\n" for line in found), sep="", end="", flush=True)
                shutil.rmtree(folder)
                count, differing, requests = count + 1, differing + bool(found), requests + len(new.requests)
    total = f"{count} cases, {requests} requests, {time.monotonic() - began:.0f} s"
    print(f"{differing} of {total} differ" if differing else f"all equal: {total}")
    return 1 if differing else 0


def _run(case: Case, version: Version, folder: Path, inputs: Sequence[str], url: str) -> tuple[Ran, Path]:
    cwd = folder / version.name
    cwd.mkdir(parents=True)
    (cwd / CONFIG).write_text(SETTINGS)
    if case.kind == "plan":
        return version.run(["plan", "--json", *inputs, *case.options], cwd), cwd
    calls = ["--base-url", url] if case.calls else []
    return version.run(["compress", *inputs, "--output", "out", *case.options, *calls], cwd), cwd


def _differences(case: Case, old: Result, new: Result, options: argparse.Namespace) -> Iterator[str]:
    if old.ran.code != new.ran.code:
        yield f"exit code: {old.ran.code} → {new.ran.code}"
    for name, result in (("old", old), ("new", new)):
        if result.ran.code >= _WRONG_USAGE or result.ran.code < 0 or (case.kind == "run" and not result.rows):
            yield f"{name}: no result, exit code {result.ran.code}: {result.ran.stderr.strip()[-400:]}"
    if case.calls and not new.requests:
        yield "no requests, so nothing was compared of them"
    yield from differences.shown("requests", differences.of_values(old.requests, new.requests))
    if case.kind == "plan":
        plans = [result.ran.stdout for result in (old, new)]
        if plans[0] != plans[1]:
            yield from differences.shown("plan", differences.of_values(*map(_parsed, plans)))
    else:
        yield from differences.of_runs(old.output, new.output, options.ignore_column, options.ignore_figure)
    if options.messages:
        for stream in ("stdout", "stderr"):
            words = [_TIME.sub("(time)", getattr(result.ran, stream)) for result in (old, new)]
            yield from differences.shown(stream, differences.of_lines(*words))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare two versions of the package, byte for byte.")
    version = "the interpreter of a virtual environment, or a checkout"
    parser.add_argument("--old", metavar="PYTHON_OR_CHECKOUT", required=True, help=version)
    parser.add_argument("--new", metavar="PYTHON_OR_CHECKOUT", required=True, help=version)
    parser.add_argument("--tokenizer", metavar="DIR", required=True, action="append", help="may be given again")
    parser.add_argument("--target", metavar="N", type=int, action="append", help=f"tokens (default: {TARGETS})")
    parser.add_argument("--quick", action="store_true", help="three cases, first tokenizer, smallest target")
    parser.add_argument("--case", choices=NAMES, action="append", help="only this case; may be given again")
    parser.add_argument("--jobs", type=int, default=2, help="1: one version after the other (default: 2)")
    parser.add_argument("--messages", action="store_true", help="compare what is printed, too, but for times")
    parser.add_argument("--ignore-column", metavar="NAME", action="append", default=[], help="of the metrics")
    parser.add_argument("--ignore-figure", metavar="NAME", action="append", default=[], help="of the totals")
    parser.add_argument("input", metavar="INPUT", nargs="+", help="files or folders")
    options = parser.parse_args()
    options.case = options.case or (QUICK if options.quick else ())
    for paths in (options.input, options.tokenizer):
        if missing := [path for path in paths if not Path(path).exists()]:
            parser.error(f"{missing[0]}: does not exist")
        paths[:] = [str(Path(path).resolve()) for path in paths]
    return options


if __name__ == "__main__":
    sys.exit(main())
