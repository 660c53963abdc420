"""The last request of an agent's context: kept word for word, though turns on both sides of it are summarised."""

from __future__ import annotations

from typing import get_args

import pytest
from compressing import POLICY, Writer, run
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from shared import load_cached
from trajectories import Example, agent_run, call, examples, openai, read, result, users_in_a_row

from trajcompress.compaction.assemble import assemble
from trajcompress.compaction.policy import Policy
from trajcompress.compaction.region import Compress, Protection, last_request, lay_out, plan_region
from trajcompress.settings.choices import Target
from trajcompress.tokens.counter import TokenCounter
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.targets import takes_user_after_tool
from trajcompress.transcript.tool_groups import allowed_cuts
from trajcompress.transcript.trajectory import Region
from trajcompress.transcript.validity import violations

SUMMARY = f"{SUMMARY_PREFIX}\nGoal: list the files."
LIVE = Protection(tail_tokens=20, last_request=True)
TURNS = [("system", "be"), ("user", "task"), ("assistant", "1"), *[("assistant", "2")] * 4, ("user", "and this")]
FAR_BACK = openai(*TURNS, *[("assistant", "3")] * 20)


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    return TokenCounter(load_cached("chatml"))


def test_the_middle_goes_past_it_and_it_frees_nothing():
    sizes = [10] * len(FAR_BACK.turns)
    held = lay_out(FAR_BACK.turns, Protection(tail_tokens=20), sizes)
    layout = lay_out(FAR_BACK.turns, LIVE, sizes)
    assert held.middle == Region(3, 7)
    assert (held.request, layout.middle.start, layout.request) == (None, 3, 7)
    assert layout.middle.end > 20
    assert plan_region(sizes, layout, 50, 10) == Compress(Region(3, 10), 60, 10)


def test_it_stands_behind_the_summary_that_takes_its_place():
    made = assemble(FAR_BACK, Region(3, 10), SUMMARY, POLICY, request=7)
    assert made.turns[3].text == f"{SUMMARY}\n{SUMMARY_END}\n\nand this"
    assert made.turns[4:] == FAR_BACK.turns[10:]
    assert (
        assemble(FAR_BACK, Region(3, 7), SUMMARY, POLICY, request=7).turns[3:] == made.turns[3:4] + FAR_BACK.turns[8:]
    )


def test_one_in_the_tail_or_in_the_head_is_left_alone():
    alone = openai(*TURNS[:3], *[("assistant", "3")] * 20)
    assert lay_out(alone.turns, LIVE, [10] * 23).request is None
    at_the_end = openai(*TURNS[:3], *[("assistant", "3")] * 20, ("user", "and this"))
    assert lay_out(at_the_end.turns, LIVE, [10] * 24).request is None


def test_a_head_by_tokens_leaves_out_a_first_step_that_is_long():
    turns = read([{"role": "user", "content": "go"}, *([call(), result()] * 10)]).turns
    sizes = [10] * len(turns)
    held = Protection(last_n_turns=2, head_tokens=30)
    assert lay_out(turns, held, sizes).middle.start == 3
    assert lay_out(turns, held, [10, 10, 11, *sizes[3:]]).middle.start == 1
    assert lay_out(turns, Protection(last_n_turns=2), [10, 10, 11, *sizes[3:]]).middle.start == 3
    long_task = [1000, *sizes[1:]]
    assert lay_out(turns, held, long_task).middle.start == 1


def test_a_summary_is_no_request():
    trajectory = openai(*TURNS, ("assistant", "3"), ("user", SUMMARY), ("assistant", "4"))
    assert last_request(trajectory.turns) == 7


@given(examples(), st.integers(1, 60), st.sampled_from(get_args(Target)), st.data())
def test_wherever_it_stands_it_stays_and_the_transcript_stays_valid(
    example: Example, tail: int, target: str, data: st.DataObject
):
    turns = example.turns
    layout = lay_out(turns, Protection(tail_tokens=tail, last_request=True), [10] * len(turns), target=target)
    ends = [cut for cut in range(layout.middle.start + 1, layout.middle.end + 1) if layout.cuts[cut]]
    if not ends:
        return
    region = Region(layout.middle.start, data.draw(st.sampled_from(ends)))
    made = assemble(example.trajectory, region, SUMMARY, replace(POLICY, target=target), request=layout.request)
    asked = last_request(turns)
    if asked is not None:
        assert any(turn.role == "user" and turns[asked].text in turn.text for turn in made.turns)
    assert all(allowed_cuts(made.turns)[at] for at in (region.start,) if made.placed == "human")
    if not users_in_a_row(turns):
        assert not users_in_a_row(made.turns)
    kinds = {each.kind for each in violations(turns, target)}
    if not kinds or takes_user_after_tool(target):  # what breaks a strict order already may break it otherwise
        assert {each.kind for each in violations(made.turns, target)} <= kinds | {"no_assistant_turn"}


def test_a_row_that_is_compressed_again_by_a_tail_of_tokens_has_its_summary_updated(counter: TokenCounter):
    """The summary stands as a user turn, but asks for nothing: it must not hold the tail back."""
    writer = Writer(lambda _: f"{SUMMARY_PREFIX}\nDone up to here, at the time number {len(writer.asked)}.")
    row = agent_run(40)
    for target in (1500, 1000):
        policy = Policy(target_max_tokens=target, summary_size=100, protection=Protection(tail_tokens=100))
        turns, metrics = run(counter, row, writer, policy)
        assert metrics.compressed_tokens <= target < metrics.original_tokens
        assert sum(SUMMARY_PREFIX in turn.text for turn in turns) == 1
        row = read([turn.raw for turn in turns])
    assert "number 1" in writer.asked[1].previous
