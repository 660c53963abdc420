from __future__ import annotations

from typing import Any

import pytest
from compressing import POLICY
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from trajectories import Example, call, examples, openai, read, result, sharegpt, users_in_a_row

from trajcompress.compaction.assemble import Assembled, assemble
from trajcompress.compaction.region import Protection, lay_out
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.settings.choices import Placement
from trajcompress.transcript.summary_marks import SUMMARY_END, SUMMARY_PREFIX
from trajcompress.transcript.trajectory import Region, Trajectory

SUMMARY = f"{SUMMARY_PREFIX}\nGoal: list the files."
BLOCK = f"{SUMMARY}\n{SUMMARY_END}"
NOTICE = "Earlier turns were summarised."


def put(
    trajectory: Trajectory, start: int, end: int, placement: Placement = "auto", notice: str | None = None
) -> Assembled:
    return assemble(trajectory, Region(start, end), SUMMARY, replace(POLICY, placement=placement, notice=notice))


def messages(trajectory: Trajectory, made: Assembled) -> list[dict[str, Any]]:
    return replace_turns(trajectory, made.turns)[trajectory.messages_field]


@given(examples(), st.sampled_from(["auto", "human", "fold"]), st.sampled_from([None, NOTICE]), st.data())
def test_what_is_kept_is_as_it_was_but_for_one_neighbour_and_the_system_turn(
    example: Example, placement: Placement, notice: str | None, data: st.DataObject
):
    turns = example.turns
    start = data.draw(st.integers(0, len(turns) - 1))
    end = data.draw(st.integers(start + 1, len(turns)))
    made = put(example.trajectory, start, end, placement, notice)
    kept = [*turns[:start], *turns[end:]]
    stands = list(made.turns)
    if made.placed == "human":
        assert stands.pop(start).text == SUMMARY
    assert len(stands) == len(kept)
    changed = [(old, new) for old, new in zip(kept, stands, strict=True) if old is not new]
    for old, new in changed:
        assert (new.role, new.calls, new.answers) == (old.role, old.calls, old.answers)
        assert old.text in new.text
    folded = [new for _, new in changed if BLOCK in new.text]
    noticed = [new for _, new in changed if NOTICE in new.text]
    assert len(folded) == (made.placed == "fold")
    assert len(folded) + len(noticed) == len(changed)
    assert all(turn.role in {"user", "tool"} for turn in folded)
    assert len(noticed) == (notice is not None and any(turn.role == "system" for turn in turns[:start]))


@given(examples(), st.sampled_from(["auto", "human", "fold"]), st.data())
def test_what_is_made_reads_back_as_it_was_made(example: Example, placement: Placement, data: st.DataObject):
    trajectory = example.trajectory
    layout = lay_out(trajectory.turns, Protection(last_n_turns=1))
    ends = [cut for cut in range(layout.middle.start + 1, layout.middle.end + 1) if layout.cuts[cut]]
    if not ends:
        return
    made = put(trajectory, layout.middle.start, data.draw(st.sampled_from(ends)), placement, NOTICE)
    again = read_trajectory(replace_turns(trajectory, made.turns), "row:0", FormatOptions())
    assert [turn.role for turn in again.turns] == [turn.role for turn in made.turns]
    assert [turn.text for turn in again.turns] == [turn.text for turn in made.turns]


@given(examples(), st.integers(0, 4), st.booleans(), st.data())
def test_auto_never_makes_users_stand_side_by_side(example: Example, last: int, first_gpt: bool, data: st.DataObject):
    turns = example.turns
    layout = lay_out(turns, Protection(first_gpt=first_gpt, last_n_turns=last))
    ends = [cut for cut in range(layout.middle.start + 1, layout.middle.end + 1) if layout.cuts[cut]]
    if ends and not users_in_a_row(turns):
        made = put(example.trajectory, layout.middle.start, data.draw(st.sampled_from(ends)))
        assert not users_in_a_row(made.turns)


def test_between_a_tool_result_and_an_assistant_it_is_a_turn_of_its_own():
    trajectory = read([{"role": "user", "content": "go"}, call(), result(), call("b"), result("b"), call("c")])
    made = put(trajectory, 3, 5)
    assert made.placed == "human"
    assert messages(trajectory, made)[3] == {"role": "user", "content": SUMMARY}


def test_beside_a_following_user_turn_it_is_folded_in_front():
    trajectory = sharegpt(("human", "go"), ("gpt", "1"), ("human", "and"), ("gpt", "2"), ("human", "thanks"))
    made = put(trajectory, 2, 4)
    assert made.placed == "fold"
    assert messages(trajectory, made)[2] == {"from": "human", "value": f"{BLOCK}\n\nthanks"}


def test_beside_a_user_turn_before_it_it_is_folded_behind():
    trajectory = openai(("system", "be"), ("user", "go"), ("assistant", "1"), ("user", "and"), ("assistant", "2"))
    made = put(trajectory, 2, 4)
    assert made.placed == "fold"
    assert messages(trajectory, made)[1] == {"role": "user", "content": f"go\n\n{BLOCK}"}


