"""The pool of workers that settings ask for: processes of this machine, or workers on a cluster."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from trajcompress.dataset.cutting import Part
from trajcompress.engine.local import LocalEngine
from trajcompress.engine.messages import Setup
from trajcompress.engine.pool import WorkerPool
from trajcompress.engine.ray import RayCluster, RayEngine, has_ray
from trajcompress.errors import SettingsError
from trajcompress.run.workers.work_in_workers import useful_workers, why_here
from trajcompress.settings import Settings
from trajcompress.settings.credentials import api_key
from trajcompress.wording import counted

SetupFor: TypeAlias = Callable[[bool], Setup]
"""Makes the setup of workers, given whether they share no disk with this machine."""


class OpenedPool(Struct, frozen=True):
    """A pool of ``workers``; ``who`` says what they are, ``elsewhere`` whether they share no disk with us."""

    pool: WorkerPool
    workers: int
    who: str
    elsewhere: bool = False


@contextlib.contextmanager
def open_pool(
    settings: Settings, parts: Sequence[Part], setup_for: SetupFor, note: Callable[[str], None]
) -> Iterator[OpenedPool | None]:
    """Start the workers that ``parts`` are worth, and end them; None where this process works alone.

    Args:
        settings: say how many, and of what.
        parts: the work.
        setup_for: makes the setup that each works by.
        note: called with what takes long.

    Raises:
        SettingsError: there is no cluster, or the work does not go with one; or what ``setup_for`` raises.
    """
    if parts and _wants_ray(settings):
        with _on_ray(settings, parts, setup_for, note) as opened:
            yield opened
        return
    if (workers := useful_workers(settings, parts)) > 1:
        setup = setup_for(False)
        try:
            pool = LocalEngine(lambda _: setup, workers)
        except OSError as error:
            note(f"no processes to work in, so one works: {error}")
        else:
            with contextlib.closing(pool):
                yield OpenedPool(pool, workers, f"in {workers} processes")
            return
    yield None


def _wants_ray(settings: Settings) -> bool:
    chosen = settings.processing
    if chosen.engine != "auto":
        return chosen.engine == "ray"
    return chosen.ray_address is not None or ("RAY_ADDRESS" in os.environ and has_ray())


@contextlib.contextmanager
def _on_ray(
    settings: Settings, parts: Sequence[Part], setup_for: SetupFor, note: Callable[[str], None]
) -> Iterator[OpenedPool]:
    setup = setup_for(True)
    if why := why_here(settings, parts):
        raise SettingsError(f"processing.engine: Ray does not go with {why}; take --engine local")
    with contextlib.closing(RayCluster(settings.processing.ray_address)) as cluster:
        workers = useful_workers(settings, parts, cluster.cpus())
        if not cluster.free_cpus():
            note(f"waiting for the Ray cluster, whose {counted(cluster.cpus(), 'CPU')} are all in use")
        with contextlib.closing(RayEngine(lambda _: setup, workers, _environ(settings))) as pool:
            yield OpenedPool(pool, workers, f"by {counted(workers, 'worker')} of a Ray cluster", elsewhere=True)


def _environ(settings: Settings) -> dict[str, str]:
    """Return the variables that nodes need of here: the key of the endpoint."""
    key = None if settings.summarization.is_built_in else api_key(settings)
    return {settings.summarization.api_key_env: key} if key else {}
