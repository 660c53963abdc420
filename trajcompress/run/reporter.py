"""The interface through which a run shows its progress, and the result that it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from trajcompress.dataset.left_out import LeftOut
from trajcompress.errors import TrajcompressError
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder import State
from trajcompress.run.progress import Progress


class Reporter(Protocol):
    """Shows notes and the progress of a run, as a terminal or a log does."""

    def note(self, text: str) -> None:
        """Something to know, once."""

    def started(self, total_bytes: int | None) -> None:
        """Reading begins; the size of the input where it is known."""

    def advanced(self, bytes_read: int, progress: Progress) -> None:
        """Another row is done."""


@runtime_checkable
class ShowsStatus(Protocol):
    """A reporter that shows, besides, why a run is held up."""

    def status(self, text: str | None) -> None:
        """Why no call is answered; None: one was."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; ``stopped`` says why, where it ended before its input did, and ``error`` as an exception.

    Of the rows in ``totals``, ``committed_rows`` are written; another try does the others again. ``changed`` says of
    inputs what became of them while they were read, ``left_out`` what was passed over when they were looked for.
    """

    folder: Path
    state: State
    totals: Totals
    committed_rows: int
    stopped: str | None = None
    error: TrajcompressError | None = None
    changed: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
