"""Print the peak memory of runs over few and over many rows of the same kind; fail where it grows.

    python scripts/bench_memory.py --rows 1000 16000

The rows are those of ``data/``, again and again under other ids. Each run is the real command in a process of its
own, offline, with the built-in summariser. Options after ``--`` go to the command: ``-- --max-in-flight 64``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
COMMAND = [sys.executable, "-m", "trajcompress"]
MOST_GROWTH = 1.10
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in a unit of ru_maxrss


def main() -> int:
    """Run the benchmark; return 1 where the largest peak exceeds the smallest by more than 10 %."""
    parser = argparse.ArgumentParser(description="Peak memory of runs over few and over many rows.")
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 16000], metavar="N")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="for trajcompress compress")
    given = parser.parse_args()
    peaks = []
    print(f"{'rows':>7} {'input MB':>9} {'seconds':>8} {'peak MB':>8}")
    for rows in given.rows:
        with tempfile.TemporaryDirectory(prefix="bench-memory-") as folder:
            source = Path(folder, "rows.jsonl")
            write_rows(source, rows)
            started = time.monotonic()
            peak = peak_bytes(["compress", str(source), "-o", str(Path(folder, "out")), "--quiet", *given.options])
            seconds = time.monotonic() - started
            print(f"{rows:>7,} {source.stat().st_size / 1e6:>9,.0f} {seconds:>8.0f} {peak / 1e6:>8,.0f}", flush=True)
            peaks.append(peak)
    growth = max(peaks) / min(peaks)
    print(f"largest / smallest peak: {growth:.2f} (at most {MOST_GROWTH})")
    return int(growth > MOST_GROWTH)


def write_rows(path: Path, rows: int) -> None:
    """Write so many rows, line by line: what this process held would count as the peak of the run it starts."""
    with path.open("w") as file:
        for number, line in zip(range(rows), repeated_lines(), strict=False):
            file.write(json.dumps(json.loads(line) | {"id": f"row-{number}"}) + "\n")


def repeated_lines() -> Iterator[str]:
    """Yield the lines of ``data/`` over and over."""
    for _ in count():
        for path in sorted(DATA.glob("*.jsonl*")):
            with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
                yield from lines


def peak_bytes(arguments: list[str]) -> int:
    """Run the command; return the most memory that it had resident.

    Raises:
        SystemExit: it failed.
    """
    process = subprocess.Popen([*COMMAND, *arguments])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the run ended with {process.returncode}")
    return usage.ru_maxrss * _RSS_UNIT


if __name__ == "__main__":
    sys.exit(main())
