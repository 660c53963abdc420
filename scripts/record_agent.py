"""Record agent trajectories: a scripted agent that really runs tools over copies of standard library modules.

    python scripts/record_agent.py --seed 7 --count 44 --output data

The same seed and the same Python give the same bytes. Rows go to disk one by one, so any ``--count`` will do.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from recorder.record import write_files


def main() -> int:
    """Parse the options, record, and print how many rows went where."""
    parser = argparse.ArgumentParser(description="Record trajectories of a scripted agent with real tools.")
    parser.add_argument("--seed", type=int, default=7, help="another seed gives other trajectories (default: 7)")
    parser.add_argument("--count", type=int, default=44, help="how many trajectories (default: 44)")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="folder for the files")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count must be at least 1")
    options.output.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    for name, row in write_files(options.output, options.seed, options.count):
        counts[name] += 1
        print(
            f"{row['id']} {row['task']:9} {row['meta']['topic']:12} {row['meta']['tool_calls']:4} tool calls",
            file=sys.stderr,
        )
    for name, rows in sorted(counts.items()):
        print(f"{options.output / name}: {rows} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
