"""What happened to a row, as plain data: what the core returns, and what its metrics are made of."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from trajcompress.compaction.segments.segment import Segment
from trajcompress.compaction.state import State
from trajcompress.errors import INTERNAL, EngineMismatchError, SummaryError, UncountableTextError, told
from trajcompress.redact import redact
from trajcompress.summarize.base import Usage
from trajcompress.tokens.counter import Count
from trajcompress.transcript.trajectory import Turn

BELOW_MIN_TOKENS: Literal["below_min_tokens"] = "below_min_tokens"
FORM_UNFIT: Literal["form_unfit"] = "form_unfit"
OVER_LIMIT: Literal["over_limit"] = "over_limit"

LeftOut: TypeAlias = Literal["below_min_tokens", "form_unfit", "over_limit"]
"""Why settings leave a row out of the dataset."""


class Happened(Struct, frozen=True):
    """What happened to one trajectory.

    ``count`` is None where nobody can say. ``first`` is the state in which a row over its budget was measured,
    ``last`` the one to be written, or ``segments`` are; without either the row stays as it was, for ``reason``, and
    has ``failed`` where a summary was needed and could not be had. ``over_limit`` is whether what is written is over
    the budget. ``passes`` summaries were asked for, without ``redactions`` secrets, and cost ``usage``. ``left_out``
    says why nothing is written; with ``save_over_limit`` off, of segments those that are over it are not.
    """

    count: Count | None
    first: State | None = None
    last: State | None = None
    reason: str | None = None
    error: str | None = None
    failed: bool = False
    over_limit: bool = False
    segments: tuple[Segment, ...] = ()
    passes: int = 0
    redactions: int = 0
    usage: Usage = field(default_factory=Usage)
    left_out: LeftOut | None = None
    save_over_limit: bool = True

    @property
    def turns(self) -> tuple[Turn, ...] | None:
        """The turns of a row that changed and stays one; None where it stays as it is or becomes segments."""
        return self.last.written if self.last else None

    @property
    def tokens(self) -> int | None:
        """Tokens of the row or of all segments; None where nobody can say."""
        if self.segments:
            return sum(segment.tokens for segment in self.segments)
        count = self.last or self.count
        return count.tokens if count else None

    def given_up(self, error: Exception, timeout_s: float | None = None) -> Happened:
        """Say that the row stays as it was, by an error of its own or a mistake of ours; see :func:`why`."""
        reason, said = why(error, timeout_s)
        failed, over = not isinstance(error, UncountableTextError), self.over_limit or self.first is not None
        return replace(self, last=None, segments=(), reason=reason, error=said, failed=failed, over_limit=over)

    @property
    def saved(self) -> tuple[tuple[int, Segment], ...]:
        """The segments that are written, each with its number, from 1."""
        return tuple(
            (number, segment)
            for number, segment in enumerate(self.segments, 1)
            if self.save_over_limit or not segment.over
        )


def why(error: Exception, timeout_s: float | None = None) -> tuple[str, str]:
    """Return the reason of a row that an error left as it was, and what it says; it had ``timeout_s`` seconds."""
    if isinstance(error, SummaryError):
        return error.reason, str(error)
    if isinstance(error, TimeoutError) and timeout_s is not None:
        return "trajectory_timeout", f"no result within {timeout_s:g} s"
    if isinstance(error, UncountableTextError):
        return "uncountable_text", str(error)
    if isinstance(error, EngineMismatchError):
        return "miscounted", str(error)
    return INTERNAL, mistake_in(error)


def mistake_in(error: Exception) -> str:
    """Say what a mistake of this package was, without the secrets of a row that it may quote."""
    return redact(told(error)).text
