"""The rules of the default ladder, and rows as it measures them."""

from __future__ import annotations

from compressing import POLICY
from msgspec.structs import replace

from trajcompress.compaction.measure import measure
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.state import State
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

FIRST = replace(POLICY, clear_observations=True, fit="strict")


def measured(counter: TokenCounter, trajectory: Trajectory, policy: Policy) -> State:
    return measure(trajectory, counter.count(trajectory), counter, policy)
