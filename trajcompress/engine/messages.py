"""What workers and their driver say to each other, whatever the work is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct


class Asked(Struct, frozen=True):
    """A question of a worker, which waits for the answer; ``number`` tells it from its others."""

    number: int
    question: Any


class Answered(Struct, frozen=True):
    """The answer to a question."""

    number: int
    answer: Any


class Emitted(Struct, frozen=True):
    """Something that a worker wants known."""

    news: Any


class Raised(Struct, frozen=True):
    """What the work in a worker came to instead of an end."""

    error: Exception


class Ended(Struct, frozen=True):
    """The work in a worker has come to its end."""


class Stop(Struct, frozen=True):
    """A request to a worker to bring its work to an end soon."""


class Channel(Protocol):
    """A worker's way to its driver. Safe to use from several threads."""

    def ask(self, question: Any) -> Any:
        """Return the driver's answer, however long it takes."""

    def ask_later(self, question: Any, then: Callable[[Any], None]) -> None:
        """Have ``then`` called with the driver's answer, in another thread; never, where there is none."""

    def emit(self, news: Any) -> None:
        """Have the driver know something."""

    def on_stop(self, stop: Any) -> None:
        """Have ``stop`` called, in another thread, once the driver wants an end; at once where it does already."""


class Setup(Protocol):
    """What is sent to each worker: how to do the work. Has to be pickled."""

    def work(self, channel: Channel) -> None:
        """Do it, until the driver has nothing more to be done."""


class Coordinator(Protocol):
    """The driver's side of the work. All its methods are called on one event loop."""

    async def answer(self, worker: int, question: Any) -> Any:
        """Answer a worker's question."""

    def emitted(self, worker: int, news: Any) -> None:
        """Take note of what a worker wants known."""

    def grace(self, error: Exception) -> float:
        """Return how long others may go on, in seconds, where the work in one worker came to an error."""

    def died(self, worker: int, how: str) -> bool:
        """Take note that a worker is gone, and of ``how`` it ended; return whether another is to take its place."""

    def has_work(self) -> bool:
        """Tell whether a worker that begins now would find something to do."""
