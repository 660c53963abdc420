"""Measure what pruning first saves: rows that fit without a summary, and assistant tokens that stay.

    python scripts/eval_prune.py path/to/data --tokenizer path/to/tokenizer --target 8000

Both ways plan the same greedy region for a summary of the given size; one prunes before that, no more than needed.
No summary is written. Columns: rows over the target, those in which something can be pruned, those that pruning alone
makes fit; tokens of assistant turns in the rows over the target, and how many are lost without and with pruning.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import RowError, TrajcompressError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.plan import Keep, Protection, lay_out, plan_region
from trajcompress.prune import prune_steps, prune_until
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.trajectory import Region, Trajectory, Turn

DATA = Path(__file__).resolve().parents[1] / "data"


def main() -> None:
    """Parse the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure what pruning first saves.")
    parser.add_argument("inputs", nargs="*", default=[str(DATA)], help="files or folders (default: data/)")
    parser.add_argument("--tokenizer", metavar="NAME_OR_DIR", help="default: the built-in one")
    parser.add_argument("--target", type=int, default=8000, help="tokens a row may have (default: 8000)")
    parser.add_argument("--summary", type=int, default=750, help="tokens of a summary (default: 750)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    try:
        tokenizer = load_tokenizer(options.tokenizer)
        measure = Measure(TokenCounter(tokenizer), options.target, options.summary)
        totals = {name: measure.total(rows) for name, rows in _read(options.inputs)}
    except TrajcompressError as error:
        parser.error(str(error))
    tokenizer.close()
    totals["all"] = sum(totals.values(), Counter())
    if options.json:
        print(json.dumps(totals, indent=2))
    else:
        _print(totals)


class Measure:
    """Measures rows over a target: tokens per row, with summaries of a fixed size."""

    def __init__(self, counter: TokenCounter, target: int, summary: int) -> None:
        self._counter = counter
        self._target = target
        self._summary = summary

    def total(self, rows: Iterator[Trajectory]) -> Counter[str]:
        """Add up the rows that are over the target."""
        total: Counter[str] = Counter()
        for row in rows:
            if not self._fits(row, row.turns):
                total += self._row(row)
        return total

    def _row(self, row: Trajectory) -> Counter[str]:
        middle = lay_out(row.turns, Protection()).middle
        steps = list(prune_steps(row.turns, middle))
        pruned = prune_until(row.turns, steps, lambda turns: self._fits(row, turns))
        before = _assistant(row.turns, self._counter.count_turns(row.turns))
        fits = self._fits(row, pruned.turns)
        plain, plain_fits = self._kept(row, row.turns)
        kept, kept_fits = self._kept(row, pruned.turns)
        figures = Counter({"over": 1, "prunable": bool(steps), "fit": fits, "assistant": before})
        figures += Counter({"lost": before - plain, "lost pruned": before - kept})
        if steps and plain_fits and kept_fits:
            figures += Counter({"lost*": before - plain, "lost pruned*": before - kept})
        return figures

    def _fits(self, row: Trajectory, turns: tuple[Turn, ...]) -> bool:
        return self._counter.count(replace(row, turns=turns)).tokens <= self._target

    def _kept(self, row: Trajectory, turns: tuple[Turn, ...]) -> tuple[int, bool]:
        """Return the assistant tokens that stay once the row is summarised, and whether it fits then."""
        sizes = self._counter.count_turns(turns)
        excess = self._counter.count(replace(row, turns=turns)).tokens - self._target
        if excess <= 0:
            return _assistant(turns, sizes), True
        plan = plan_region(sizes, lay_out(turns, Protection()), excess, self._summary)
        if isinstance(plan, Keep):
            return _assistant(turns, sizes), False
        return _assistant(turns, sizes, plan.region), plan.tokens - self._summary >= excess


def _assistant(turns: tuple[Turn, ...], sizes: list[int], gone: Region | None = None) -> int:
    """Add up the assistant turns that are not in the region."""
    left = [index for index in range(len(turns)) if gone is None or not gone.start <= index < gone.end]
    return sum(sizes[index] for index in left if turns[index].role == "assistant")


def _read(inputs: list[str]) -> Iterator[tuple[str, Iterator[Trajectory]]]:
    for source in find_sources(inputs):
        rows = (row.value for row in read_rows(source) if isinstance(row, Row))
        yield source.stem, (trajectory for row in rows for trajectory in _trajectories(row))


def _trajectories(row: dict[str, object]) -> list[Trajectory]:
    try:
        return [read_trajectory(row, "", FormatOptions())]
    except RowError:
        return []


def _print(totals: dict[str, Counter[str]]) -> None:
    columns = ("over", "prunable", "fit", "assistant", "lost", "lost pruned", "lost*", "lost pruned*")
    print(f"{'':28}" + "".join(f"{column:>13}" for column in columns))
    for name, figures in totals.items():
        if figures["over"]:
            print(f"{name:28.28}" + "".join(f"{figures[column]:13,}" for column in columns))
    print("* rows with something to prune that fit in the end, both ways")


if __name__ == "__main__":
    main()
