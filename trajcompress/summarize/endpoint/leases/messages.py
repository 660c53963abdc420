"""What workers and their driver say to each other about calls of the endpoint.

The unit of a lease is one request: its turn, its tokens, and its place among those in flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from trajcompress.summarize.endpoint.retry import Retry


@dataclass(frozen=True, slots=True)
class TurnWanted:
    """A question for a turn, for a request of so many tokens at most; ``turn`` tells it from the worker's others."""

    turn: int
    tokens: int


@dataclass(frozen=True, slots=True)
class TurnGiven:
    """The answer, when the turn has come; ``has_answered``: whether the endpoint ever has, to any worker."""

    has_answered: bool


@dataclass(frozen=True, slots=True)
class TurnSent:
    """The request of a turn has gone out."""

    turn: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn has ended, or nobody waits for it any more; the ``tokens`` that it took, None where nobody knows."""

    turn: int
    was_sent: bool
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallsPaused:
    """The server wants nothing to be sent for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CallAnswered:
    """A call was answered that began so many seconds ago."""

    age_s: float


@dataclass(frozen=True, slots=True)
class CallFailed:
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


@dataclass(frozen=True, slots=True)
class RowFailed:
    """A question for when a row is asked for again.

    The answer is that of :meth:`~trajcompress.summarize.endpoint.failures.Failures.retry_in`.
    """

    row_id: str
    reason: str
    in_time: bool


@dataclass(frozen=True, slots=True)
class RowForgotten:
    """A row that had failed is done."""

    row_id: str


@dataclass(frozen=True, slots=True)
class CallsEnd:
    """The run stops: no call begins any more."""


@dataclass(frozen=True, slots=True)
class CallNews:
    """What a worker wants known of its calls."""

    news: tuple[LeaseNews, ...]


LeaseQuestion: TypeAlias = TurnWanted | CallFailed | RowFailed
LeaseNews: TypeAlias = TurnSent | TurnEnded | CallsPaused | CallAnswered | RowForgotten | CallsEnd
