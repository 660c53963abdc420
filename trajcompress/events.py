"""Events of a run, emitted as they happen to whoever follows it.

Whatever works on a row is handed an :class:`Emit`, with the row already named; by default nobody listens. They
carry words and figures, never text of a row, a prompt or an answer; that of a pause also what the server says.
"""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

Event: TypeAlias = Literal[
    "started",  # a run begins
    "resumed",  # a run goes on
    "planned",  # a region of a row is to be summarised
    "taken",  # a row is read, and work on it begins
    "sent",  # a request goes out
    "called",  # a request was answered, or failed
    "done",  # work on a row has ended
    "moved",  # rows have gone on in another process: the sums of what was taken, planned and done
    "retried",  # a failed request will be made again
    "waiting",  # the first answer takes long
    "paused",  # no request is made for some time
    "answered",  # after that one was answered again
    "committed",  # a part of the dataset is written
    "pressure",  # the context of a running agent is near its window
    "finished",  # the run is complete
    "stopped",  # the run ended early, for a reason
    "interrupted",  # the run was asked to stop, or broke off
]
FREQUENT: frozenset[Event] = frozenset({"taken", "sent", "done", "moved"})
"""Of no use to a log: what they say shows in others."""
Figure: TypeAlias = str | int | float | None


class Emit(Protocol):
    """A sink of events. May be called from several threads, and raises nothing."""

    def __call__(self, event: Event, /, **figures: Figure) -> None:
        """Emit an event with its figures."""


def nobody(_event: Event, /, **_figures: Figure) -> None:
    """Take no note."""
