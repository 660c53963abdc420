"""What bench_run.py measures on request. Each check prints its figures and returns what misses its mark."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench.corpus import DATA, FEW_ROWS, write_corpus
from bench.processes import COMMAND, Cost, loopback, measure

_SHORT = 6_000  # tokens: the largest rows of checks that are about how many rows there are
_TARGET = 4_000  # most of them are over it
_MOST_GROWTH = 1.10  # of peak memory, from a number of rows to eight times as many
_MOST_SLOPE = 1.15  # of the cost of a row, from few rows to many
_LEAST_CALLS = 200  # summaries a second
_LATENCY_S = 0.5
_AT_ONCE = 256
_PAIRS = 9
_MANY = 400  # rows
_LEAST_BROUGHT = 0.10  # of a whole run, for code of ours that does what a library does


def check_cost(folder: Path, tokenizer: str, sizes: Sequence[int]) -> list[str]:
    """Cost per row at several sizes, without what a run of few rows costs."""
    start = _run(folder, tokenizer, FEW_ROWS).cpu
    costs = []
    print(f"\n{'rows':>8}{'CPU s':>9}{'ms/row':>9}{'peak MB':>9}")
    for rows in sizes:
        cost = _run(folder, tokenizer, rows)
        costs.append((cost.cpu - start) / (rows - FEW_ROWS))
        print(f"{rows:8,}{cost.cpu:9.1f}{1e3 * costs[-1]:9.2f}{cost.peak / 1e6:9.0f}", flush=True)
    slope = costs[-1] / costs[0]
    return [f"a row costs {slope:.2f} times as much among more"] if slope > _MOST_SLOPE else []


def check_memory(folder: Path, tokenizer: str, sizes: Sequence[int]) -> list[str]:
    """Peak memory at the largest size and at eight times as many rows."""
    rows = max(sizes)
    one, eight = (_run(folder, tokenizer, count).peak for count in (rows, 8 * rows))
    growth = eight / one
    print(f"\npeak memory: {one / 1e6:.0f} MB at {rows:,} rows, {eight / 1e6:.0f} MB at {8 * rows:,}: {growth:.2f}x")
    return [f"peak memory grows {growth:.2f}x"] if growth > _MOST_GROWTH else []


def check_calls(folder: Path, tokenizer: str, sizes: Sequence[int]) -> list[str]:
    """Summaries a second with many calls under way, each answered after half a second."""
    rows = max(sizes)
    with loopback(_LATENCY_S) as url:
        more = ["--model", "loopback", "--base-url", url, "--max-concurrent-requests", str(_AT_ONCE)]
        more += ["--max-in-flight", str(4 * _AT_ONCE)]
        start, whole = (_run(folder, tokenizer, count, more) for count in (FEW_ROWS, rows))
    totals = json.loads((folder / "out" / "summary.json").read_text())
    calls = totals["summarization_api_calls"]
    by_wall, by_cpu = calls / whole.wall, calls / (whole.cpu - start.cpu)
    print(f"\n{calls:,} summaries: {by_wall:.0f} a second, the start included; {by_cpu:.0f} for each second of CPU")
    return [f"{by_cpu:.0f} summaries for a second of CPU"] if by_cpu < _LEAST_CALLS else []


def check_import(folder: Path, tokenizer: str, sizes: Sequence[int]) -> list[str]:  # noqa: ARG001 - as all checks
    """What ``quick_import`` brings to the main job on ``data/``: CPU with it and without it, in turn."""
    job: list[str | Path] = ["compress", DATA, "-o", folder / "out", "--quiet", "--overwrite"]
    return _brought("quick_import", "plain_import.py", job)


def check_templates(folder: Path, tokenizer: str, sizes: Sequence[int]) -> list[str]:
    """What ``quick_template`` brings to a whole run: CPU with it and without it, in turn."""
    corpus = write_corpus(folder, min(_MANY, max(sizes)))
    options = ["--tokenizer", tokenizer, "--quiet", "--overwrite"]
    return _brought("quick_template", "plain_templates.py", ["compress", *corpus, "-o", folder / "out", *options])


def _brought(name: str, without: str, job: Sequence[str | Path]) -> list[str]:
    """Run a job with code of ours and, by the script ``without``, without it."""
    plain: list[str | Path] = [sys.executable, Path(__file__).with_name(without)]
    pairs = [(measure([*COMMAND, *job]).cpu, measure([*plain, *job]).cpu) for _ in range(_PAIRS)]
    ours, theirs = zip(*pairs, strict=True)
    brought = median(without_it / with_it - 1 for with_it, without_it in pairs)
    print(f"\n{_PAIRS} pairs{'least':>30}{'median':>10}")
    for title, costs in ((name, ours), (f"without {name}", theirs)):
        print(f"{title:27}{min(costs):10.2f} s{median(costs):8.2f} s")
    print(f"without it a run costs {brought:.1%} more, the median of the pairs")
    return [f"without {name} a run costs {brought:.1%} more"] if brought < _LEAST_BROUGHT else []


def _run(folder: Path, tokenizer: str, rows: int, more: Sequence[str] = ()) -> Cost:
    corpus = write_corpus(folder, rows, largest=_SHORT)
    options = ["--tokenizer", tokenizer, "--target-max-tokens", str(_TARGET), "--quiet", "--overwrite", *more]
    return measure([*COMMAND, "compress", *corpus, "-o", folder / "out", *options])


CHECKS: dict[str, Callable[[Path, str, Sequence[int]], list[str]]] = {
    "cost": check_cost,
    "memory": check_memory,
    "calls": check_calls,
    "import": check_import,
    "templates": check_templates,
}
