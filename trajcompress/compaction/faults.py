"""Faults of a row for its target: those that it was read with, and those that it is written with."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from functools import reduce

from msgspec import Struct

from trajcompress.compaction.policy import Policy
from trajcompress.tokens.counter import Count
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import NOTES

_REFUSED = "template_refuses"


class Faults(Struct, frozen=True):
    """Kinds of violations of one row, each as often as there are any, as it was ``read`` and as it is ``written``."""

    read: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def new(self) -> tuple[str, ...]:
        """The kinds of which it is written with more than it was read with."""
        return tuple((Counter(self.written) - Counter(self.read)).elements())


def faults_of(
    trajectory: Trajectory, count: Count, policy: Policy, written: Sequence[tuple[Sequence[Turn], Count]]
) -> Faults:
    """Return what the target refuses in a row.

    Args:
        trajectory: the row, in the form in which it is to be written.
        count: that of it.
        policy: names the target.
        written: the rows in its place, each with its count; none where it stays. Of several that which has most of a
            kind says how often it is there.
    """
    had = _kinds(trajectory.turns, count, policy)
    formed = trajectory.formed
    read = had if formed is None or formed.read_faults is None else formed.read_faults
    if _REFUSED not in read:  # what the template refuses in the form, it refuses in what that was made of, too
        read = (*read, *_refusal(count))
    if not written:
        return Faults(read, had)
    most = reduce(operator.or_, (Counter(_kinds(turns, counted, policy)) for turns, counted in written))
    return Faults(read, tuple(most.elements()))


def _kinds(turns: Sequence[Turn], count: Count, policy: Policy) -> tuple[str, ...]:
    found = violations(
        turns,
        policy.target,
        mapped_roles=policy.mapped_roles,
        mistral=policy.mistral,
        assistant_only=policy.assistant_only,
    )
    return (*(each.kind for each in found if each.kind not in NOTES), *_refusal(count))


def _refusal(count: Count) -> tuple[str, ...]:
    return (_REFUSED,) if count.method == "content_template_refused" else ()
