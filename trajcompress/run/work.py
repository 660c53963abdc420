"""The work of a run on its parts: what it takes, and who can do it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.location import Location
from trajcompress.events import Emit
from trajcompress.metrics.totals import Totals
from trajcompress.run.build.summarizer import open_cache
from trajcompress.run.folder.run_folder import RunFolder
from trajcompress.run.interrupt import StopOn
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.parts.selection import Selection
from trajcompress.run.parts.store import PartStore
from trajcompress.run.parts.writer import DataFormat
from trajcompress.run.progress.progress import Progress
from trajcompress.run.progress.reporter import Reporter
from trajcompress.settings import Settings
from trajcompress.summarize.cache.store import SummaryStore
from trajcompress.summarize.cache.summarizer import Stores


class Work(Struct, frozen=True):
    """What is to be done: the parts that the ``ledger`` lacks, to be committed to the ``store``.

    ``read_through`` is called with each source once its last row was read, ``check_cost`` before each call with how
    many are open: it raises SummarizerUnusableError where no more may be spent. For ``stop_on`` see
    :func:`~trajcompress.run.job.run`.
    """

    settings: Settings
    selection: Selection
    ledger: Ledger
    store: PartStore
    data_format: DataFormat
    reporter: Reporter
    emit: Emit
    read_through: Callable[[Source], None]
    check_cost: Callable[[int], None]
    stop_on: StopOn | None


class Workforce(Protocol):
    """Whoever works on parts: this process, or others.

    ``progress`` counts all rows so far, those too that were there before; of these ``committed_rows`` are committed.
    """

    @property
    def progress(self) -> Progress:
        """All rows so far."""

    @property
    def committed_rows(self) -> int:
        """Rows that are committed."""

    def run(self, work: Work) -> None:
        """Do the work.

        Raises:
            InterruptedRunError: some rows were not read or not finished, as a stop was asked for.
            TooManyFailedError: more rows failed than are allowed.
            SummarizerUnusableError: no row can be summarised.
            EngineMismatchError: counts of the whole run are in doubt.
            WorkerDiedError: a part ends the process that works on it.
        """

    @property
    def joined(self) -> Sequence[Location]:
        """What the metrics of all parts are joined into already; nothing where they are not."""

    def open_totals(self) -> Totals:
        """Add up the rows that are finished and not committed."""

    def reading(self) -> list[Source]:
        """Return the sources of which rows were read that are not committed."""

    def close(self) -> None:
        """Drop what is not committed, and end what is under way."""


@contextlib.contextmanager
def open_stores(settings: Settings, folder: RunFolder, note: Callable[[str], None]) -> Iterator[Stores]:
    """Open the stores of summaries that a run uses.

    They are its own, which is repaired if need be, one that is shared, and those of a run that was replaced; and the
    claims of those that share one.
    """
    with (
        contextlib.closing(folder.summaries.open(note)) as of_run,
        contextlib.closing(SummaryStore(folder.summaries.replaced, note))
        if folder.summaries.replaced.exists()
        else contextlib.nullcontext() as replaced,
        open_cache(settings, note) as (shared, claims),
    ):
        yield Stores(of_run, shared, replaced, claims)
