"""What a run shows while it goes, and to whom: notes, progress, why it is held up; and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from trajcompress.dataset.left_out import LeftOut
from trajcompress.dataset.storage.location import Location
from trajcompress.errors import TrajcompressError
from trajcompress.events import Emit, Event, Figure, nobody
from trajcompress.metrics.totals import Totals
from trajcompress.run.folder.run_folder import State
from trajcompress.run.progress.progress import Progress


class TakesNotes(Protocol):
    """Follows how work on rows begins, and what is to be known of it."""

    def note(self, text: str) -> None:
        """Something to know, once."""

    def started(self, total_bytes: int | None) -> None:
        """Reading begins; the size of the input where it is known."""


class Reporter(TakesNotes, Protocol):
    """Shows notes and the progress of a run, as a terminal or a log does."""

    def advanced(self, bytes_read: int, progress: Progress) -> None:
        """Another row is done."""


@runtime_checkable
class ShowsStatus(Protocol):
    """A reporter that shows, besides, why a run is held up."""

    def status(self, text: str | None) -> None:
        """Why no call is answered; None: one was."""


@runtime_checkable
class Follows(Protocol):
    """A reporter that follows what happens."""

    def follow(self, event: Event, /, **figures: Figure) -> None:
        """Take note of an event."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; ``stopped`` says why, where it ended before its input did, and ``error`` as an exception.

    Of the rows in ``totals``, ``committed_rows`` are written; another try does the others again. ``changed`` says of
    inputs what became of them while they were read, ``left_out`` what was passed over when they were looked for, and
    ``count_caveat`` why counts are not those of one's trainer. ``is_first``: no earlier session had begun the run.
    """

    folder: Location
    state: State
    totals: Totals
    committed_rows: int
    stopped: str | None = None
    error: TrajcompressError | None = None
    changed: Mapping[str, str] = field(default_factory=dict)
    left_out: Sequence[LeftOut] = ()
    count_caveat: str | None = None
    is_first: bool = False


def showing_pauses(reporter: Reporter, emit: Emit) -> Emit:
    """Return a sink of events that passes them to ``emit``, and to the reporter, with why no call is answered."""
    follow = reporter.follow if isinstance(reporter, Follows) else nobody
    if not isinstance(reporter, ShowsStatus):
        return emit

    def emit_to_both(event: Event, /, **figures: Figure) -> None:
        emit(event, **figures)
        follow(event, **figures)
        if event == "answered":
            reporter.status(None)
        elif event == "waiting":
            reporter.status(str(figures["detail"]))
        elif event == "paused" and "stops_in" in figures:
            reporter.status(
                f"paused: {figures['detail']}; next try in {figures['seconds']:.0f} s, and the run stops in "
                f"{figures['stops_in']:.0f} s if no call is answered"
            )

    return emit_to_both
