from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from trajectories import Example, call, examples, read, result

from trajcompress.transcript.tool_groups import allowed_cuts, tool_groups
from trajcompress.transcript.trajectory import Turn

_OTHER = Turn("assistant", "so be it", {"role": "assistant", "content": "so be it"})


def groups(*messages: dict) -> list[tuple[int, int]]:
    return [(start, end) for start, end in tool_groups(read(list(messages)).turns) if end - start > 1]


def say(role: str = "assistant") -> dict:
    return {"role": role, "content": "words"}


@given(examples())
def test_cuts_are_exactly_those_that_separate_no_call_from_its_result(example: Example):
    parted = [
        any(asked < cut <= answered for asked, answered in example.answered) for cut in range(len(example.turns) + 1)
    ]
    assert [not cut for cut in allowed_cuts(example.turns)] == parted


@given(examples(), st.data())
def test_a_turn_that_neither_calls_nor_answers_moves_no_group(example: Example, data: st.DataObject):
    at = data.draw(st.integers(0, len(example.turns)))
    longer = (*example.turns[:at], _OTHER, *example.turns[at:])
    before, after = allowed_cuts(example.turns), allowed_cuts(longer)
    assert after[:at] + after[at + 2 :] == before[:at] + before[at + 1 :]
    assert after[at] == after[at + 1] == before[at]


@given(examples())
def test_groups_are_in_order_and_apart(example: Example):
    ends = [0, *(edge for group in tool_groups(example.turns) for edge in group), len(example.turns)]
    assert ends == sorted(ends)


def test_results_in_any_order_belong_to_the_call_of_their_id():
    messages = [say("user"), call("a"), call("b"), say(), result("b"), result("a"), say()]
    assert groups(*messages) == [(1, 6)]


def test_a_reused_id_means_the_newest_call():
    assert groups(call("call_0"), result("call_0"), say(), call("call_0"), result("call_0")) == [(0, 2), (3, 5)]


def test_calls_in_a_row_without_ids_are_one_group_with_their_results():
    assert groups(say("user"), call(None), call(None), result(None), result(None), say()) == [(1, 5)]


def test_what_an_agent_answers_belongs_to_the_turn_that_called_it_by_name():
    names = ["human", "Boss (-> Surfer)", "Boss (thought)", "Surfer", "Boss (thought)", "Surfer", "Boss (thought)"]
    assert groups(*map(say, names)) == [(1, 4)]


def test_a_result_without_an_id_answers_a_call_that_has_one():
    assert groups(call("a"), result(None), say(), call("b"), result(None)) == [(0, 2), (3, 5)]


def test_an_unknown_id_is_matched_by_position():
    assert groups(call("a"), result("message-17"), say()) == [(0, 2)]


def test_a_late_result_holds_everything_since_its_call():
    assert groups(call("a"), say("user"), say(), result("a"), say()) == [(0, 4)]


def test_a_call_without_a_result_may_be_cut_off():
    assert groups(say("user"), call(None), say("user"), call(None), result(None)) == [(3, 5)]


def test_a_result_that_nothing_asked_for_stays_with_the_turn_before_it():
    assert groups(call("a"), result("a"), say("user"), say(), result(None), say()) == [(0, 2), (3, 5)]


def test_many_unasked_results_do_not_glue_the_row_together():
    rows = [call("a"), result("a")] + [say(), result(None)] * 50
    assert len(groups(*rows)) == 51


def test_a_row_that_begins_with_a_result():
    assert groups(result(None), say("user")) == []


def test_a_server_side_result_belongs_to_its_own_turn():
    own = {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": "found"},
        ],
    }
    assert groups(call("a"), result("a"), say("user"), own, say("user")) == [(0, 2)]
