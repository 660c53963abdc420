"""Simulate a run of many workers from times that were measured on one machine: what is the bound?

    python scripts/simulate_cluster.py
    python scripts/simulate_cluster.py --workers 1000 --input-tb 1 --rpm 60000

Workers take parts, count their lines, read them, work, commit, and begin anew; the driver answers one message after
the other; calls of a model wait for their leases. Times of a part, a commit, a message and a lease are options, whose
defaults were measured (``docs/performance.md`` says how); what differs from part to part is drawn, from a seed.
Nothing of the package is imported. Printed are the time of the run, the share of it that the driver is busy, the end
of the run, which the driver does alone, what the store is asked, and what of the driver leases take. Exit code 1
where the driver or the store would be the bound.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from dataclasses import dataclass

_MOST_BUSY = 0.5
"""A driver that is busy for longer makes workers wait."""
_MOST_END = 1.0
"""Of the time of all parts, for what the driver does alone at the end."""
_STORE_GETS, _STORE_PUTS = 5_500, 3_500
"""What S3 answers in a second for one prefix."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What is simulated, and the times of it, in seconds."""

    workers: int
    input_tb: float
    part_mb: float
    row_kb: float
    part_s_per_mb: float
    start_s: float
    spread: float
    store_mb_s: float
    commit_s: float
    message_s: float
    messages_per_part: int
    shown_per_s: float
    row_end_s: float
    part_end_s: float
    gets_per_part: float
    puts_per_part: float
    rpm: float
    lease_s: float

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return max(1, round(self.input_tb * 1e6 / self.part_mb))

    @property
    def rows(self) -> float:
        """How many rows there are."""
        return self.input_tb * 1e9 / self.row_kb


@dataclass(slots=True)
class Outcome:
    """What came of it: seconds until all parts are committed, and those in which the driver was busy."""

    until_committed: float = 0.0
    driver_busy: float = 0.0
    waited: float = 0.0


def simulate(cluster: Cluster, seed: int) -> Outcome:
    """Let workers do all parts; each event is a message that the driver is to answer."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    outcome = Outcome()
    driver_free_at = 0.0
    left = cluster.parts
    each = cluster.part_mb
    # (when a worker's messages come, its number)
    events = [(chance.uniform(0.8, 1.2) * cluster.start_s, worker) for worker in range(cluster.workers)]
    heapq.heapify(events)
    others = cluster.shown_per_s * cluster.message_s + cluster.rpm / 60 * cluster.lease_s  # share of the driver
    service = cluster.messages_per_part * cluster.message_s / max(1e-9, 1 - others)
    while events:
        now, worker = heapq.heappop(events)
        begun = max(now, driver_free_at)
        driver_free_at = begun + service
        outcome.driver_busy += service
        outcome.waited += driver_free_at - now
        if not left:
            outcome.until_committed = max(outcome.until_committed, driver_free_at)
            continue
        left -= 1
        work = each * cluster.part_s_per_mb * chance.lognormvariate(0, cluster.spread)
        reading = 2 * each / cluster.store_mb_s  # lines are counted first, where others wait for that
        heapq.heappush(events, (driver_free_at + reading + work + cluster.commit_s, worker))
    return outcome


def main() -> int:
    """Simulate, print, and return 1 where something other than the workers is the bound."""
    cluster, seed = _options()
    outcome = simulate(cluster, seed)
    took = outcome.until_committed
    end = cluster.rows * cluster.row_end_s + cluster.parts * cluster.part_end_s
    leases = cluster.rpm / 60 * cluster.lease_s
    busy = min(1.0, outcome.driver_busy / took)
    work = cluster.input_tb * 1e6 * cluster.part_s_per_mb
    gets, puts = (cluster.parts * each / took for each in (cluster.gets_per_part, cluster.puts_per_part))
    print(f"{cluster.workers:,} workers, {cluster.input_tb:g} TB, {cluster.parts:,} parts, {cluster.rows:,.0f} rows")
    print(f"all parts committed after  {took:10,.0f} s ({work / cluster.workers:,.0f} s of work for each worker)")
    print(f"workers waited for answers {outcome.waited / cluster.workers:10,.2f} s each")
    print(f"driver busy                {busy:10.1%} of that, leases {leases:.1%} of a core")
    print(f"store                      {gets:10,.0f} reads and {puts:,.0f} writes a second")
    print(f"end, by the driver alone   {end:10,.0f} s ({end / took:.0%} more)")
    missed = [
        text
        for text, is_so in (
            (f"the driver is busy for {busy:.0%}", busy > _MOST_BUSY),
            (f"leases take {leases:.0%} of the driver", leases > _MOST_BUSY),
            (f"the end takes {end / took:.0%} of the rest", end > _MOST_END * took),
            (f"{gets:,.0f} reads a second are more than a prefix of a store answers", gets > _STORE_GETS),
            (f"{puts:,.0f} writes a second are more than a prefix of a store takes", puts > _STORE_PUTS),
        )
        if is_so
    ]
    print(*(f"BOUND: {text}" for text in missed), sep="\n")
    return 1 if missed else 0


def _options() -> tuple[Cluster, int]:
    parser = argparse.ArgumentParser(description="Simulate a run of many workers.")
    parser.add_argument("--workers", type=int, default=1000, metavar="N")
    parser.add_argument("--input-tb", type=float, default=1.0, metavar="TB")
    parser.add_argument("--part-mb", type=float, default=67.1, metavar="MB")
    parser.add_argument("--row-kb", type=float, default=20.4, metavar="KB", help="rows of the input")
    parser.add_argument("--part-s-per-mb", type=float, default=0.13, help="CPU of a worker for a MB")
    parser.add_argument("--start-s", type=float, default=5.0, help="until a worker asks for its first part")
    parser.add_argument("--spread", type=float, default=0.3, help="of the logarithm of what parts cost")
    parser.add_argument("--store-mb-s", type=float, default=50.0, help="what one worker reads in a second")
    parser.add_argument("--commit-s", type=float, default=0.5, help="to write a part and its manifest to a store")
    parser.add_argument("--message-s", type=float, default=0.00035, help="of the driver for a message")
    parser.add_argument("--messages-per-part", type=int, default=8)
    parser.add_argument("--shown-per-s", type=float, default=200.0, help="messages on how far workers are")
    parser.add_argument("--row-end-s", type=float, default=2.5e-6, help="at the end, for a row's metrics")
    parser.add_argument("--part-end-s", type=float, default=0.0015, help="at the end, for a part")
    parser.add_argument("--gets-per-part", type=float, default=40.0, help="requests that read from the store")
    parser.add_argument("--puts-per-part", type=float, default=6.5, help="requests that write to it")
    parser.add_argument("--rpm", type=float, default=0.0, help="calls of a model in a minute, of all workers")
    parser.add_argument("--lease-s", type=float, default=0.0005, help="of the driver for the lease of a call")
    parser.add_argument("--seed", type=int, default=1)
    given = vars(parser.parse_args())
    seed = given.pop("seed")
    return Cluster(**given), seed


if __name__ == "__main__":
    sys.exit(main())
