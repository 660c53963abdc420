"""What is said of a row's text protocol: how its observations begin, and what each of its turns is."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protocol_rows import protocol_rows
from trajectories import call, openai, read, result, sharegpt

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.settings.choices import Target
from trajcompress.transcript.text_protocol import (
    action_label,
    beginnings_of,
    count_observations,
    explain_text_protocol,
    has_text_protocol,
    merged_beginnings,
    part_of,
)
from trajcompress.transcript.trajectory import ToolCall, Turn
from trajcompress.transcript.validity import violations


def observed(*texts: str) -> list[Turn]:
    return [Turn("user", text, {}, answers=(None,), in_text=True) for text in texts]


@pytest.mark.parametrize(
    ("texts", "begin"),
    [
        (["Observation 1: a.py", "Observation 2: b.py"], "Observation"),
        (["**Observation:** a.py"], "Observation"),
        (
            ["<returncode>0</returncode>\n<output>\na\n</output>", "<returncode>1</returncode>\n<output>"],
            "<returncode>",
        ),
        (["EXECUTION RESULT of [bash]:\na", "EXECUTION RESULT of [edit]:\nb"], "EXECUTION RESULT of"),
        (["Observation: a", "Observation: b", "<error>\nwrong format\n</error>"], "Observation"),
        (["Environment says: a door", "Environment says: a key"], "Environment says"),
        (["观察：a.py", "观察：b.py"], "观察"),
        (["a.py", "total 3"], ""),
        (["[1] RootWebArea", "[2] RootWebArea"], ""),
        (["OUTPUT of it alone, which may be anything"], ""),
        (["{ }", "{ }"], ""),
        (["[read_file for 'a.py'] Result:\nx", "[execute_command for 'ls -l 2:3'] Result:\ny"], "[… for '…'] Result"),
        (["[browser_action] Result:\nx"], "[…] Result"),
    ],
)
def test_observations_begin_with_their_wrapper_or_what_they_have_in_common(texts, begin):
    beginnings = beginnings_of(observed(*texts))
    assert max(beginnings, key=beginnings.get) == begin
    assert sum(beginnings.values()) == len(texts)


def test_without_observations_nothing_begins():
    assert beginnings_of([]) == {}


def test_observations_that_begin_otherwise_are_counted_apart():
    found = beginnings_of(observed("Observation: a", "<error>\nno\n</error>", "Observation: b", "a.py"))
    assert found == {"Observation": 2, "<error>": 1, "": 1}


@given(st.lists(st.sampled_from(["Result of ls", "Result of cat", "Result", "Output", "- a", "- b", ""]), max_size=8))
def test_beginnings_are_the_same_in_whatever_order_and_parts_rows_come(begins):
    whole = merged_beginnings({}, [(begin, 1) for begin in begins])
    parts = [merged_beginnings({}, [(begin, 1) for begin in part]) for part in (begins[::2], begins[1::2])]
    assert merged_beginnings(parts[1], parts[0].items()) == whole
    assert sum(whole.values()) == len(begins)


def test_of_rows_that_begin_with_anything_only_some_are_remembered():
    merged = merged_beginnings({}, [(f"Word{chr(97 + at % 26) * (at + 1)}", 1) for at in range(500)])
    assert len(merged) <= 41
    assert sum(merged.values()) == 500


@given(st.lists(st.text(max_size=80), max_size=4))
def test_a_beginning_is_short_has_no_digits_and_stands_on_one_line(texts):
    for begin in beginnings_of(observed(*texts)):
        assert len(begin) <= 60
        assert not any(each.isdecimal() for each in begin)
        assert "\n" not in begin


def test_turns_that_are_no_observations_say_nothing_of_how_these_begin():
    turns = [Turn("user", "Observation of the week: rain", {}), *observed("<output>\na\n</output>")]
    assert beginnings_of(turns) == {"<output>": 1}


def test_a_protocol_is_told_in_one_line_with_its_remedy():
    assert explain_text_protocol(58, 1060, {"Observation": 99}) == (
        'text protocol: 58 of 1,060 rows; observations are user turns that begin with "Observation"; '
        "--observations tool reads tool roles alone"
    )
    assert "user turns that answer an action;" in explain_text_protocol(1, 1, {"": 3})


def test_a_long_beginning_ends_with_a_word_and_quotes_within_it_are_told_from_those_around_it():
    said = 'Running as user "root" and group "root". This could be dangerous'
    begin = next(iter(beginnings_of(observed(f"{said}: a", f"{said}: b"))))
    line = explain_text_protocol(1, 1, {begin: 2})
    assert 'begin with “Running as user "root" and group "root". This could be …”;' in line


def test_what_not_all_observations_begin_with_is_an_example():
    several = explain_text_protocol(3, 3, {"Observation": 9, "": 4, "Output": 8, "Odd": 1})
    assert 'that answer an action, such as those that begin with "Observation" or "Output";' in several
    one = explain_text_protocol(1, 1, {"[… for '…'] Result": 8, "The user denied this": 1})
    assert one.count('"') == 2
    assert "user turns that answer an action;" in explain_text_protocol(2, 2, {"-": 2})
    assert "such as" in one


def test_rows_with_tool_roles_are_no_text_protocol_and_have_observations():
    rows = (
        read([{"role": "user", "content": "ls"}, call(), result()]),
        sharegpt(("human", "ls"), ("function_call", '{"name": "ls"}'), ("observation", "a.py")),
        sharegpt(("human", "ls"), ("gpt", "<tool_call>{}</tool_call>"), ("tool", "<tool_response>a</tool_response>")),
    )
    for row in rows:
        assert not has_text_protocol(row.turns)
        assert count_observations(row.turns) == 1
        assert [part_of(turn) for turn in row.turns] == [None] * 3
    chat = openai(("user", "hi"), ("assistant", "hello"))
    assert (has_text_protocol(chat.turns), count_observations(chat.turns)) == (False, 0)


def test_each_turn_of_a_text_protocol_is_what_it_is():
    row = openai(
        ("system", "You interact with a shell."),
        ("user", "Here is a demonstration of how it goes: ..."),
        ("user", "Fix a.py"),
        ("assistant", "Thought: look\nAction: ls[.]"),
        ("user", "Observation: a.py"),
        ("assistant", "Thought: read\nAction: cat[a.py]"),
        ("user", "Observation: x = 1\n\nPlease do not touch the tests."),
        ("assistant", "It is one line."),
    )
    parts = [None, "worked example", None, "action", "observation", "action", "observation and request", None]
    assert [part_of(turn) for turn in row.turns] == parts
    assert count_observations(row.turns) == 2
    assert has_text_protocol(row.turns)


@pytest.mark.parametrize(
    ("calls", "label"),
    [
        ([("bash", '{"command": "ls -la\\n  | head"}')], "bash ls -la | head"),
        ([("", "open a.py 3")], "open a.py 3"),
        ([("view", '{"path": "a.py", "range": [1, 2]}'), ("", '{"command": "pwd"}')], "view a.py [1, 2]; pwd"),
        ([("", "{broken")], "{broken"),
        ([("", "")], ""),
        ([("write", "x" * 99)], f"write {'x' * 53}…"),
    ],
)
def test_a_label_says_what_ran(calls, label):
    assert action_label([ToolCall(None, *each, in_text=True) for each in calls]) == label


@given(st.text(max_size=90), st.text(max_size=90))
def test_a_label_is_one_short_line(name, arguments):
    assert len(action_label([ToolCall(None, name, arguments)])) <= 60


ROWS = protocol_rows()


@pytest.mark.parametrize("target", get_args(Target))
@pytest.mark.parametrize("form", ["row", "sharegpt"])
def test_to_every_target_a_row_is_as_valid_as_without_recognition(form, target):
    recognised = 0
    for labelled in ROWS:
        row = getattr(labelled, form)
        auto, tool = (read_trajectory(row, "r", FormatOptions(observations=mode)).turns for mode in ("auto", "tool"))
        recognised += has_text_protocol(auto)
        assert not has_text_protocol(tool)
        assert violations(auto, target) == violations(tool, target), labelled.name
    assert recognised > len(ROWS) / 2


def test_the_protocols_that_tests_know_are_said_in_words_of_their_own():
    read_rows = (read_trajectory(row.row, "r", FormatOptions()) for row in ROWS)
    begins = {begin for row in read_rows for begin in beginnings_of(row.turns)}
    assert {"Observation", "TOOL RESPONSE", "<information>", "exitcode", "执行结果"} <= begins
    assert not [begin for begin in begins if "/" in begin and begin != "HTTP/" and "Result" not in begin]
