from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st
from trajectories import Example, call, examples, read, result

from trajcompress.transcript.tool_groups import Match, allowed_cuts, match_results, tool_groups
from trajcompress.transcript.trajectory import ToolCall, Turn
from trajcompress.transcript.validity import violations

_OTHER = Turn("assistant", "so be it", {"role": "assistant", "content": "so be it"})


_USER = Turn("user", "go", {"role": "user", "content": "go"})
_ID = st.sampled_from([None, "a", "b"])
_TOOL_USE = {"orphan_tool_result", "unanswered_tool_call", "duplicate_tool_call_id", "tool_result_id_mismatch"}


def _asks(*ids: str | None) -> Turn:
    return Turn("assistant", "", {}, calls=tuple(ToolCall(call_id, "ls", "{}") for call_id in ids))


@st.composite
def odd_turns(draw: st.DrawFn) -> tuple[Turn, ...]:
    """Calls and results in any order: open calls, results too many, ids that are missing, unknown or used again."""
    caller = st.lists(_ID, min_size=1, max_size=3).map(lambda ids: _asks(*ids))
    answer = st.builds(lambda ids: Turn("tool", "", {}, answers=tuple(ids)), st.lists(_ID, min_size=1, max_size=2))
    return tuple(
        draw(st.lists(st.one_of(caller, answer, st.just(Turn("user", "go", {})), st.just(_OTHER)), max_size=9))
    )


def tool_use(turns: Sequence[Turn]) -> int:
    return sum(violation.kind in _TOOL_USE for violation in violations(turns, "template"))


def matched(*messages: dict) -> list[tuple[int, int | None, str | None]]:
    """Give the turn of each result, of its call, and the evidence."""
    matches = match_results(read(list(messages)).turns)
    return [(match.result[0], match.call and match.call[0], match.by) for match in matches]


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


@given(examples())
def test_each_result_is_matched_with_the_turn_that_called(example: Example):
    found = {(match.call[0], match.result[0]) for match in match_results(example.turns) if match.call}
    assert found == set(example.answered)


@given(odd_turns())
def test_no_cut_parts_a_result_from_its_call(turns: tuple[Turn, ...]):
    matches, cuts = match_results(turns), allowed_cuts(turns)
    assert [match.result for match in matches] == [
        (i, n) for i, turn in enumerate(turns) for n in range(len(turn.answers))
    ]
    for (answered, _), place, _ in matches:
        asked = max(0, answered - 1) if place is None else place[0]
        assert not any(cuts[asked + 1 : answered + 1])


@given(odd_turns())
def test_each_call_has_one_result_but_for_repeated_ids(turns: tuple[Turn, ...]):
    strict = match_results(turns, repeats=False)
    for matches in (match_results(turns), strict):
        once = [match.call for match in matches if match.by in {"id", "position"}]
        assert len(once) == len(set(once))
    assert "repeated_id" not in {match.by for match in strict}


@given(odd_turns())
@example((_asks(None), _asks("b"), Turn("tool", "", {}, answers=("a",))))
@example((_asks(None), _asks("b"), Turn("tool", "", {}, answers=("b", "b"))))
def test_no_cut_makes_valid_tool_use_invalid(turns: tuple[Turn, ...]):
    cuts = [cut for cut, allowed in enumerate(allowed_cuts(turns)) if allowed and not tool_use(turns)]
    assert not any(tool_use(turns[:cut]) or tool_use(turns[cut:]) for cut in cuts)


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


def test_what_says_which_call_a_result_answers():
    asks = call("a")
    asks["tool_calls"] += call(None)["tool_calls"]
    answers = [result("?"), result("a"), result("a"), result("b")]
    assert match_results(read([asks, *answers]).turns) == [
        Match((1, 0), (0, 1), "position"),  # an unknown id is rather that of the call without one
        Match((2, 0), (0, 0), "id"),
        Match((3, 0), (0, 0), "repeated_id"),
        Match((4, 0), None, None),
    ]
    assert matched(say("user"), say(), result(None), result(None)) == [(2, 1, "adjacency"), (3, None, None)]
    assert matched(say("human"), say("Boss (-> Surfer)"), say("Surfer")) == [(2, 1, "name")]


def test_a_result_of_calls_side_by_side_is_that_of_the_first():
    assert matched(call(None), call(None), result(None)) == [(2, 0, "position")]
    assert matched(call("a"), call("a"), result("a"), result("a")) == [(2, 0, "id"), (3, 1, "id")]
    assert matched(call(None), say("user"), call(None), result(None)) == [(3, 2, "position")]


def test_a_result_of_an_unknown_id_is_not_that_of_a_call_whose_own_result_comes():
    asks = {"role": "assistant", "content": None, "tool_calls": [*call("a")["tool_calls"], *call("b")["tool_calls"]]}
    matches = match_results(read([asks, result("b"), result("zz"), result("a")]).turns)
    assert [match.call for match in matches] == [(0, 1), None, (0, 0)]
    matches = match_results(read([asks, result(None), result("a")]).turns)
    assert [match.call for match in matches] == [(0, 1), (0, 0)], "a result without an id is that of the other"
