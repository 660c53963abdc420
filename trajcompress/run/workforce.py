"""Who works on the parts of a run: this process, others of this machine, or a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from trajcompress.dataset.cutting import Part
from trajcompress.errors import SettingsError
from trajcompress.run.build.components import build_counter
from trajcompress.run.build.summarizer import require_context
from trajcompress.run.folder.counter_facts import CounterFacts, facts_of
from trajcompress.run.work import Workforce
from trajcompress.run.work_here import WorkHere
from trajcompress.run.workers.pools import open_pool
from trajcompress.run.workers.work_in_workers import WorkInWorkers, of_worker
from trajcompress.run.workers.worker import PartSetup
from trajcompress.settings import Settings
from trajcompress.tokens.tokenizer import EngineChoice


@contextlib.contextmanager
def open_workforce(
    settings: Settings, engine: EngineChoice, parts: Sequence[Part], note: Callable[[str], None]
) -> Iterator[tuple[CounterFacts, Workforce]]:
    """Start whoever works on ``parts``, with what there is to know of the tokenizer, and end them.

    Raises:
        UsageError: the tokenizer cannot be loaded, settings do not go together, or there is no cluster.
        WorkerDiedError: no worker has come so far as to begin.
    """

    def setup_for(elsewhere: bool) -> PartSetup:
        if elsewhere and settings.summarization.cache:
            raise SettingsError(
                "processing.engine: Ray does not go with --cache, which is for processes of one machine; a run finds "
                "its own summaries without it, on all nodes"
            )
        return PartSetup(of_worker(settings), engine, elsewhere=elsewhere)

    with open_pool(settings, parts, setup_for, note) as opened:
        if opened is not None:
            workforce = WorkInWorkers(opened.pool, opened.workers, elsewhere=opened.elsewhere)
            facts = workforce.facts()
            note(f"parts are worked on {opened.who}")
            yield facts, workforce
            return
    counter = build_counter(settings, engine)
    with contextlib.closing(counter.tokenizer):
        if not settings.summarization.is_built_in:
            require_context(settings, counter)
        yield facts_of(counter, settings), WorkHere(counter)
