"""Measure a run with --mode segments, from its input and output alone: nothing of trajcompress is imported.

    python scripts/eval_segments.py RUN_DIR... --tokenizer DIR [--inputs DIR] [--list N]

Only rows count that are over the target, by transformers' own count of the row as it was read. The segments of a row
are those with its ``trajectory_id``-th group in the dataset: ``segment`` 1 to ``segments``, one after the other.

``once``: share of the assistant's tokens whose turn stands in exactly one segment, word for word and with its calls,
and that segment is not over. ``repeated``: turns of the assistant that stand more often than in the input, unless a
key of their message leaves them out of the loss. ``order``: rows whose assistant turns are in the order of the input.
``sees``: assistant turns that begin a stretch, of which the words of the turn right before them in the input stand in
front of them in the segment (where that turn is another assistant's there is nothing to be seen).
``tokens out``: tokens of all segments by tokens of the rows. ``over``: segments over the target, each named.
``summaries``: segments behind the first that hold a summary; it should be all of them, and no first one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from truth import rows
from truth.sizes import Sizes

PREFIX = "[CONTEXT SUMMARY]:"
ASSISTANT = ("assistant", "gpt", "function_call", "bot", "model", "ai")
LEFT_OUT = ({"train": False}, {"weight": 0}, {"loss_mask": 0})
SEEN = 0.9  # of the words of an observation: one that is too long is cut


@dataclass
class Figures:
    """What was found over all rows."""

    rows: int = 0
    segments: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    assistant: int = 0
    once: int = 0
    repeated: int = 0
    disordered: int = 0
    begins: int = 0
    sees: int = 0
    summaries: Counter[str] = field(default_factory=Counter)
    over: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The figures in words."""
        yield f"rows over the target        {self.rows}"
        yield f"segments                    {self.segments}"
        yield f"assistant tokens once       {_share(self.once, self.assistant)}"
        yield f"assistant turns repeated    {self.repeated}"
        yield f"rows out of order           {self.disordered}"
        yield f"first turns that see        {_share(self.sees, self.begins)}"
        yield f"tokens out / in             {self.tokens_out / max(self.tokens_in, 1):.3f}"
        yield f"segments over               {len(self.over)}"
        yield f"summaries                   {dict(self.summaries)}"


def main() -> int:
    """Measure runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--tokenizer", required=True, type=Path)
    parser.add_argument("--inputs", type=Path, help="folder of the input files, where they moved")
    parser.add_argument("--list", type=int, default=0, metavar="N", help="print so many of what speaks against it")
    asked = parser.parse_args()
    sizes = Sizes(asked.tokenizer)
    for run in asked.runs:
        settings = json.loads((run / "run.json").read_text(encoding="utf-8"))["settings"]
        target = settings["compression.target_max_tokens"]
        figures = measure(run, target, sizes, asked.inputs)
        print(f"\n== {run.name}, target {target}")
        print("\n".join(figures.lines()))
        for title, found in (("over", figures.over), ("missing", figures.missing), ("blind", figures.blind)):
            print(*(f"  {title}: {each}" for each in found[: asked.list]), sep="\n", end="\n" if found else "")
    return 0


def measure(run: Path, target: int, sizes: Sizes, inputs: Path | None = None) -> Figures:
    """All figures of a run."""
    figures = Figures()
    for name, before, segments in _groups(run, inputs):
        if sizes.row(before) > target:
            _measure_row(figures, name, before, segments, target, sizes=sizes)
    return figures


def _groups(run: Path, inputs: Path | None) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Each row of the metrics with its row of the input, and those of the dataset that it became."""
    written: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for part in sorted((run / "data").iterdir()):
        named = rows.PART.match(part.name.split(".")[0])
        if named:
            written[named["stem"]] += rows.read(part)
    read: dict[str, list[dict[str, Any]]] = {}
    taken: Counter[str] = Counter()
    for metrics in rows.read(run / "metrics.parquet"):
        file = Path(metrics["source_file"])
        stem = file.name.split(".")[0]
        if metrics["source_file"] not in read:
            read[metrics["source_file"]] = rows.read(inputs / file.name if inputs else file)
        count = metrics["rows_written"]
        segments = written[stem][taken[stem] : taken[stem] + count]
        taken[stem] += count
        yield f"{stem}#{metrics['source_row']}", read[metrics["source_file"]][metrics["source_row"]], segments


