from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trajectories import Example, agent_run, call, examples, openai, read, result

from trajcompress.compaction.region import (
    Compress,
    Keep,
    Layout,
    Protection,
    SummaryShare,
    lay_out,
    plan_region,
    summary_room,
)
from trajcompress.transcript.tool_groups import allowed_cuts
from trajcompress.transcript.trajectory import Region, Trajectory, Turn

_protections = st.builds(
    Protection,
    first_system=st.booleans(),
    first_human=st.booleans(),
    first_gpt=st.booleans(),
    first_tool=st.booleans(),
    last_n_turns=st.integers(0, 6),
)


def middle(trajectory: Trajectory, **protection: object) -> tuple[int, int]:
    found = lay_out(trajectory.turns, Protection(**protection)).middle
    return found.start, found.end


def layout_of(length: int, *forbidden: int) -> Layout:
    """Lay out ``length`` turns that are all middle, with no cut at the given positions."""
    return Layout(Region(0, length), tuple(cut not in forbidden for cut in range(length + 1)))


@given(examples(), _protections)
def test_the_middle_spares_the_last_turns_and_parts_no_call_from_its_result(example: Example, protection: Protection):
    found = lay_out(example.turns, protection).middle
    assert 0 <= found.start <= found.end <= len(example.turns)
    if len(found):
        assert found.end <= len(example.turns) - protection.last_n_turns
        assert allowed_cuts(example.turns)[found.start]
        assert allowed_cuts(example.turns)[found.end]


@given(examples(), _protections)
def test_leading_protected_turns_are_never_in_the_middle(example: Example, protection: Protection):
    wanted = {
        "system": protection.first_system,
        "user": protection.first_human,
        "assistant": protection.first_gpt,
        "tool": protection.first_tool,
    }
    found = lay_out(example.turns, protection).middle
    for index, turn in enumerate(example.turns[: found.end]):
        role = "tool" if turn.answers else turn.role
        if not wanted[role]:
            break
        wanted[role] = False
        assert index < found.start or not len(found)


@given(examples(), _protections, st.data())
def test_the_region_is_the_shortest_run_of_whole_groups_that_frees_enough(
    example: Example, protection: Protection, data: st.DataObject
):
    turns = example.turns
    sizes = data.draw(st.lists(st.integers(0, 300), min_size=len(turns), max_size=len(turns)))
    excess, summary = data.draw(st.integers(1, 600)), data.draw(st.integers(1, 200))
    layout = lay_out(turns, protection)
    plan = plan_region(sizes, layout, excess, summary)
    assert plan == plan_region(sizes, layout, excess, summary)
    start, end = layout.middle.start, layout.middle.end
    if isinstance(plan, Keep):
        assert plan.reason == ("region_not_larger_than_summary" if start < end else "no_middle")
        assert sum(sizes[start:end]) <= summary
        return
    region = plan.region
    assert plan.tokens == sum(sizes[region.start : region.end]) > plan.summary_tokens
    if plan.summary_tokens != summary:
        assert region.end == end
        assert summary > plan.summary_tokens == plan.tokens - excess >= min(100, summary)
    assert start <= region.start < region.end <= end
    assert layout.cuts[region.end]
    if plan.tokens < excess + summary:
        assert (region.start, region.end) == (start, end)
    shorter = [cut for cut in range(start + 1, region.end) if layout.cuts[cut]]
    assert all(sum(sizes[start:cut]) < excess + summary for cut in shorter)
    later = [begin for begin in layout.starts if region.start < begin < region.end]
    assert all(sum(sizes[begin : region.end]) < excess + plan.summary_tokens for begin in later)


@given(examples(), _protections)
def test_a_region_begins_behind_a_turn_like_that_before_the_middle_and_parts_no_group(
    example: Example, protection: Protection
):
    turns, layout = example.turns, lay_out(example.turns, protection)
    for begin in layout.starts:
        assert layout.middle.start < begin < layout.middle.end
        assert allowed_cuts(turns)[begin]
        assert turns[begin - 1].role == turns[layout.middle.start - 1].role


@given(examples(max_steps=10), st.integers(0, 4))
def test_no_cut_brings_users_together_in_a_row_that_had_none_so(example: Example, last: int):
    turns = example.turns
    layout = lay_out(turns, Protection(first_gpt=False, last_n_turns=last))
    start, end = layout.middle.start, layout.middle.end
    had = any(turns[i].role == turns[i + 1].role == "user" for i in range(len(turns) - 1))
    if had or not 0 < start < end or turns[start - 1].role != "user":
        return
    ends = [cut for cut in range(start + 1, end + 1) if layout.cuts[cut] and cut < len(turns)]
    assert all(turns[cut].role != "user" for cut in ends)


