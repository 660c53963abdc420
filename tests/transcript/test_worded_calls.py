"""Rows whose results have a role, or tags, and whose calls stand in words."""

from __future__ import annotations

import json

import pytest
from trajectories import call, openai, read, result, sharegpt

from trajcompress.outcomes.steps import steps_of
from trajcompress.transcript.text_protocol import count_observations, has_text_protocol
from trajcompress.transcript.tool_groups import tool_groups
from trajcompress.transcript.validity import violations

ASK = ("user", "What is the weather in both towns?\nBegin!")
REACT = "\nThought: I ask.\nAction: forecast\nAction Input: {arguments}"
LISTED = 'Thought: I ask.\nFunction Call: [{{"name": "forecast", "arguments": {arguments}}}]'


def acted(form, town):
    return ("assistant", form.format(arguments=json.dumps({"town": town})))


def called(turns):
    return [(call.name, call.arguments) for turn in turns for call in turn.calls]


@pytest.mark.parametrize("form", [REACT, LISTED])
def test_what_is_asked_for_before_a_result_is_its_call(form):
    row = sharegpt(
        ASK,
        acted(form, "Ulm"),
        ("function", '{"temp_c": 12}'),
        acted(form, "Bonn"),
        ("function", '{"temp_c": 14}'),
        ("assistant", 'Thought: done.\nAction: Finish\nAction Input: {"final_answer": "12 and 14"}'),
    )
    towns = ['{"town": "Ulm"}', '{"town": "Bonn"}', '{"final_answer": "12 and 14"}']
    assert called(row.turns) == list(zip(["forecast", "forecast", "Finish"], towns, strict=True))
    assert [step.result for step in steps_of(row.turns)] == ['{"temp_c": 12}', '{"temp_c": 14}', None]
    assert tool_groups(row.turns) == [(1, 3), (3, 5)]
    assert (has_text_protocol(row.turns), count_observations(row.turns)) == (False, 2)


def test_to_a_target_they_are_words_as_before():
    row = openai(ASK, acted(REACT, "Ulm"), ("tool", "12"), ("assistant", "12."))
    assert [each.kind for each in violations(row.turns, "openai")] == ["tool_call_id_missing", "orphan_tool_result"]


def test_what_answers_in_tags_of_its_own_answers_words():
    row = openai(
        ("user", "Find my orders."),
        ("assistant", "ACTION: search_orders(customer=7)"),
        ("user", '<tool_response>\n{"ids": [1]}\n</tool_response>'),
        ("assistant", "You have one."),
    )
    assert called(row.turns) == [("search_orders", '{"customer": 7}')]
    assert [step.result for step in steps_of(row.turns)] == ['{"ids": [1]}']


def test_only_words_of_a_known_form_are_calls():
    row = openai(
        ("user", "Why does it fail?"),
        ("assistant", "I would run this:\n```python\nprint(1)\n```"),
        ("tool", "1"),
        ("assistant", "It does not."),
    )
    assert called(row.turns) == []


def test_a_row_that_has_calls_is_read_by_these():
    row = sharegpt(
        ASK,
        ("function_call", '{"name": "forecast", "arguments": {}}'),
        ("observation", "12"),
        acted(REACT, "Bonn"),
        ("observation", "14"),
    )
    assert called(row.turns) == [("forecast", "{}")]


def test_what_a_user_s_turn_prints_right_behind_a_call_is_its_result():
    row = read(
        [
            {"role": "user", "content": "Fix a.py"},
            call("c1"),
            {"role": "user", "content": "[read_file for 'a.py'] Result:\n1 | x = 1"},
            call("c2"),
            {"role": "user", "content": "Wait, do not touch it."},
            call("c3"),
            result("c3"),
        ]
    )
    assert [turn.answers for turn in row.turns] == [(), (), (None,), (), (), (), ("c3",)]
    assert [step.answered for step in steps_of(row.turns)] == [2, None, 6]
    assert "unanswered_tool_call" in [each.kind for each in violations(row.turns, "openai")]