def _measure_row(
    figures: Figures, name: str, before: dict[str, Any], segments: list[dict[str, Any]], target: int, *, sizes: Sizes
) -> None:
    figures.rows += 1
    figures.segments += len(segments)
    figures.tokens_in += sizes.row(before)
    turns = rows.messages(before)
    said = [_key(turn) for turn in turns if _is_assistant(turn)]
    weight = {_key(turn): sizes.text(rows.text(turn) + _calls(turn)) for turn in turns if _is_assistant(turn)}
    figures.assistant += sum(weight[key] for key in said)
    stood: Counter[str] = Counter()
    good: Counter[str] = Counter()
    order: list[str] = []
    for number, segment in enumerate(segments, 1):
        size = sizes.row(segment)
        figures.tokens_out += size
        if size > target:
            figures.over.append(f"{name} segment {number} of {len(segments)}: {size}")
        found = rows.messages(segment)
        has_summary = any(PREFIX in rows.text(turn) for turn in found if not _is_assistant(turn))
        figures.summaries["first" if number == 1 and has_summary else "later" if has_summary else "none"] += 1
        trained = [(at, turn) for at, turn in enumerate(found) if _is_assistant(turn) and not _left_out(turn)]
        keys = [_key(turn) for _, turn in trained]
        stood.update(keys)
        order += keys
        if size <= target:
            good.update(keys)
        if number > 1 and trained:
            _look(figures, f"{name} segment {number}", turns, found[: trained[0][0]], len(order) - len(keys))
    wanted = Counter(said)
    figures.repeated += sum(max(0, stood[key] - wanted[key]) for key in stood)
    figures.once += sum(weight[key] * min(good[key], wanted[key]) for key in wanted)
    figures.missing += [f"{name}: {key[:80]!r}, {weight[key]} tokens" for key in wanted if good[key] < wanted[key]]
    figures.disordered += len(order) == len(said) and order != said


def _look(figures: Figures, name: str, turns: list[dict[str, Any]], front: list[dict[str, Any]], before: int) -> None:
    """Look whether the first assistant turn of a stretch, with so many before it, has in front what it answers."""
    places = [at for at, turn in enumerate(turns) if _is_assistant(turn)]
    if before >= len(places) or not places[before]:
        return
    answered = turns[places[before] - 1]
    if _is_assistant(answered):
        return
    figures.begins += 1
    words = rows.text(answered).split()
    shown = set(" ".join(rows.text(turn) for turn in front).split())
    if sum(word in shown for word in words) >= SEEN * len(words) or "characters" in shown:
        figures.sees += 1
    else:
        figures.blind.append(f"{name}: {rows.text(answered)[:80]!r}")


def _is_assistant(turn: dict[str, Any]) -> bool:
    role = rows.role(turn)
    return role in ASSISTANT or role.startswith("Orchestrator")


def _left_out(turn: dict[str, Any]) -> bool:
    return any(turn.get(key) == value for mark in LEFT_OUT for key, value in mark.items() if key in turn)


def _calls(turn: dict[str, Any]) -> str:
    return "".join(f"\n{name} {arguments}" for _, name, arguments in rows.calls(turn))


def _key(turn: dict[str, Any]) -> str:
    return rows.text(turn) + _calls(turn)


def _share(hits: int, of: int) -> str:
    return f"{hits:,} of {of:,} ({hits / of:.2%})" if of else "none"


if __name__ == "__main__":
    sys.exit(main())
