"""Measure how many of the facts that the kept turns need survive in the built-in summariser's summaries.

    python scripts/eval_facts.py --tokenizer path/to/tokenizer --target 8000 path/to/data --fail-under 99

Every row over the target is planned once and summarised twice: without and with the facts in the request. The table
has, for each file, the rows compressed, the facts needed, and the share kept either way. Ends with 1 where the share
with them is under what was asked for, or a summary is over its budget.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row, Source
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import RowError, TrajcompressError, UncountableTextError
from trajcompress.facts import facts_kept, facts_needed
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.plan import Compress, Protection, lay_out, plan_region
from trajcompress.summarize.base import SummaryRequest
from trajcompress.summarize.extractive import extract
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.trajectory import Trajectory

DATA = Path(__file__).resolve().parents[1] / "data"


@dataclass(slots=True)
class Tally:
    """Sums over the rows of a file."""

    rows: int = 0
    rows_without: int = 0  # rows that need no facts
    needed: int = 0
    kept_before: int = 0
    kept: int = 0
    over: int = 0  # summaries over their budget

    def add(self, other: Tally) -> None:
        """Add another file's sums to these."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def line(self, name: str) -> str:
        """Write a line of the table."""
        each = self.needed / self.rows if self.rows else 0
        before, after = self.share(self.kept_before), self.share(self.kept)
        return f"{name:32}{self.rows:6}{self.rows_without:8}{self.needed:8}{each:9.1f}{before:10.1f}%{after:8.1f}%"

    def share(self, kept: int) -> float:
        """Return the share of the facts needed, in per cent."""
        return 100 * kept / self.needed if self.needed else 100.0


def main() -> int:
    """Parse the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure how many of the facts needed later survive.")
    parser.add_argument("inputs", nargs="*", default=[str(DATA)], help="files or folders (default: data/)")
    parser.add_argument("--tokenizer", metavar="NAME_OR_DIR", help="default: the built-in one")
    parser.add_argument("--target", type=int, default=15250, help="tokens of a row (default: 15250)")
    parser.add_argument("--summary-tokens", type=int, default=750, help="tokens of a summary (default: 750)")
    parser.add_argument("--fail-under", type=float, metavar="PERCENT", help="least share of the facts kept")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the facts of the first N rows")
    options = parser.parse_args()
    try:
        counter = TokenCounter(load_tokenizer(options.tokenizer))
        sources = find_sources(options.inputs)
    except TrajcompressError as error:
        parser.error(str(error))
    print(f"{'':32}{'rows':>6}{'without':>8}{'facts':>8}{'per row':>9}{'before':>11}{'kept':>9}")
    total, shown = Tally(), options.show
    for source in sources:
        tally = Tally()
        for request, name in requests(source, counter, options.target, options.summary_tokens):
            if shown:
                print(f"  {name}: {' · '.join(request.facts)}")
                shown -= 1
            measure(request, tally)
        if tally.rows:
            print(tally.line(source.stem))
            total.add(tally)
    print(total.line("all"))
    if total.over:
        print(f"{total.over} SUMMARIES OVER THEIR BUDGET")
    too_few = options.fail_under is not None and total.share(total.kept) < options.fail_under
    return 1 if too_few or total.over else 0


def requests(
    source: Source, counter: TokenCounter, target: int, summary_tokens: int
) -> Iterator[tuple[SummaryRequest, str]]:
    """Plan the rows over the target; yield what to summarise, with the facts needed, and the row's name."""
    for row in read_rows(source):
        if not isinstance(row, Row):
            continue
        name = f"{source.stem}:{row.index}"
        try:
            trajectory = read_trajectory(row.value, name, FormatOptions())
            plan = plan_of(trajectory, counter, target, summary_tokens)
        except (RowError, UncountableTextError):
            continue
        if plan is not None:
            head, tail = trajectory.turns[: plan.region.start], trajectory.turns[plan.region.end :]
            region = trajectory.turns[plan.region.start : plan.region.end]
            facts = facts_needed(head, region, tail)
            yield SummaryRequest(name, head, region, summary_tokens, counter.count_text, facts=facts), name


def plan_of(trajectory: Trajectory, counter: TokenCounter, target: int, summary_tokens: int) -> Compress | None:
    """Plan a row; None where there is nothing to compress."""
    count = counter.count(trajectory)
    if count.tokens <= target:
        return None
    sizes = count.by_turn or counter.count_turns(trajectory.turns)
    plan = plan_region(sizes, lay_out(trajectory.turns, Protection()), count.tokens - target, summary_tokens)
    return plan if isinstance(plan, Compress) else None


def measure(request: SummaryRequest, tally: Tally) -> None:
    """Summarise without the facts and with them, and count what is kept."""
    before, after = extract(replace(request, facts=())), extract(request)
    tally.rows += 1
    tally.rows_without += not request.facts
    tally.needed += len(request.facts)
    tally.kept_before += len(facts_kept(request.facts, before))
    tally.kept += len(facts_kept(request.facts, after))
    tally.over += request.count(after) > request.target_tokens


if __name__ == "__main__":
    sys.exit(main())
