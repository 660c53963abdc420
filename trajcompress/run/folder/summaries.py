"""The summaries that a run has paid for, and where they are kept: in a file here, and where others find them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from msgspec import Struct

from trajcompress.dataset.storage.location import Location, remove_tree
from trajcompress.dataset.storage.store_path import StorePath
from trajcompress.summarize.cache.objects import SummaryObjects
from trajcompress.summarize.cache.recovery import open_repaired
from trajcompress.summarize.cache.replaced import count_kept
from trajcompress.summarize.cache.store import SummaryStore


class RunSummaries(Struct, frozen=True):
    """Where the summaries of a run are.

    Attributes:
        file: a file of this machine.
        shared: a folder with a file or object for each; of a run in a store always, else once several machines have
            worked on it.
        replaced: a file of this machine with those of runs that this one replaces.
        is_one_of_many: whether other machines add to ``shared`` meanwhile.
    """

    file: Path
    shared: Location
    replaced: Path
    is_one_of_many: bool = False

    @property
    def place(self) -> Location:
        """What to name to people."""
        return self.shared if self._is_shared() else self.file

    def open(self, note: Callable[[str], None] = lambda _: None) -> SummaryStore:
        """Open them.

        Raises:
            OutputError: they cannot be used.
        """
        self.file.parent.mkdir(parents=True, exist_ok=True)
        store = open_repaired(self.file, note)
        if not self._is_shared():
            return store
        store.close()
        return SummaryObjects(self.file, self.shared, note, others_add=self.is_one_of_many)

    def share(self) -> None:
        """Keep them where other machines find them from now on, also those that are there."""
        if isinstance(self.shared, StorePath) or self.shared.exists():
            return
        self.shared.mkdir(parents=True)
        with closing(self.open()) as store:
            if isinstance(store, SummaryObjects):
                store.give()

    def fetch(self) -> None:
        """Bring what is elsewhere alone to the file of this machine."""
        if self._is_shared():
            with closing(self.open()) as store:
                if isinstance(store, SummaryObjects):
                    store.fetch()

    def count(self) -> int:
        """Return how many are kept, those of replaced runs too."""
        shared = self.shared.iterdir() if self._is_shared() else ()
        return max(count_kept(self.file, self.replaced), sum(1 for _ in shared))

    def exists(self) -> bool:
        """Tell whether there are any."""
        return self.file.exists() or (self.shared.exists() and any(self.shared.iterdir()))

    def is_empty(self) -> bool:
        """Tell whether none was ever kept."""
        if not self.exists():
            return True
        with closing(self.open()) as summaries:
            return summaries.is_empty()

    def clear(self) -> None:
        """Remove them, but for those of replaced runs."""
        for path in self.file.parent.glob(f"{self.file.name}*"):
            path.unlink()
        remove_tree(self.shared)

    def _is_shared(self) -> bool:
        return isinstance(self.shared, StorePath) or self.shared.exists()
