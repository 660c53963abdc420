"""Measure whether the line of a cleared result tells what one would have written down.

    python scripts/eval_lines.py [--extra "--set key=value"] [--list N] [--json FILE]

Nothing of trajcompress is imported. Each line of ``truth/told/*.jsonl`` is a result in the form that a real program
prints, written by somebody who did not know how lines are made, with what ought to stand in one line of about 150
characters (of a failure 240): ``must`` is a list of groups of which one alternative each has to stand there word for
word, spaces apart; of ``must_not`` none may. ``next`` are the agent's turns behind it, if any. Each result
is put into a row of its own, and cleared there by the command line itself.

Half of the results, by a hash of their ids, are kept aside: their lines are not shown, and no rule is to be made from
them. ``rows``: results with all that must be there; ``groups``: of all groups. The baselines have as much room as our
line: the first and the last characters of the result, and its last line that tells something.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from truth.tally import wilson

TOLD = Path(__file__).parent / "truth" / "told"
CONFIG = "processing:\n  skip_under_target: false\ncompression:\n  prune: all\n"  # clears whether the row fits or not
BEFORE, BEHIND = 2, 8  # short results around it, as the first and the last stay whole
BASELINES = ("first", "last", "last line")

Item = Mapping[str, Any]


def items() -> Iterator[tuple[str, Item]]:
    """Yield all results with the name of their file."""
    for file in sorted(TOLD.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield file.stem, json.loads(line)


def is_aside(item: Item) -> bool:
    """Whether a result is kept aside."""
    return hashlib.sha256(item["id"].encode()).digest()[0] % 2 == 1


def row_of(item: Item) -> dict[str, Any]:
    """Make a row of a result, with others around it."""
    notes = [  # without a figure, which a result may have, too
        ("", {"name": "note", "arguments": {"letter": letter}}, f"Noted as {letter}.")
        for letter in ascii_lowercase[: BEFORE + BEHIND]
    ]
    taken_up = [(turn["say"], turn.get("call") or notes[-1][1], "ok") for turn in item.get("next", ())]
    steps = [*notes[:BEFORE], ("", item["call"], item["result"]), *taken_up, *notes[BEFORE:]]
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go on with the work."}]
    for n, (said, call, result) in enumerate(steps):
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)}
        called = {"id": f"call_{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": said, "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "content": result})
    return {"id": item["id"], "messages": [*messages, {"role": "assistant", "content": "Done."}]}


def lines_of(rows: list[dict[str, Any]], extra: str) -> dict[str, str]:
    """Run the command line on rows; return by id what stands in the place of each first result."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "rows.jsonl"), Path(folder, "out")
        source.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        command = [sys.executable, "-m", "trajcompress", "compress", str(source), "--output", str(out), "--quiet"]
        Path(folder, "config.yaml").write_text(CONFIG, "utf-8")
        command += ["--config", f"{folder}/config.yaml", "--output-format", "jsonl", *shlex.split(extra)]
        subprocess.run(command, check=True)
        written = [json.loads(line) for file in out.glob("data/*.jsonl") for line in file.open(encoding="utf-8")]
    results = {row["id"]: [each["content"] for each in row["messages"] if each["role"] == "tool"] for row in written}
    return {row: texts[BEFORE] for row, texts in results.items()}


def plain(text: str) -> str:
    """Give a text with single spaces."""
    return " ".join(text.split())


def judge(item: Item, line: str) -> tuple[list[list[str]], list[str]]:
    """Return the groups that a line does not tell, and what it must not say but does."""
    said = plain(line)
    missing = [group for group in item["must"] if not any(plain(each) in said for each in group)]
    return missing, [each for each in item.get("must_not", ()) if plain(each) in said]


def baseline(name: str, result: str, room: int) -> str:
    """Return what a baseline says of a result."""
    said = plain(result)
    if name == "last line":
        return next((line for line in reversed(result.splitlines()) if any(map(str.isalnum, line))), "")[:room]
    return said[:room] if name == "first" else said[-room:]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--extra", default="", help="options for the command line")
    parser.add_argument("--list", type=int, default=0, help="how many lines that do not tell enough to print")
    parser.add_argument("--json", type=Path, help="write lines and what they lack to a file")
    asked = parser.parse_args()
    every = list(items())
    lines = lines_of([row_of(item) for _, item in every], asked.extra)
    held: dict[tuple[str, str, str], list[bool]] = {}
    listed = []
    for file, item in every:
        half = "aside" if is_aside(item) else "seen"
        line, result = lines[item["id"]], item["result"]
        told = line if plain(line) != plain(result) else ""  # it was not cleared, which tells nothing of lines
        for name in ("line", *BASELINES):
            missing, wrong = judge(item, told if name == "line" else baseline(name, result, len(line)))
            held.setdefault((file, half, f"{name}: rows"), []).append(not missing and not wrong)
            for group in item["must"]:
                held.setdefault((file, half, f"{name}: groups"), []).append(group not in missing)
            if name == "line" and (missing or wrong):
                listed.append(
                    {"file": file, "half": half, "id": item["id"], "line": line, "missing": missing, "wrong": wrong}
                )
    for (file, half, name), each in sorted(held.items()):
        low, high = wilson(sum(each), len(each))
        share = f"{sum(each)}/{len(each)} {100 * sum(each) / len(each):.1f}% [{100 * low:.0f}–{100 * high:.0f}]"
        print(f"{file:10s} {half:6s} {name:20s} {share}")
    for less in [less for less in listed if less["half"] == "seen"][: asked.list]:
        print(f"[{less['id']}] {less['line']}\n    lacks {less['missing']} says {less['wrong']}")
    if asked.json:
        asked.json.write_text(json.dumps(listed, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
