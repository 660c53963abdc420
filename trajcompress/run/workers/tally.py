"""Progress of all workers, added up."""

from __future__ import annotations

from trajcompress.run.parts.committed import CommittedPart
from trajcompress.run.parts.ledger import Ledger
from trajcompress.run.progress.progress import Progress
from trajcompress.run.workers.messages import Advanced


class Tally:
    """Adds up what workers say of themselves, beginning with what the ``ledger`` has."""

    def __init__(self, ledger: Ledger) -> None:
        self._committed = ledger.progress()
        self._advanced: dict[int, Advanced] = {}
        self._bytes_before = ledger.bytes_done()  # and of workers that have ended
        self.committed_rows = self._committed.rows

    @property
    def progress(self) -> Progress:
        """All rows so far, also those that are not committed."""
        progress = Progress()
        progress.join(self._committed)
        for advanced in self._advanced.values():
            progress.join(advanced.progress)
        return progress

    @property
    def bytes_read(self) -> int:
        """Bytes of the input so far."""
        return self._bytes_before + sum(advanced.bytes_read for advanced in self._advanced.values())

    def advanced(self, worker: int, advanced: Advanced) -> None:
        """Take note of how far a worker is."""
        self._advanced[worker] = advanced

    def committed(self, part: CommittedPart) -> None:
        """Take note of a part."""
        self._committed.join(part.progress)
        self.committed_rows += part.progress.rows

    def gone(self, worker: int) -> None:
        """Forget the rows of a worker that it did not commit."""
        if advanced := self._advanced.pop(worker, None):
            self._bytes_before += advanced.bytes_read
