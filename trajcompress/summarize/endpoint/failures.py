"""The interface of failure tracking, be it in this process or at the driver of several workers."""

from __future__ import annotations

from typing import Protocol

from trajcompress.events import Emit
from trajcompress.summarize.retry import Retry


class Failures(Protocol):
    """Takes note of what calls of an endpoint come to, and says what follows."""

    @property
    def has_answered(self) -> bool:
        """Whether a call was ever answered."""

    def known(self) -> None:
        """Note that a summary is kept, so such requests were answered before: a refusal is of its row."""

    @property
    def is_known(self) -> bool:
        """Whether that was noted."""

    def sent(self, timeout_s: float, emit: Emit) -> None:
        """Note that a call goes out: where no other was answered yet, it is said that it is waited for."""

    def answered(self, began: float, emit: Emit) -> None:
        """Note that the server has answered a call that began at ``began`` (loop time)."""

    async def failed(self, failure: Retry, row_id: str, began: float, emit: Emit, *, is_last: bool = True) -> bool:
        """Note that the server has failed at a call.

        Args:
            failure: what it came to.
            row_id: whose call it was.
            began: when, in loop time.
            emit: sink of events, for pauses.
            is_last: whether no other model is to be asked for this row.

        Returns:
            Whether to leave it at that: the row is asked for again when its turn has come.

        Raises:
            SummarizerUnusableError: the server has failed for as long as it may.
        """

    async def retry_in(self, row_id: str, reason: str, *, in_time: bool = True) -> float | None:
        """Say when a row whose tries have failed is asked for again.

        Args:
            row_id: the row.
            reason: what its last try came to.
            in_time: unless its time is up.

        Returns:
            Seconds to wait, besides the pauses of all; None where the row itself is at fault.
        """

    async def drain(self) -> None:
        """Wait for the calls under way, as the run stops: their answers are paid for, and to be kept."""

    def ask_again(self) -> None:
        """Admit a call after all, for one who asks though it has stopped; not in a run, which ends then."""

    def forget(self, row_id: str) -> None:
        """Forget a row, as it is done."""