def test_a_result_in_a_user_turn_takes_the_summary_behind_it():
    tags = [
        ("gpt", '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>'),
        ("human", "<tool_response>\na.txt\n</tool_response>"),
    ]
    trajectory = sharegpt(("human", "go"), *tags, *tags, *tags)
    made = put(trajectory, 3, 5)
    assert made.placed == "fold"
    assert made.turns[2].text == f"<tool_response>\na.txt\n</tool_response>\n\n{BLOCK}"
    assert made.turns[2].answers == (None,)


def test_human_is_a_turn_of_its_own_even_beside_a_user():
    trajectory = openai(("user", "go"), ("assistant", "1"), ("user", "and"), ("assistant", "2"))
    made = put(trajectory, 1, 2, "human")
    assert made.placed == "human"
    assert [turn.text for turn in made.turns] == ["go", SUMMARY, "and", "2"]


def test_fold_puts_it_into_a_tool_result_with_a_mark_at_its_end():
    trajectory = read([{"role": "user", "content": "go"}, call(), result(), call("b"), result("b"), call("c")])
    made = put(trajectory, 3, 5, "fold")
    assert made.placed == "fold"
    assert messages(trajectory, made)[2] == {"role": "tool", "tool_call_id": "a", "content": f"a.txt\n\n{BLOCK}"}


def test_fold_between_assistants_has_nowhere_to_go_and_says_so():
    made = put(openai(*[("assistant", "words")] * 5), 1, 4, "fold")
    assert made.placed == "human"
    assert made.turns[1].text == SUMMARY


def test_an_assistant_turn_that_holds_its_own_result_takes_no_summary():
    own = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": "found"},
    ]
    made = put(openai(("user", "go"), ("assistant", own), *[("assistant", "words")] * 3), 2, 4, "fold")
    assert made.placed == "human"


def test_the_notice_is_added_to_the_first_system_turn_only_once():
    trajectory = openai(("system", "be"), ("developer", "brief"), ("user", "go"), *[("assistant", "words")] * 6)
    made = put(trajectory, 4, 6, notice=NOTICE)
    assert [turn.text for turn in made.turns[:2]] == [f"be\n\n{NOTICE}", "brief"]
    again = read_trajectory(replace_turns(trajectory, made.turns), "row:0", FormatOptions())
    assert put(again, 5, 6, notice=NOTICE).turns[0] is again.turns[0]


def test_without_a_system_turn_there_is_no_notice():
    trajectory = openai(("user", "go"), *[("assistant", "words")] * 6)
    assert NOTICE not in str(put(trajectory, 3, 5, notice=NOTICE).turns)


def test_list_content_gets_parts_of_its_own():
    def part(text: str) -> dict[str, str]:
        return {"type": "text", "text": text}

    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    said = ("assistant", [part("words")])
    trajectory = openai(("system", [part("be")]), said, said, ("user", [picture, part("and")]), said)
    made = put(trajectory, 2, 3, notice=NOTICE)
    written = messages(trajectory, made)
    assert written[0]["content"] == [part("be"), part(f"\n\n{NOTICE}")]
    assert written[2]["content"] == [part(f"{BLOCK}\n\n"), picture, part("and")]
    assert made.turns[2].images == 1


@pytest.mark.parametrize("flag", [True, 1, 0.5, None])
def test_the_new_turn_has_the_keys_that_all_messages_have(flag: bool | float | None):
    turns = [("human", "go"), ("gpt", "1"), ("gpt", "2"), ("gpt", "3")]
    rows = [{"from": role, "value": value, "loss": flag, "note": "x"} for role, value in turns]
    rows[3]["only_here"] = "y"
    trajectory = read(rows)
    new = messages(trajectory, put(trajectory, 2, 3))[2]
    assert new == {"from": "human", "value": SUMMARY, "loss": flag, "note": None}


def test_a_summary_is_in_the_loss_of_trl_unless_it_looks_for_the_assistants_turns():
    trajectory = openai(("user", "a"), ("assistant", "b"), ("assistant", "c"), ("user", "d"), ("assistant", "e"))
    for assistant_only, train_on in ((False, "assistant"), (False, "all"), (True, "assistant"), (True, "all")):
        options = {"target": "trl", "train_on": train_on, "assistant_only": assistant_only}
        assert assemble(trajectory, Region(1, 3), SUMMARY, replace(POLICY, **options)).in_loss == (not assistant_only)


def test_the_row_that_was_read_is_not_changed():
    trajectory = openai(("system", "be"), ("user", "go"), ("assistant", "1"), ("user", "and"), ("assistant", "2"))
    before = str(trajectory.row)
    put(trajectory, 2, 4, notice=NOTICE)
    assert str(trajectory.row) == before


@pytest.mark.parametrize(
    ("target", "train_on", "placed"),
    [("axolotl", "assistant", "fold"), ("axolotl", "all", "human"), ("llama-factory", "all", "fold")],
)
def test_where_all_turns_are_trained_a_summary_stands_alone_beside_a_user_turn_where_the_target_takes_it(
    target, train_on, placed
):
    trajectory = openai(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e"))
    policy = replace(POLICY, target=target, marks="auto", train_on=train_on)
    made = assemble(trajectory, Region(1, 4), SUMMARY, policy)
    assert made.placed == placed
    assert made.in_loss == (train_on == "all" and placed == "fold")
