"""Observations that a summary has to take, whatever is left of others: of these no lines are made."""

from __future__ import annotations

from typing import get_args

from clearing import FIRST, measured
from compressing import Writer, assert_adds_up, run, words
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from trajectories import read

from trajcompress.compaction.order import recent_observations, stays_over, summarised_anyway
from trajcompress.compaction.over_limit import Part
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Protection
from trajcompress.compaction.text.line import is_line
from trajcompress.compaction.text.result_lines import LONG_CHARS
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.trajectory import Trajectory

RULES = replace(FIRST, target_max_tokens=2_000, summary_size=150, protection=Protection(last_n_turns=2))
PROTECTED = get_args(Part)  # what may be over the budget whatever is summarised
OBSERVED = "".join(f"line {number} of what was printed\n" for number in range(40))


def talk(said: list[int]) -> Trajectory:
    """A row in which the agent says so many sentences in each step, and is answered at length."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "Mend it."}]
    for number, sentences in enumerate(said):
        call = {"id": f"c{number}", "function": {"name": "read", "arguments": f'{{"path": "src/f{number}.py"}}'}}
        thought = f"Step {number}. " + "I look at what it does there. " * sentences
        messages.append({"role": "assistant", "content": thought, "tool_calls": [{"type": "function", **call}]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"file {number}\n{OBSERVED}\nend {number}"}
        )
    return read([*messages, {"role": "assistant", "content": "Done."}])


def assert_all_are_lines(trajectory: Trajectory, counter: TokenCounter, rules: Policy) -> None:
    """Check that of old observations that are kept lines are left, or that they were cut."""
    turns, row = run(counter, trajectory, None, rules)
    assert_adds_up(counter, trajectory, rules, turns, row)
    assert not row.still_over_limit or row.reason in PROTECTED
    state = measured(counter, trajectory, rules)
    last = {id(state.turns[index].raw) for index in recent_observations(state, rules).last}
    middle = {id(turn.raw) for turn in state.turns[state.layout.middle.start : state.layout.middle.end]}
    whole = [turn for turn in turns or () if turn.answers and id(turn.raw) in middle - last]
    assert not [turn for turn in whole if len(turn.text) > LONG_CHARS and not is_line(turn.text)]


def test_of_what_a_summary_takes_anyway_nothing_else_stays(counter: TokenCounter):
    long = talk([12] * 60)
    state = measured(counter, long, RULES)
    anyway = summarised_anyway(state, RULES)
    assert len(anyway) > 20
    assert_all_are_lines(long, counter, RULES)
    writer = Writer(lambda _: words(20))
    _, row = run(counter, long, writer, RULES)
    assert (row.still_over_limit, len(writer.asked)) == (False, 1)
    assert anyway <= set(range(row.region_start_idx, row.region_end_idx))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=2, max_size=40), st.integers(700, 4_000), st.integers(0, 6))
@example([9, 24, 40], 700, 0)
@example([38, 40], 700, 0)
def test_no_old_observation_stays_whole_in_a_row_that_is_summarised(
    counter: TokenCounter, said: list[int], target: int, keep: int
):
    long, rules = talk(said), replace(RULES, target_max_tokens=target, keep_observations=keep)
    state = measured(counter, long, rules)
    if stays_over(state, rules):
        assert_all_are_lines(long, counter, rules)
    else:
        assert not summarised_anyway(state, rules)