@given(examples(max_steps=10), st.integers(0, 4), st.sampled_from(["llama-factory", "mistral"]))
def test_no_cut_brings_a_user_behind_a_result_where_the_target_takes_none(example: Example, last: int, target):
    turns = example.turns
    layout = lay_out(turns, Protection(last_n_turns=last), target=target)
    start, end = layout.middle.start, layout.middle.end
    if 0 < start < end and turns[start - 1].role == "tool":
        ends = [cut for cut in range(start + 1, end + 1) if layout.cuts[cut] and cut < len(turns)]
        assert all(turns[cut].role != "user" for cut in ends)


def test_the_head_is_the_first_turn_of_each_role():
    assert middle(agent_run(10)) == (4, 18)


@pytest.mark.parametrize(
    ("protection", "expected"),
    [
        ({"first_tool": False}, 4),  # its call is protected, and no call is parted from its result
        ({"first_gpt": False}, 2),
        ({"first_human": False}, 1),
        ({"first_system": False}, 0),
    ],
)
def test_a_role_that_is_not_protected_ends_the_head(protection: dict[str, bool], expected: int):
    assert middle(agent_run(10), **protection)[0] == expected


def test_all_results_of_parallel_calls_stay_with_the_first_assistant_turn():
    asked = {**call("a"), "tool_calls": [*call("a")["tool_calls"], *call("b")["tool_calls"]]}
    rest = [call("c"), result("c")] * 4
    assert middle(read([{"role": "user", "content": "go"}, asked, result("b"), result("a"), *rest])) == (4, 8)


def test_a_first_tool_turn_late_in_the_row_does_not_stretch_the_head():
    chat = [("user", "more"), ("assistant", "words")] * 50
    trajectory = openai(("system", "be"), *chat, ("assistant", "run"), ("tool", "late"), *chat)
    assert middle(trajectory) == (3, 199)


def test_system_turns_in_a_row_at_the_start_are_all_instructions():
    chat = [("assistant", "words"), ("user", "more")] * 5
    assert middle(openai(("system", "be"), ("developer", "be brief"), ("user", "go"), *chat)) == (4, 9)


def test_a_tail_that_begins_within_a_tool_group_begins_before_it():
    assert middle(agent_run(10), last_n_turns=2) == (4, 20)


def test_a_row_without_a_middle_is_kept():
    turns = agent_run(2).turns
    assert plan_region([100] * len(turns), lay_out(turns, Protection()), 10, 5) == Keep("no_middle")


def test_a_middle_no_larger_than_its_summary_is_kept():
    assert plan_region([10, 10], layout_of(2), 15, 20) == Keep("region_not_larger_than_summary")
    assert plan_region([10, 11], layout_of(2), 15, 20) == Compress(Region(0, 2), 21, 20)


def test_the_oldest_turns_go_first_and_no_more_than_needed():
    assert plan_region([10] * 10, layout_of(10), 25, 5) == Compress(Region(0, 3), 30, 5)


def test_the_first_turns_stay_where_the_last_that_goes_holds_more_than_was_left_to_save():
    layout = lay_out(agent_run(8).turns, Protection())
    start = layout.middle.start
    sizes = [10] * (start + 4) + [100] * 30
    assert plan_region(sizes, layout, 20, 5).region == Region(start, start + 4), "nothing is left over"
    assert plan_region(sizes, layout, 60, 5) == Compress(Region(start + 4, start + 6), 200, 5)
    seamed = replace(layout, seam=start)
    assert plan_region(sizes, seamed, 60, 5).region == Region(start, start + 6), "what is updated stands at the seam"


def test_a_region_begins_at_the_seam_where_what_is_behind_that_is_enough():
    layout = Layout(Region(0, 10), (True,) * 11, seam=4)
    assert plan_region([10] * 10, layout, 25, 5).region == Region(4, 7)
    assert plan_region([10] * 10, layout, 25, 5, 10).region == Region(4, 6), "with the summary that was there"
    assert plan_region([10] * 10, layout, 65, 5).region == Region(0, 7), "and before it where that is not enough"


def test_the_region_of_a_summary_that_is_updated_begins_where_it_did():
    layout = Layout(Region(0, 10), (True,) * 11, starts=frozenset(range(1, 10)))
    assert plan_region([10] * 10, layout, 25, 5, begin=3).region == Region(3, 6)
    assert plan_region([10] * 10, layout, 65, 5, begin=3).region == Region(3, 10)
    assert plan_region([10] * 10, layout, 75, 5, begin=3).region == Region(0, 8), "all is read anew"


def test_the_end_moves_on_to_the_end_of_a_tool_group():
    assert plan_region([10] * 10, layout_of(10, 3, 4), 25, 5) == Compress(Region(0, 5), 50, 5)


