"""Faults of a row for its target: those that it was read with, and those that it is written with."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from functools import reduce

from msgspec import Struct, structs

from trajcompress.compaction.policy import Policy
from trajcompress.tokens.counter import Count, TokenCounter
from trajcompress.transcript.trajectory import Trajectory, Turn
from trajcompress.transcript.validity import violations
from trajcompress.transcript.violation import NOTES, TEMPLATE_REFUSES


class Faults(Struct, frozen=True):
    """Kinds of violations of one row, each as often as there are any, as it was ``read`` and as it is ``written``."""

    read: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def new(self) -> tuple[str, ...]:
        """The kinds of which it is written with more than it was read with."""
        return tuple((Counter(self.written) - Counter(self.read)).elements())


def faults_of(
    trajectory: Trajectory,
    count: Count,
    policy: Policy,
    written: Sequence[tuple[Sequence[Turn], Count]],
    counter: TokenCounter,
) -> Faults:
    """Return what the target refuses in a row.

    Args:
        trajectory: the row, in the form in which it is to be written.
        count: that of it.
        policy: names the target.
        counter: renders its chat template.
        written: the rows in its place, each with its count; none where it stays. Of several that which has most of a
            kind says how often it is there.
    """
    had = _kinds(trajectory, count, policy, counter)
    formed = trajectory.formed
    read = had if formed is None or formed.read_faults is None else formed.read_faults
    if TEMPLATE_REFUSES in had and TEMPLATE_REFUSES not in read:  # nor does it take what the form was made of
        read = (*read, TEMPLATE_REFUSES)
    if not written:
        return Faults(read, had)
    rows = ((structs.replace(trajectory, turns=tuple(turns)), counted) for turns, counted in written)
    most = reduce(operator.or_, (Counter(_kinds(row, counted, policy, counter)) for row, counted in rows))
    return Faults(read, tuple(most.elements()))


def _kinds(row: Trajectory, count: Count, policy: Policy, counter: TokenCounter) -> tuple[str, ...]:
    found = violations(
        row.turns,
        policy.target,
        mapped_roles=policy.mapped_roles,
        mistral=policy.mistral,
        assistant_only=policy.assistant_only,
    )
    refusal = (TEMPLATE_REFUSES,) if _is_refused(row, count, counter) else ()
    return (*(each.kind for each in found if each.kind not in NOTES), *refusal)


def _is_refused(row: Trajectory, count: Count, counter: TokenCounter) -> bool:
    """Tell whether the template refuses a row as it stands: to be counted it takes forms that nobody trains on."""
    if row.split is not None and row.split.has_text:
        return False
    if not counter.hands_over:
        return count.method == "content_template_refused"
    return not count.as_it_is and counter.refuses(row)
