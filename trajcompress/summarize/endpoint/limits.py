"""The interface of a rate limiter, be it in this process or at the driver of several workers."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from trajcompress.errors import SummaryError


class Turn(Protocol):
    """One request's turn, which learns when the request goes out, and what it really cost."""

    def sent(self) -> None:
        """Say that the request goes out at this moment: the next one is spaced from here."""

    def settle(self, tokens: int) -> None:
        """Replace the estimate by the ``tokens`` really used. What is left over, or short, concerns later ones."""


class Limiter(Protocol):
    """Admits requests to one endpoint."""

    tpm: int | None
    """Tokens per minute."""
    max_concurrent: int
    """Requests in flight at once."""

    @property
    def spaces(self) -> bool:
        """Whether it matters when a request goes out: the next one is kept back by it."""

    def slot(self, tokens: int) -> AbstractAsyncContextManager[Turn]:
        """Wait for a turn, and hold a place among the requests in flight until the block ends.

        Enter right before sending, say when it is sent, and leave before sleeping. ``tokens`` is the most that the
        request may cost.

        Raises:
            SummaryError: as :func:`check_size`.
            SummarizerUnusableError: no more may be spent.
        """

    def pause(self, seconds: float) -> None:
        """Send nothing for so long, whoever asks. Never shortens a pause."""

    async def close(self) -> None:
        """Admit nobody from now on, and wait for the requests in flight; others wait until they are cancelled."""


def check_size(tokens: int, tpm: int | None) -> None:
    """Refuse a request that no waiting would ever admit.

    Raises:
        SummaryError: ``tokens`` exceed the whole budget of a minute (reason ``request_exceeds_tpm``).
    """
    if tpm is not None and tokens > tpm:
        raise SummaryError(
            "request_exceeds_tpm",
            f"a request of {tokens:,} tokens cannot be sent with {tpm:,} tokens per minute; raise --tpm",
        )
