from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.formats.turns import add_text, keys_of, new_user_turn, read_turn


def turns_of(*messages):
    return trajectory_of(*messages).turns


def trajectory_of(*messages):
    return read_trajectory({"messages": list(messages)}, "x", FormatOptions())


USER = {"role": "user", "content": "list"}


@pytest.mark.parametrize("key", ["tool_call_id", "call_id", "id"])
def test_flat_calls_and_results_that_name_them(key):
    _, asks, answers = turns_of(
        USER,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"path": "."}}],
        },
        {"role": "tool", key: "c1", "content": "a.txt", "name": "ls"},
    )
    assert asks.text == ""
    assert [(call.id, call.name, call.arguments) for call in asks.calls] == [("c1", "ls", '{"path": "."}')]
    assert (answers.answers, answers.text, answers.name) == (("c1",), "a.txt", "ls")


def test_a_result_that_names_no_call_still_answers_one():
    assert turns_of(USER, {"role": "tool", "content": "a.txt"})[1].answers == (None,)
    assert turns_of(USER, {"role": "tool", "tool_call_ids": ["a", "b"], "content": ""})[1].answers == ("a", "b")


def test_results_in_the_text_of_a_user():
    text = "<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response>"
    assert turns_of(USER, {"role": "user", "content": text})[1].answers == (None, None)
    assert turns_of({"role": "user", "content": "What is a <tool_response>?"})[0].answers == ()


def test_calls_written_in_text():
    text = 'Look.\n<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>\n<tool_call>broken</tool_call>'
    calls = turns_of(USER, {"role": "assistant", "content": text})[1].calls
    assert [(call.name, call.arguments, call.in_text) for call in calls] == [("ls", "{}", True), ("", "broken", True)]


@pytest.mark.parametrize("thought", ["", "<think>\nhm\n</think>\n\n"])
def test_a_sharegpt_turn_that_is_a_call(thought):
    message = {"from": "function_call", "value": thought + '{"name": "ls", "arguments": {"path": "."}}'}
    (call,) = turns_of({"from": "human", "value": "list"}, message)[1].calls
    assert (call.name, call.arguments, call.in_text) == ("ls", '{"path": "."}', True)


def test_a_sharegpt_turn_that_is_a_call_in_a_function_s_tag():
    value = "I look.\n\n<function=ls>\n<parameter=path>\n.\n</parameter>\n</function>"
    (call,) = turns_of({"from": "human", "value": "list"}, {"from": "function_call", "value": value})[1].calls
    assert (call.name, call.arguments, call.in_text) == ("ls", '{"path": "."}', True)


def test_a_model_that_never_ends_its_tags_costs_no_more_than_it_wrote():
    message = {"role": "assistant", "content": "<tool_call>" * 100_000}
    assert turns_of(USER, message)[1].calls == ()
    message = {"from": "function_call", "value": "<think>" * 100_000}
    assert len(turns_of({"from": "human", "value": "list"}, message)[1].calls) == 1


def test_both_formats_keys_in_one_struct():
    message = {"role": None, "content": None, "from": "human", "value": "hi", "loss": None}
    (turn,) = turns_of(message)
    assert (turn.role, turn.text) == ("user", "hi")
    assert add_text(turn, after="!").raw == message | {"value": "hi!"}


@given(
    content=st.one_of(
        st.none(),
        st.text(),
        st.lists(st.text(), min_size=1),
        st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": st.text()}), min_size=1),
        st.lists(st.fixed_dictionaries({"text": st.text(min_size=1)}), min_size=1),
        st.lists(st.fixed_dictionaries({"type": st.just("text"), "value": st.text()}), min_size=1),
    ),
    before=st.text(max_size=5),
    after=st.text(max_size=5),
)
def test_added_text_is_read_back_and_nothing_else_changes(content, before, after):
    message = {"role": "user", "content": content, "loss": 0.5}
    turn = read_turn(message, "user", "user", "openai")
    changed = add_text(turn, before=before, after=after)
    assert changed == read_turn(changed.raw, "user", "user", "openai")
    assert changed.text.startswith(before)
    assert changed.text.endswith(after)
    assert turn.text in changed.text
    assert {**changed.raw, "content": content} == message
    if isinstance(content, list):
        kinds = {type(part) for part in changed.raw["content"]}
        assert kinds == {type(part) for part in content}


def test_a_new_user_turn_speaks_the_dialect_of_the_row():
    sharegpt = trajectory_of(
        {"from": "human", "value": "hi", "loss": None, "weight": 0.0}, {"from": "gpt", "value": "ho", "loss": True}
    )
    assert new_user_turn(sharegpt, "S").raw == {"from": "human", "value": "S", "loss": None}
    openai = trajectory_of(USER | {"weight": 0, "name": "ann"}, {"role": "agent", "content": "", "weight": 1})
    assert new_user_turn(openai, "S").raw == {"role": "user", "content": "S", "weight": 0}
    nobody = trajectory_of({"from": "system", "value": "be"}, {"from": "gpt", "value": "ho"})
    assert new_user_turn(nobody, "S").raw == {"from": "human", "value": "S"}


def test_a_new_user_turn_has_parts_where_every_turn_has():
    parts = [{"type": "text", "text": "hi"}]
    only_lists = trajectory_of({"role": "user", "content": parts}, {"role": "assistant", "content": None})
    assert new_user_turn(only_lists, "S").raw["content"] == [{"type": "text", "text": "S"}]
    mixed = trajectory_of({"role": "user", "content": parts}, {"role": "assistant", "content": "ho"})
    assert new_user_turn(mixed, "S").raw["content"] == "S"


_VALUES = st.sampled_from([None, "", "a"])


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(["role", "from", "content", "value"], _VALUES)))
def test_the_keys_of_a_message_are_those_of_its_format_that_it_fills_else_has(message):
    openai = message.get("role") is not None or "from" not in message
    order = ["content", "value"] if openai else ["value", "content"]
    filled = [key for key in order if message.get(key) is not None]
    there = [key for key in order if key in message]
    keys = keys_of(message)
    assert keys.role == ("role" if openai else "from")
    assert keys.content == [*filled, *there, *order][0]
