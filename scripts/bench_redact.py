"""Measure redaction, on agent text as it is and with a secret in every tenth turn.

    python scripts/bench_redact.py path/to/data --fail-under 50

Prints MB/s of CPU time, the median over the rounds, and how many marks of each kind the text as it is gets. Ends with
1 where the text as it is takes longer than asked for, or a planted secret survives.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from statistics import median

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import RowError, TrajcompressError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.redact import Redacted, redact
from trajcompress.tokens.counter import turn_text

DATA = Path(__file__).resolve().parents[1] / "data"
SECRET = "ghp_" + "".join("aB3dE6gH9jKl0mNo"[i % 16] for i in range(36))
PLANTED = (
    f" {SECRET} ",
    f"\nGITHUB_TOKEN={SECRET}\n",
    f'{{"token": "{SECRET}"}}',
    f"https://me:{SECRET}@example.com/",
)
EVERY = 10  # turns


def main() -> int:
    """Parse the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure redaction.")
    parser.add_argument("inputs", nargs="*", default=[str(DATA)], help="files or folders (default: data/)")
    parser.add_argument("--rounds", type=int, default=5, help="how often each text is measured (default: 5)")
    parser.add_argument("--fail-under", type=float, metavar="MB/S", help="least speed on text as it is")
    options = parser.parse_args()
    try:
        clean = read_texts(options.inputs)
    except TrajcompressError as error:
        parser.error(str(error))
    if not clean or options.rounds < 1:
        parser.error("no trajectory in the input, or no round")
    planted = [text if i % EVERY else text + PLANTED[i // EVERY % len(PLANTED)] for i, text in enumerate(clean)]
    whole = ["\n".join(clean)]
    speed, found = measure("as it is, turn by turn", clean, options.rounds)
    measure("as it is, one text", whole, options.rounds)
    _, marked = measure("a secret in every tenth turn", planted, options.rounds)
    kinds: Counter[str] = sum((Counter(redacted.kinds) for redacted in found), Counter())
    print(f"marks as it is: {dict(kinds.most_common())}")
    survived = sum(SECRET in redacted.text for redacted in marked)
    if survived:
        print(f"{survived} PLANTED SECRETS SURVIVED")
    too_slow = options.fail_under is not None and speed < options.fail_under
    if too_slow:
        print(f"{speed:.0f} MB/s is under {options.fail_under:g} MB/s")
    return 1 if too_slow or survived else 0


def read_texts(inputs: list[str]) -> list[str]:
    """Read the texts of all turns."""
    texts: list[str] = []
    for source in find_sources(inputs):
        for row in read_rows(source):
            if isinstance(row, Row):
                try:
                    trajectory = read_trajectory(row.value, f"{source.stem}:{row.index}", FormatOptions())
                except RowError:
                    continue
                texts += [turn_text(turn) for turn in trajectory.turns]
    return texts


def measure(title: str, texts: list[str], rounds: int) -> tuple[float, list[Redacted]]:
    """Print and return the speed in MB/s of CPU time, and what was redacted."""
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / 1e6
    speeds: list[float] = []
    redacted: list[Redacted] = []
    for _ in range(rounds):
        began = time.process_time()
        redacted = [redact(text) for text in texts]
        speeds.append(size / (time.process_time() - began))
    speed = median(speeds)
    print(f"{title:30} {speed:7.1f} MB/s  {len(texts)} texts, {size:.2f} MB, {sum(r.count for r in redacted)} marks")
    return speed, redacted


if __name__ == "__main__":
    raise SystemExit(main())
