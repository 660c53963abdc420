"""Measure which user turns of rows are taken for observations: of agents without tool roles, and of chats.

    python scripts/eval_observations.py [--list N] [--json FILE]

Nothing of trajcompress is imported. Each line of ``truth/observations/*.jsonl`` is a row that somebody wrote who did
not know how rows are read: of an agent in the form of some framework or of a home-made one, with the user turns that
an environment wrote, or a chat that looks like one, in which none did. The command line reads all rows, and its
metrics say how many observations each has: of those that there are, ``recognised``, and what a row has ``too many``.

Rows that are ``aside`` are not shown, and no rule is to be made from them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from truth.tally import wilson

ROWS = Path(__file__).parent / "truth" / "observations"

Row = Mapping[str, Any]


def rows() -> list[Row]:
    """Return all rows."""
    texts = [file.read_text("utf-8") for file in sorted(ROWS.glob("*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def read(given: list[Row]) -> list[int]:
    """Return how many observations the command line finds in each row."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "rows.jsonl")
        lines = (json.dumps({"messages": row["messages"]}, ensure_ascii=False) for row in given)
        source.write_text("\n".join(lines), "utf-8")
        command = [sys.executable, "-m", "trajcompress", "compress", str(source), "-o", f"{folder}/out", "--quiet"]
        subprocess.run(command, check=True)
        table = pq.read_table(Path(folder, "out", "metrics.parquet"), columns=["source_row", "observations"])
    found = dict(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return [found[number] or 0 for number in range(len(given))]


def judge(row: Row, found: int) -> tuple[int, int]:
    """Return how many observations of a row are recognised, and how many more it is said to have."""
    there = len(row["observations"])
    return min(found, there), max(found - there, 0)


class Judged(NamedTuple):
    """A row, how many of its observations are recognised, and how many more it is said to have."""

    row: Row
    right: int
    more: int

    @property
    def there(self) -> int:
        """How many it has."""
        return len(self.row["observations"])


def figures(some: list[Judged]) -> str:
    """Write what was recognised of some rows."""
    there, right, more = (sum(getattr(each, name) for each in some) for name in ("there", "right", "more"))
    if not there:
        wrong = sum(each.more > 0 for each in some)
        return f"{len(some):>4} chats: {wrong} read as an agent's, in {more} turns"
    low, high = wilson(right, there)
    share = f"{right}/{there} {right / there:.1%} [{100 * low:.0f}–{100 * high:.0f}]"
    return f"{len(some):>4} rows: recognised {share}, too many {more}"


def main() -> None:
    """Read all rows and print what was recognised."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", type=int, default=0, help="how many rows that were read wrong to print")
    parser.add_argument("--json", type=Path, help="write the figures of each row to a file")
    options = parser.parse_args()
    given = rows()
    judged = [Judged(row, *judge(row, found)) for row, found in zip(given, read(given), strict=True)]
    for name in dict.fromkeys(row["set"] for row in given):
        for aside in (False, True):
            if some := [each for each in judged if each.row["set"] == name and each.row["aside"] is aside]:
                print(f"{name:<16} {'aside' if aside else 'seen ':<5} {figures(some)}")
    wrong = [each for each in judged if each.right < each.there or each.more]
    for each in [each for each in wrong if not each.row["aside"]][: options.list]:
        print(f"{each.row['id']} ({each.row['kind']}): {each.right} of {each.there}, {each.more} too many")
    if options.json:
        of_rows = [
            {"id": each.row["id"], "there": each.there, "recognised": each.right, "too_many": each.more}
            for each in judged
        ]
        options.json.write_text(json.dumps(of_rows, indent=1), "utf-8")


if __name__ == "__main__":
    main()
