"""Work on parts in this process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from trajcompress.dataset.rows import Source
from trajcompress.dataset.storage.location import Location
from trajcompress.metrics.totals import Totals
from trajcompress.run.build.calls import build_calls_of_run
from trajcompress.run.build.components import build_form_with
from trajcompress.run.build.summarizer import build_summarizer
from trajcompress.run.loop.batch_rounds import BatchRounds
from trajcompress.run.loop.commit import PartCommitter
from trajcompress.run.loop.part_before import finished_before
from trajcompress.run.loop.reading import Reading
from trajcompress.run.loop.row_loop import RowLoop
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.progress.progress import Progress
from trajcompress.run.rows.explainer import build_explainer
from trajcompress.run.rows.row import Parsed
from trajcompress.run.work import Work, open_stores
from trajcompress.settings import require_api_key
from trajcompress.summarize.base import Summarizer
from trajcompress.summarize.endpoint.batch.api import BatchApi
from trajcompress.summarize.endpoint.batch.store import BatchStore
from trajcompress.tokens.counter import TokenCounter


class WorkHere:
    """A :class:`~trajcompress.run.work.Workforce` of one."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._committer: PartCommitter | None = None
        self._reading: Reading | None = None

    @property
    def progress(self) -> Progress:
        """All rows so far."""
        return self._committer.progress if self._committer else Progress()

    @property
    def committed_rows(self) -> int:
        """Rows that are committed."""
        return self._committer.committed_rows if self._committer else 0

    def run(self, work: Work) -> None:
        """Do the work."""
        settings, ledger, reporter = work.settings, work.ledger, work.reporter
        committer = PartCommitter(work.store, work.data_format, ledger.progress(), ledger.commit, work.emit)
        explainer = build_explainer(settings, reporter.note, hides_calls=self._counter.hides_calls)
        form = build_form_with(settings, self._counter)
        before = finished_before(work.store.folder, settings)
        reading = Reading(settings, work.selection, explainer, form, ledger.bytes_done(), before)
        self._committer, self._reading = committer, reading

        def advanced() -> None:
            reporter.advanced(reading.bytes_read, committer.progress)

        with (
            open_stores(settings, work.store.folder, reporter.note) as stores,
            contextlib.closing(BatchStore(work.store.folder.batches))
            if settings.summarization.batch
            else contextlib.nullcontext() as batches,
        ):
            calls = build_calls_of_run(settings, work.check_cost)
            make_summarizer = partial(build_summarizer, settings, stores, calls, batches)
            if batches is not None:
                self._ask_by_batches(work, make_summarizer, batches)
            if committer.progress.rows:
                advanced()  # by what was there
            loop = RowLoop(settings, reading, self._counter, calls.limiter, work.stop_on, reporter.note, advanced)
            if stores.of_run:
                loop.paid_for = stores.of_run.paid_for
            items = reading.all_of(ledger, work.read_through)
            asyncio.run(loop.run(items, committer, make_summarizer(), work.emit))

    def _ask_by_batches(self, work: Work, make_summarizer: Callable[[], Summarizer], store: BatchStore) -> None:
        """Have the summaries of all rows that are not committed made by batches."""
        settings, committed = work.settings, {part.key: part for part in work.ledger.in_order()}
        form = build_form_with(settings, self._counter)

        def rows() -> Iterator[Parsed]:
            ledger = Ledger(work.ledger.parts, committed, work.selection)
            items = Reading(settings, work.selection, form=form).all_of(ledger, lambda _: None)
            return (item for item in items if isinstance(item, Parsed))

        api = BatchApi(
            settings.summarization.base_url,
            require_api_key(settings),
            store,
            redact_secrets=settings.summarization.redact != "off",
        )
        with contextlib.closing(api):
            rounds = BatchRounds(
                settings=settings,
                rows=rows,
                counter=self._counter,
                summarizer=make_summarizer,
                store=store,
                api=api,
                folder=work.store.folder.batches.parent,
                note=work.reporter.note,
                stop_on=work.stop_on,
            )
            asyncio.run(rounds.run())

    @property
    def joined(self) -> Sequence[Location]:
        """Nothing is joined before the end."""
        return ()

    def open_totals(self) -> Totals:
        """Add up the rows that are finished and not committed."""
        return self._committer.totals() if self._committer else Totals()

    def reading(self) -> list[Source]:
        """Return the sources of which rows were read that are not committed."""
        return [self._reading.part.source] if self._reading and self._reading.part else []

    def close(self) -> None:
        """Drop what is not committed."""
        if self._committer:
            self._committer.abort()
