"""Measure how much less CPU a whole run takes than the naive way of the same job.

    python scripts/bench_run.py --tokenizer path/to/tokenizer --rows 760 --pairs 3 --no-calls --fail-under 8
    python scripts/bench_run.py --tokenizer path/to/tokenizer --guards off --fail-under 25
    python scripts/bench_run.py --tokenizer path/to/tokenizer --pairs 0 --check cost memory calls

The corpus is made of the trajectories in ``data/``. The real command runs on it as a process of its own, in turn with
the naive way: against a server of no latency on this machine, or with ``--no-calls`` with the built-in summariser,
where the naive way writes the same words each time. Figures are CPU of the whole process, and ratios the medians of
the pairs: seconds depend on the machine, and on what else it does. A ratio per row is one without what the same
process costs on six rows. Where the time goes a sampling profiler says, such as ``py-spy``.

``--guards on`` is the default of the command: the chat template, verification, facts, redaction. ``off`` counts the
turns alone (``--count content``), redacts nothing (``--redact off``) and looks up no facts (``--no-facts``).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.checks import CHECKS
from bench.corpus import FEW_ROWS, write_corpus
from bench.processes import COMMAND, Cost, loopback, measure

BENCH = Path(__file__).with_name("bench")
GUARDS = {"on": [], "off": ["--count", "content", "--redact", "off", "--no-facts"]}


def main() -> int:
    """Parse the options, measure, print; return 1 where something misses what was asked for."""
    options = _options()
    common = ["--tokenizer", options.tokenizer, "--quiet", "--overwrite", *options.options]
    missed = []
    with tempfile.TemporaryDirectory(prefix="bench-run-") as name, loopback() as url:
        folder = Path(name)
        corpus = write_corpus(_made(folder / "many"), options.rows)
        size = sum(path.stat().st_size for path in corpus)
        print(f"{options.rows} rows, {size / 1e6:.1f} MB, {options.tokenizer}, guards {options.guards}")
        guards = [*GUARDS[options.guards], *common]
        if options.pairs:
            few = write_corpus(_made(folder / "few"), FEW_ROWS)
            naive = ["--tokenizer", options.tokenizer, *(["--base-url", url] if options.calls else [])]
            calls = ["--model", "loopback", "--base-url", url] if options.calls else []
            ours = [*guards, *calls, "--output-format", "jsonl", "--num-workers", "1"]
            ratio = _compare(folder, (corpus, few), naive, ours, options.pairs)
            if options.fail_under is not None and ratio < options.fail_under:
                missed.append(f"{ratio:.1f}x is under {options.fail_under:g}x")
        for check in options.check:
            missed += CHECKS[check](_made(folder / check), options.tokenizer, options.sizes)
    print(*(f"MISSED: {text}" for text in missed), sep="\n")
    return 1 if missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measure a whole run against the naive way.",
        epilog="Options after -- go to the command: -- --output-format jsonl",
    )
    parser.add_argument("--tokenizer", metavar="NAME_OR_DIR", required=True)
    parser.add_argument("--rows", type=int, default=400, help="rows of the corpus (default: 400)")
    parser.add_argument("--pairs", type=int, default=5, help="runs of either way; 0 compares nothing (default: 5)")
    parser.add_argument("--guards", choices=tuple(GUARDS), default="on")
    parser.add_argument("--fail-under", type=float, metavar="RATIO", help="least ratio of CPU to the naive way")
    parser.add_argument("--no-calls", dest="calls", action="store_false", help="use the built-in summariser")
    parser.add_argument("--check", nargs="+", choices=tuple(CHECKS), default=[], help="measure these too")
    parser.add_argument("--sizes", type=int, nargs="+", default=[250, 2000], metavar="N", help="rows, for checks")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="for trajcompress compress")
    options = parser.parse_args()
    if options.rows <= FEW_ROWS or options.pairs < 0 or min(options.sizes) < 1:
        parser.error(f"--rows must be more than {FEW_ROWS}, --pairs and --sizes not negative")
    return options


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _compare(
    folder: Path, corpora: Sequence[Sequence[Path]], naive: Sequence[str], ours: Sequence[str], pairs: int
) -> float:
    """Run both ways in turn, print the medians, and return the ratio of CPU."""
    ways: tuple[list[str | Path], ...] = (
        [sys.executable, BENCH / "naive.py", "--output", folder / "naive.jsonl", *naive],
        [*COMMAND, "compress", "-o", folder / "out", *ours],
    )
    costs = [[measure([*way, *inputs]) for inputs in corpora for way in ways] for _ in range(pairs)]
    cpu = median(naive.cpu / ours.cpu for naive, ours, *_ in costs)
    wall = median(naive.wall / ours.wall for naive, ours, *_ in costs)
    by_row = median((naive.cpu - none.cpu) / (ours.cpu - nothing.cpu) for naive, ours, none, nothing in costs)
    print(f"\n{'naive / ours':14}{'ratio':>8}{'naive s':>9}{'ours s':>9}   medians of {pairs} pairs")
    for title, ratio, way in (("CPU", cpu, "cpu"), ("wall", wall, "wall")):
        print(f"{title:14}{ratio:7.1f}x{_median_of(costs, 0, way):9.1f}{_median_of(costs, 1, way):9.1f}")
    print(f"{'CPU per row':14}{by_row:7.1f}x")
    print(f"{f'CPU of {FEW_ROWS} rows':14}{'':8}{_median_of(costs, 2, 'cpu'):9.1f}{_median_of(costs, 3, 'cpu'):9.1f}")
    return cpu


def _median_of(costs: Sequence[Sequence[Cost]], which: int, figure: str) -> float:
    return float(median(getattr(pair[which], figure) for pair in costs))


if __name__ == "__main__":
    sys.exit(main())
