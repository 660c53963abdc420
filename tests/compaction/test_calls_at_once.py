"""Several calls made at once are the same trajectory, whether their results share a turn or have one each."""

from __future__ import annotations

import json

import pytest
from clearing import FIRST, measured
from compressing import Writer, run, words
from msgspec.structs import replace
from pruning import call
from trajectories import read, result

from trajcompress.compaction.order import recent_observations
from trajcompress.formats.rewrite import result_texts
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

TASK = {"role": "user", "content": "Find what is slow."}
PRINTED = {name: "\n".join(f"{name} {line} took {line * 7} ms" for line in range(60)) for name in ("build", "query")}


def as_turns(rounds: int) -> Trajectory:
    """Two calls in each turn, and a tool turn for each result."""
    turns = [TASK]
    for number in range(rounds):
        asked = [call("measure", f"{name}{number}", what=name, round=number) for name in PRINTED]
        turns.append({**asked[0], "tool_calls": [each["tool_calls"][0] for each in asked]})
        turns += [result(f"{name}{number}", f"{printed}\nround {number}") for name, printed in PRINTED.items()]
    return read([*turns, {"role": "assistant", "content": "It is the query."}])


def as_text(rounds: int) -> Trajectory:
    """The same in tags, where a turn has both results."""
    turns = [TASK]
    for number in range(rounds):
        asked = [{"name": "measure", "arguments": {"what": name, "round": number}} for name in PRINTED]
        calls = "\n".join(f"<tool_call>\n{json.dumps(each)}\n</tool_call>" for each in asked)
        told = (f"<tool_response>\n{printed}\nround {number}\n</tool_response>" for printed in PRINTED.values())
        turns += [{"role": "assistant", "content": calls}, {"role": "user", "content": "\n".join(told)}]
    return read([*turns, {"role": "assistant", "content": "It is the query."}])


@pytest.mark.parametrize(("keep", "last"), [(0, 0), (1, 1), (2, 1), (3, 2), (5, 3), (99, 4)])
def test_several_results_in_one_turn_count_as_several(counter: TokenCounter, keep: int, last: int):
    trajectory = as_text(4)
    rules = replace(FIRST, keep_observations=keep, target_max_tokens=8000)
    newest = [index for index, turn in enumerate(trajectory.turns) if turn.answers][4 - last :]
    assert recent_observations(measured(counter, trajectory, rules), rules).last == set(newest)


@pytest.mark.parametrize("target", [2500, 4000, 6000])
def test_what_is_left_of_results_is_the_same_in_both(counter: TokenCounter, target: int):
    rules = replace(FIRST, target_max_tokens=target, keep_observations=4)
    left = []
    for trajectory in (as_turns(8), as_text(8)):
        turns, row = run(counter, trajectory, Writer(lambda _: words(50)), rules)
        assert not row.still_over_limit
        left.append([text for turn in turns for text in result_texts(turn)])
    assert len(left[0]) == len(left[1]) == 16
    alike = [one == other for one, other in zip(*left, strict=True)]
    assert sum(alike) >= 14  # some tokens are of the roles, so the last that was put back may differ
