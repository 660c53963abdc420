"""Name all facts needed in a summary whose row cannot be made to fit: then nothing is gained by leaving one out."""

from __future__ import annotations

from dataclasses import replace

from trajcompress.compaction.over_limit import OF_SUMMARIES, cause_over
from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.verify import with_all_facts


def name_facts(state: State, policy: Policy) -> Asking[State | Skip]:
    """Say what keeps a spliced row over its budget; where that is no summary, name the facts that were left out."""
    yield from ()
    base, splice = state.unspliced, state.splice
    if splice is None:
        return NOTHING_TO_DO
    cause = cause_over(base, splice.region, policy)
    if policy.grounded and splice.lost and cause not in OF_SUMMARIES:
        complete = with_all_facts(base, splice, policy)
        if complete.tokens < base.tokens:
            state = base.with_splice(complete)
    return replace(state, reason=cause)
