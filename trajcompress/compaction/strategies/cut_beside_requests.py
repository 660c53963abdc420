"""Cut what stands in a request beside a person's words: worked examples, and what an editor has open."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from trajcompress.compaction.policy import NOTHING_TO_DO, Asking, Policy, Skip
from trajcompress.compaction.state import State
from trajcompress.compaction.strategies.truncate_observations import TRUNCATED
from trajcompress.compaction.text.middle import cut_behind
from trajcompress.formats.rewrite import map_request
from trajcompress.redact import Clean
from trajcompress.transcript.notes import tells_state, without_state
from trajcompress.transcript.observations import example_within, is_request


def cut_beside_requests(state: State, policy: Policy) -> Asking[State | Skip]:
    """Cut worked examples between the lines that say so, and an editor's state that later turns tell anew.

    That goes before any turn of the assistant is summarised away.
    """
    yield from ()
    turns = list(state.turns)
    may_change = [at for at, turn in enumerate(turns) if is_request(turn) and at != state.shared_turn]
    last_state = max((at for at, turn in enumerate(turns) if tells_state(turn.text)), default=-1)
    for index in may_change:
        turns[index] = map_request(turns[index], partial(_without_example, state.takes_secrets_out))
        if index < last_state and not turns[index].answers:
            turns[index] = map_request(turns[index], without_state)
    changed = frozenset(index for index in may_change if turns[index] is not state.turns[index])
    if not changed:
        return NOTHING_TO_DO
    shorter = state.with_turns(tuple(turns), target=policy.target_max_tokens)
    if shorter.tokens >= state.tokens or shorter.count.method != state.count.method:
        return NOTHING_TO_DO
    reason = TRUNCATED if shorter.tokens <= policy.target_max_tokens else state.reason
    return replace(shorter, cut_first=state.cut_first | changed, reason=reason)


def _without_example(clean: Clean, text: str) -> str:
    """Return a request without the example in it; all of it where a secret might lose its half."""
    start, end = example_within(text)
    return cut_behind(text, start, end) if end and clean(text) == text else text
