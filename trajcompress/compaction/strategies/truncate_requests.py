"""Truncate what was pasted into long requests: the last that is done to a row over its budget."""

from __future__ import annotations

from dataclasses import replace

from trajcompress.compaction.order import long_requests
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.truncate_observations import truncate_in_order

TRUNCATED_REQUEST = "request_truncated"
"""The reason of a row that fits once what was pasted into a request is truncated."""


def truncate_requests(state: State, policy: Policy) -> Asking[State | Skip]:
    """Cut the middle out of requests that take more than half of the target each, the longest first.

    No more is cut than needed. What is asked stands at the start or the end of such a request, and stays.
    Observations are as short as can be by then. Where not even that makes the row fit, nothing is cut.
    """
    yield from ()
    requests = long_requests(state, policy)
    made = truncate_in_order(state, policy, requests) if requests else None
    return replace(made, reason=TRUNCATED_REQUEST) if made is not None else NOTHING_TO_DO
