"""Measure whether a person's words behind an observation stay when it is cleared, and nobody's do not.

    python scripts/eval_asides.py [--list N]

Nothing of trajcompress is imported. Each line of ``truth/asides/*.jsonl`` is a row that somebody wrote who did not
know how rows are read: in some a person speaks in the turn of an observation, in others its output ends in what may
be mistaken for that. Each output is made long with lines of figures, and the command line clears all of them. Of the
turns that it cleared: the share that have the person's words to the letter, and of those without any, the share that
still end with the last line of what was printed, where no other turn ends with it. A turn that is not taken for an
observation keeps all that it says.

Rows that are ``aside`` are not shown, and no rule is to be made from them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from truth.tally import wilson

ROWS = Path(__file__).parent / "truth" / "asides"
FIGURES = "\n".join(f"{n:04d}  {n * 7919 % 1000 / 1000:.3f}  {n * 104729 % 997}  ok" for n in range(40))
SETTINGS = "processing:\n  skip_under_target: false\ncompression:\n  prune: all\n  keep_observations: 0\n"
OPENS = ("[", "<", "(", "`")  # a line of what was cleared, or what a protocol puts around it

Row = Mapping[str, Any]


class Turn(NamedTuple):
    """A turn that was cleared: what a person says in it, if somebody does, and whether its last words stay."""

    row: Row
    said: str | None
    stays: bool


def rows() -> list[Row]:
    """Return all rows."""
    texts = [file.read_text("utf-8") for file in sorted(ROWS.glob("*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def lengthened(row: Row) -> list[dict[str, str]]:
    """Return the messages of a row, with figures behind the first line of each observation that has others."""
    messages = [dict(message) for message in row["messages"]]
    for index in row["observations"]:
        first, more, rest = messages[index]["content"].partition("\n")
        messages[index]["content"] = f"{first}\n{FIGURES}\n{rest}" if more else first
    return messages


def cleared(given: list[Row]) -> Iterator[Turn]:
    """Yield the turns that the command line clears."""
    with tempfile.TemporaryDirectory() as folder:
        source, settings, out = (Path(folder, name) for name in ("rows.jsonl", "settings.yaml", "out"))
        lines = (json.dumps({"messages": lengthened(row)}, ensure_ascii=False) for row in given)
        source.write_text("\n".join(lines), "utf-8")
        settings.write_text(SETTINGS, "utf-8")
        command = [sys.executable, "-m", "trajcompress", "compress", str(source), "-o", str(out), "-c", str(settings)]
        subprocess.run([*command, "--last-n-turns", "0", "--quiet"], check=True)
        made = [row for file in sorted(out.glob("data/*.parquet")) for row in pq.read_table(file).to_pylist()]
    for row, after in zip(given, made, strict=True):
        contents = (row["messages"][index]["content"] for index in row["observations"])
        ends = Counter(content.rstrip().rpartition("\n")[2] for content in contents)  # as a protocol's, if several do
        for index in row["observations"]:
            text, before = after["messages"][index]["content"], row["messages"][index]["content"]
            if FIGURES in text or "\n" not in before:
                continue
            if (said := row["said"].get(str(index))) is not None:
                yield Turn(row, said, said in text)
            elif ends[last := before.rstrip().rpartition("\n")[2]] == 1 and not last.startswith(OPENS):
                yield Turn(row, None, text.rstrip().endswith(f"\n{last}"))


def share(some: list[Turn]) -> str:
    """Write of how many turns the last words stay."""
    stay, there = sum(turn.stays for turn in some), len(some)
    low, high = wilson(stay, there)
    return f"{stay}/{there} {stay / max(there, 1):.1%} [{100 * low:.0f}–{100 * high:.0f}]"


def main() -> None:
    """Clear all rows and print what stays."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", type=int, default=0, help="how many turns that went wrong to print")
    options = parser.parse_args()
    turns = list(cleared(rows()))
    for aside in (False, True):
        some = [turn for turn in turns if turn.row["aside"] is aside]
        people, nobody = (share([turn for turn in some if (turn.said is None) is none]) for none in (False, True))
        print(f"{'aside' if aside else 'seen ':<5} a person's words stay {people}, nobody's {nobody}")
    wrong = [turn for turn in turns if turn.stays is (turn.said is None) and not turn.row["aside"]]
    for turn in wrong[: options.list]:
        print(f"{turn.row['id']} ({turn.row['kind']}): {turn.said or 'what was printed'}")


if __name__ == "__main__":
    main()
