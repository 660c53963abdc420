"""What workers and their driver say to each other about calls of the endpoint.

The unit of a lease is one request: its turn, its tokens, and its place among those in flight.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from trajcompress.summarize.retry import Retry


class TurnWanted(Struct, frozen=True):
    """A question for a turn, for a request of so many tokens at most; ``turn`` tells it from the worker's others."""

    turn: int
    tokens: int


class TurnGiven(Struct, frozen=True):
    """The answer, when the turn has come; ``has_answered``: whether the endpoint ever has, to any worker."""

    has_answered: bool


class TurnSent(Struct, frozen=True):
    """The request of a turn has gone out."""

    turn: int


class TurnEnded(Struct, frozen=True):
    """A turn has ended, or nobody waits for it any more; the ``tokens`` that it took, None where nobody knows."""

    turn: int
    was_sent: bool
    tokens: int | None = None


class CallsPaused(Struct, frozen=True):
    """The server wants nothing to be sent for so long."""

    seconds: float


class CallAnswered(Struct, frozen=True):
    """A call was answered that began so many seconds ago."""

    age_s: float


class CallFailed(Struct, frozen=True):
    """A question for what follows where the server has failed at a call that began so many seconds ago.

    The answer is that of :meth:`~trajcompress.summarize.endpoint.failures.Failures.failed`, or the error that it
    raises. What was to be emitted ``before`` comes along: the end of that call's turn, behind which no other may
    begin.
    """

    failure: Retry
    row_id: str
    age_s: float
    is_last: bool
    before: tuple[LeaseNews, ...] = ()


class RowFailed(Struct, frozen=True):
    """A question for when a row is asked for again.

    The answer is that of :meth:`~trajcompress.summarize.endpoint.failures.Failures.retry_in`.
    """

    row_id: str
    reason: str
    in_time: bool


class RowForgotten(Struct, frozen=True):
    """A row that had failed is done."""

    row_id: str


class CallsEnd(Struct, frozen=True):
    """The run stops: no call begins any more."""


class CallNews(Struct, frozen=True):
    """What a worker wants known of its calls."""

    news: tuple[LeaseNews, ...]


LeaseQuestion: TypeAlias = TurnWanted | CallFailed | RowFailed
LeaseNews: TypeAlias = TurnSent | TurnEnded | CallsPaused | CallAnswered | RowForgotten | CallsEnd
