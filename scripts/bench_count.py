"""Measure counting against the naive loop, ``len(tokenizer.encode(turn))`` turn by turn.

    python scripts/bench_count.py --tokenizer path/to/tokenizer path/to/data --fail-under 60

Each way takes its turn in each round, in one process, and all count the same texts. The ratio is the median over the
rounds. Ends with 1 where any count is unequal, or the engine is slower than asked for.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TypeAlias

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import RowError, TrajcompressError
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import turn_text
from trajcompress.tokens.engines import Engine, ReferenceEngine
from trajcompress.tokens.tokenizer import LoadedTokenizer, load_tokenizer

DATA = Path(__file__).resolve().parents[1] / "data"

Texts: TypeAlias = list[list[str]]  # the texts of the turns of each trajectory
Counts: TypeAlias = list[list[int]]


def main() -> int:
    """Parse the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure counting against the naive loop.")
    parser.add_argument("inputs", nargs="*", default=[str(DATA)], help="files or folders (default: data/)")
    parser.add_argument("--tokenizer", metavar="NAME_OR_DIR", help="default: the built-in one")
    parser.add_argument("--rounds", type=int, default=3, help="how often each way is measured (default: 3)")
    parser.add_argument("--mb", type=float, default=4.0, help="about how much text to count (default: 4 MB)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="threads, and processes if need be")
    parser.add_argument(
        "--fail-under", type=float, metavar="RATIO", help="least ratio of the engine to the naive loop"
    )
    options = parser.parse_args()
    if options.rounds < 1 or options.workers < 1 or options.mb <= 0:
        parser.error("--rounds, --workers and --mb must be positive")
    try:
        texts = read_texts(options.inputs, options.mb)
        tokenizer = load_tokenizer(options.tokenizer, workers=options.workers)
    except TrajcompressError as error:
        parser.error(str(error))
    if not texts:
        parser.error("no trajectory in the input")
    try:
        ratio, equal = measure(tokenizer, texts, options.rounds, options.workers)
    finally:
        tokenizer.close()
    if not equal:
        print("UNEQUAL COUNTS")
    too_slow = options.fail_under is not None and ratio < options.fail_under
    if too_slow:
        print(f"{ratio:.1f}x is under {options.fail_under:g}x")
    return 1 if too_slow or not equal else 0


def read_texts(inputs: list[str], mb: float) -> Texts:
    """Read the turns of whole trajectories, taken evenly from the input, of about so many megabytes."""
    trajectories: Texts = []
    for source in find_sources(inputs):
        for row in read_rows(source):
            if isinstance(row, Row):
                try:
                    trajectory = read_trajectory(row.value, f"{source.stem}:{row.index}", FormatOptions())
                except RowError:
                    continue
                trajectories.append([turn_text(turn) for turn in trajectory.turns])
    step = max(1, round(megabytes(trajectories) / mb))
    return list(islice(trajectories, 0, None, step))


def megabytes(texts: Texts) -> float:
    """Return the size of the texts in UTF-8."""
    return sum(len(text.encode()) for turns in texts for text in turns) / 1e6


def measure(tokenizer: LoadedTokenizer, texts: Texts, rounds: int, workers: int) -> tuple[float, bool]:
    """Print a table; return the best ratio of the engine, and whether all counts are equal."""
    reference = ReferenceEngine(tokenizer.hf.backend_tokenizer)
    size = megabytes(texts)
    turns = sum(map(len, texts))
    print(f"{tokenizer.name}: {size:.2f} MB, {len(texts)} trajectories, {turns} turns, {rounds} rounds")
    with ThreadPoolExecutor(workers) as threads:
        engine = type(tokenizer.engine).__name__
        ways: dict[str, Callable[[Texts], Counts]] = {
            "naive, turn by turn": lambda texts: naive(tokenizer, texts),
            "ReferenceEngine": lambda texts: by_trajectory(reference, texts),
            engine: lambda texts: by_trajectory(tokenizer.engine, texts),
            f"{engine}, {workers} threads": lambda texts: list(threads.map(tokenizer.engine.count, texts)),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        naive(tokenizer, texts)  # warms the caches of the tokenizer itself
        equal = True
        for number in range(rounds):
            for way_number, (way, count) in enumerate(ways.items()):
                mark = f"{number}.{way_number} "  # what an earlier count remembers must not help this one
                marked = [[mark + text for text in turns] for turns in texts]
                began = time.perf_counter()
                counts = count(marked)
                seconds[way].append(time.perf_counter() - began)
                equal = equal and counts == naive(tokenizer, marked)
    base = seconds["naive, turn by turn"]
    ratios = {way: median(b / s for b, s in zip(base, spent, strict=True)) for way, spent in seconds.items()}
    print(f"{'':32}{'MB/s':>10}{'x naive':>10}")
    for way, spent in seconds.items():
        print(f"{way:32}{size / median(spent):10.2f}{ratios[way]:10.1f}")
    return max(ratios[engine], ratios[f"{engine}, {workers} threads"]), equal


def naive(tokenizer: LoadedTokenizer, texts: Texts) -> Counts:
    """Count the obvious way."""
    return [[len(tokenizer.hf.encode(text, add_special_tokens=False)) for text in turns] for turns in texts]


def by_trajectory(engine: Engine, texts: Texts) -> Counts:
    """Count with one call for each trajectory."""
    return [engine.count(turns) for turns in texts]


if __name__ == "__main__":
    sys.exit(main())
