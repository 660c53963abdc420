"""Who works on the parts of a run: this process, others of this machine, or a cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence

from trajcompress.dataset.cutting import Part
from trajcompress.engine.local import LocalEngine
from trajcompress.engine.ray import RayCluster, RayEngine, has_ray
from trajcompress.errors import SettingsError
from trajcompress.run.build import build_counter
from trajcompress.run.build_summarizer import require_context
from trajcompress.run.counter_facts import CounterFacts, facts_of
from trajcompress.run.part_work import PartSetup
from trajcompress.run.work import Workforce
from trajcompress.run.work_here import WorkHere
from trajcompress.run.work_in_workers import WorkInWorkers, of_worker, useful_workers, why_here
from trajcompress.settings import Settings
from trajcompress.settings.credentials import api_key
from trajcompress.tokens.tokenizer import EngineChoice
from trajcompress.wording import counted


@contextlib.contextmanager
def open_workforce(
    settings: Settings, engine: EngineChoice, parts: Sequence[Part], note: Callable[[str], None]
) -> Iterator[tuple[CounterFacts, Workforce]]:
    """Start whoever works on ``parts``, with what there is to know of the tokenizer, and end them.

    Raises:
        UsageError: the tokenizer cannot be loaded, settings do not go together, or there is no cluster.
        WorkerDiedError: no worker has come so far as to begin.
    """
    if parts and _wants_ray(settings):
        with _on_ray(settings, engine, parts, note) as opened:
            yield opened
        return
    workers = useful_workers(settings, parts)
    if workers > 1:
        setup = PartSetup(of_worker(settings), engine)
        try:
            pool = LocalEngine(lambda _: setup, workers)
        except OSError as error:
            note(f"no processes to work in, so one works: {error}")
        else:
            with contextlib.closing(WorkInWorkers(pool, workers)) as workforce:
                facts = workforce.facts()
                note(f"parts are worked on in {workers} processes")
                yield facts, workforce
            return
    counter = build_counter(settings, engine)
    with contextlib.closing(counter.tokenizer):
        if not settings.summarization.is_built_in:
            require_context(settings, counter)
        yield facts_of(counter, settings), WorkHere(counter)


def _wants_ray(settings: Settings) -> bool:
    chosen = settings.processing
    if chosen.engine != "auto":
        return chosen.engine == "ray"
    return chosen.ray_address is not None or ("RAY_ADDRESS" in os.environ and has_ray())


@contextlib.contextmanager
def _on_ray(
    settings: Settings, engine: EngineChoice, parts: Sequence[Part], note: Callable[[str], None]
) -> Iterator[tuple[CounterFacts, Workforce]]:
    if why := why_here(settings, parts):
        raise SettingsError(f"processing.engine: Ray does not go with {why}; take --engine local")
    if settings.summarization.cache:
        raise SettingsError(
            "processing.engine: Ray does not go with --cache, which is for processes of one machine; a run finds its "
            "own summaries without it, on all nodes"
        )
    with contextlib.closing(RayCluster(settings.processing.ray_address)) as cluster:
        workers = useful_workers(settings, parts, cluster.cpus())
        setup = PartSetup(of_worker(settings), engine, elsewhere=True)
        if not cluster.free_cpus():
            note(f"waiting for the Ray cluster, whose {counted(cluster.cpus(), 'CPU')} are all in use")
        pool = RayEngine(lambda _: setup, workers, _environ(settings))
        with contextlib.closing(WorkInWorkers(pool, workers, elsewhere=True)) as workforce:
            facts = workforce.facts()
            note(f"parts are worked on by {counted(workers, 'worker')} of a Ray cluster")
            yield facts, workforce


def _environ(settings: Settings) -> dict[str, str]:
    """Return the variables that nodes need of here: the key of the endpoint."""
    key = None if settings.summarization.is_built_in else api_key(settings)
    return {settings.summarization.api_key_env: key} if key else {}