def test_where_the_middle_is_not_enough_all_of_it_goes():
    assert plan_region([10] * 10, layout_of(10), 1000, 5) == Compress(Region(0, 10), 100, 5)


def test_where_the_middle_leaves_little_room_the_summary_is_as_short_as_that():
    assert plan_region([100] * 10, layout_of(10), 700, 750) == Compress(Region(0, 10), 1000, 300)
    assert plan_region([100] * 10, layout_of(10), 900, 750) == Compress(Region(0, 10), 1000, 100)
    assert plan_region([100] * 10, layout_of(10), 901, 750) == Compress(Region(0, 10), 1000, 750)
    assert plan_region([60] * 10, layout_of(10), 200, 750) == Compress(Region(0, 10), 600, 400)


@pytest.mark.cpu_seconds(20)
@pytest.mark.parametrize("shape", ["pairs", "with ids", "without ids", "one group over all"])
def test_a_hundred_thousand_turns_are_planned_in_no_time(shape: str):
    many = 50_000
    asked, given = (read([message]).turns[0] for message in (call(None), result(None)))
    calls = [replace(asked, calls=(replace(asked.calls[0], id=str(i)),)) for i in range(many)]
    results = [replace(given, answers=(str(i),)) for i in range(many)]
    turns = {
        "pairs": [turn for pair in zip(calls, results, strict=True) for turn in pair],
        "with ids": calls + results,
        "without ids": [asked] * many + [given] * many,
        "one group over all": [calls[0], *(turn for other in calls[1:] for turn in (results[0], other)), results[0]],
    }[shape]
    plan = plan_region([1] * len(turns), lay_out(turns, Protection()), many, 100)
    if shape == "pairs":
        assert isinstance(plan, Compress)
        assert plan.tokens == many + 100
    else:
        assert plan == Keep("no_middle")


def long_row(*roles):
    return tuple(Turn(role, "text", {}) for role in roles)


def test_a_tail_by_tokens_takes_turns_from_the_end():
    turns = long_row("system", "user", *["assistant", "user"] * 10)
    sizes = [10] * len(turns)
    for tokens, kept in [(35, 4), (40, 5), (60, 7), (1, 3)]:  # 35 and 40: the fourth straddles, or the fifth
        middle = lay_out(turns, Protection(tail_tokens=tokens), sizes).middle
        assert len(turns) - middle.end == kept


def test_a_tail_by_tokens_holds_the_last_request():
    turns = long_row("system", "user", *["assistant", "user"] * 4, *["assistant"] * 9)
    middle = lay_out(turns, Protection(tail_tokens=20), [10] * len(turns)).middle
    assert turns[middle.end].role == "user"
    assert all(turn.role == "assistant" for turn in turns[middle.end + 1 :])


def test_a_turn_that_is_far_too_large_is_no_part_of_a_tail_by_tokens_unless_among_the_last_three():
    turns = long_row("system", "user", *["assistant"] * 10)
    sizes = [10] * len(turns)
    sizes[-4] = 1000
    assert lay_out(turns, Protection(tail_tokens=100), sizes).middle.end == len(turns) - 3
    sizes[-3] = 1000
    assert lay_out(turns, Protection(tail_tokens=100), sizes).middle.end == len(turns) - 3


def test_an_automatic_summary_is_a_share_of_what_it_replaces():
    share = SummaryShare(0.2, 20, 200)
    assert [summary_room(share, tokens) for tokens in (10, 500, 5000)] == [20, 100, 200]
    plan = plan_region([100] * 20, layout_of(20), 400, share)
    assert plan == Compress(Region(0, 5), 500, 100)  # 500 holds the 400 that must go and a summary of 100


def test_what_opens_a_text_protocol_ends_where_a_conversation_begins():
    act = ("assistant", "Thought: I look.\nAction: ls\nAction Input: {}")
    saw = ("user", "Observation: a.txt")
    task = ("user", "Count the files of my folder.")
    ready = ("assistant", "I'll follow your instructions and try my best to solve the task.")
    steps = [act, saw, act, saw, act, saw]
    opened = openai(("user", "You use a shell. Here are the rules."), ready, task, *steps)
    assert middle(opened, last_n_turns=2) == (5, 7)
    asks = ("assistant", "I can do that for you. Which folder is yours, and do hidden files count as well?")
    talked = openai(("user", "I need help with my files."), asks, task, *steps)
    assert middle(talked, last_n_turns=2)[0] == 3  # behind a request, as roles have to alternate


def test_the_only_turn_of_the_assistant_is_not_in_the_middle():
    asked = [("user", f"Part {number} of what I ask.") for number in range(8)]
    row = openai(*asked[:3], ("assistant", "I see."), *asked[3:])
    assert middle(row, last_n_turns=2) == (1, 3)
