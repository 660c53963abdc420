"""How many worker processes a job gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext

from trajcompress.dataset.rows import Source
from trajcompress.settings import Settings
from trajcompress.workers.pool import WorkerPool
from trajcompress.workers.wire import Setup

_WORTH_BYTES = 32 * 2**20
"""A process takes some seconds to start, which is about what it saves on so much input,"""
_WORTH_ROWS = 400
"""or on so many rows."""


def useful_workers(settings: Settings, sources: Sequence[Source]) -> int:
    """Return how many processes it is worth to work on rows in, up to as many as are wanted; 0 for none but this."""
    chosen = settings.input
    most = settings.processing.num_workers or 0
    sizes = [source.size for source in sources]
    if None not in sizes:
        taken = (chosen.sample_percent or 100) / 100 / (chosen.shard.count if chosen.shard else 1)
        most = min(most, int(taken * sum(size or 0 for size in sizes)) // _WORTH_BYTES)
    if chosen.limit is not None:
        most = min(most, chosen.limit // _WORTH_ROWS)
    return most if most > 1 else 0


@contextmanager
def start_workers(setup: Setup, workers: int, note: Callable[[str], None]) -> Iterator[WorkerPool | None]:
    """Start so many processes, and end them at the end; None for 0, and where there can be none."""
    try:
        pool = WorkerPool(setup, workers) if workers else None
    except OSError as error:
        pool = None
        note(f"no processes to work in, so one works: {error}")
    if pool:
        note(f"rows are worked on in {workers} processes")
    with closing(pool) if pool else nullcontext():
        yield pool
