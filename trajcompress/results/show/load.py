"""Loads one row of a run and builds its view; nothing is fetched, and no code of a tokenizer runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trajcompress.errors import UsageError
from trajcompress.results.show.model import View
from trajcompress.results.show.view import build_view
from trajcompress.run.build import build_policy, build_rendering
from trajcompress.run.pairs import Pair, find_pairs, find_row
from trajcompress.run.past import open_run
from trajcompress.settings import Settings
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import DEFAULT_TOKENIZER, load_tokenizer


@dataclass(frozen=True, slots=True)
class Shown:
    """A row: as it is, and what there is to see of it."""

    pair: Pair
    view: View


def load_row(folder: Path, wanted: str) -> Shown:
    """Find and read the row that is called so; see :func:`~trajcompress.run.lookup.find_row`.

    Raises:
        InputError: the folder holds no finished run, or the row is not to be found.
    """
    settings = open_run(folder).settings
    pair = next(find_pairs(folder, [find_row(folder, wanted)]))
    policy = build_policy(settings)
    name = settings.tokenizer.name or DEFAULT_TOKENIZER
    with _counter(settings) as (counter, note):
        notes = [note] if note and (pair.before or pair.after) else []
        return Shown(pair, build_view(pair, policy, counter, tokenizer=name, notes=notes))


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
