"""Loads one row of a run and builds its view; nothing is fetched, and no code of a tokenizer runs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from trajcompress.dataset.storage.location import Location
from trajcompress.errors import TrajcompressError, UsageError
from trajcompress.metrics.row import RowMetrics
from trajcompress.results.show.model import View
from trajcompress.results.show.view import build_view
from trajcompress.run.build.components import build_policy, build_rendering
from trajcompress.run.past.pairs import Pair, find_pairs, find_row
from trajcompress.run.past.past_run import open_run
from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import DEFAULT_TOKENIZER, load_tokenizer
from trajcompress.transcript.trajectory import Trajectory


@dataclass(frozen=True, slots=True)
class Shown:
    """A row: as it is, and what there is to see of it."""

    pair: Pair
    view: View


class Advice(Protocol):
    """What helps a row."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """It in words."""


Advise: TypeAlias = Callable[[Trajectory, RowMetrics, Settings, TokenCounter], Advice]
"""Tells what helps a row that is still over its limit."""


def load_row(folder: Location, wanted: str, advise: Advise | None = None) -> Shown:
    """Find and read the row that is called so; see :func:`~trajcompress.run.past.lookup.find_row`.

    ``advise`` is asked about a row that is still over its limit.

    Raises:
        InputError: the folder holds no finished run, or the row is not to be found.
    """
    run = open_run(folder)
    settings = run.settings
    pair = next(find_pairs(folder, [find_row(folder, wanted)]))
    policy = build_policy(settings)
    name = settings.tokenizer.name or DEFAULT_TOKENIZER
    with _counter(settings) as (counter, note):
        notes = [note] if note and (pair.before or pair.after) else []
        notes += [run.so_far.note] if run.so_far else []
        view = build_view(pair, policy, counter, tokenizer=name, notes=notes)
        before, row = pair.before, pair.metrics
        if advise is not None and counter is not None and before is not None and row.still_over_limit:
            with contextlib.suppress(TrajcompressError):  # its text cannot be counted
                view = replace(view, helps=advise(before, row, settings, counter).sentences)
        return Shown(pair, view)


@contextlib.contextmanager
def _counter(settings: Settings) -> Iterator[tuple[TokenCounter | None, str | None]]:
    """Load the tokenizer of a run, if that takes neither the network nor code that somebody else wrote."""
    try:
        # A run folder may come from anyone, so what its run.json trusts is not what this user does.
        # For one row the tokenizer itself has counted before the fast engine would be ready.
        tokenizer = load_tokenizer(
            settings.tokenizer.name,
            trust_remote_code=False,
            engine="reference",
            rendering=build_rendering(settings),
        )
    except UsageError as error:
        yield None, f"no tokens per turn: {error}"
        return
    with contextlib.closing(tokenizer):
        yield TokenCounter(tokenizer, settings.compression.count), None
