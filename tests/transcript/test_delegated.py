"""Answers of those that a turn is sent to, by their names."""

from __future__ import annotations

import pytest
from observing import observed

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions


@pytest.mark.parametrize(
    "sent", ["To {}: write it.", '{{"plan": "1", "send_to": "{}", "message": "write it"}}', "@{}, write it"]
)
def test_who_a_turn_is_sent_to_answers_under_their_name(sent):
    row = ["Write a parser, with tests.", sent.format("Coder"), "Coder: done, what next?", sent.format("Tester")]
    row += ["Tester: I think two of them fail.", sent.format("User"), "User: and the docs?", "They are written."]
    assert observed("", *row) == [2, 4]


def test_a_form_that_a_person_fills_in_was_sent_to_nobody():
    row = ["The line is dead.", "Please tell me\nNumber: …\nModel: …", "Number: 7\nModel: FX", "And the light: …?"]
    assert observed("", *row, "Light: red", "Please wait.", "Number: 8, sorry") == []


def test_a_function_that_is_called_answers_under_its_name():
    row = [
        "How many?",
        "Step 1: list_dir('/src')",
        "list_dir -> ['a.py', 'c']",
        "Step 2: count('/src/a.py')",
        "count -> 2",
    ]
    assert observed(
        "", *row, "Step 3: count('/c', 'it')", "count -> I found no such file", "Two.", "count them again"
    ) == [2, 4, 6]


def test_who_the_row_names_and_who_prints_is_no_person():
    row = [("Make a table.", "Boss"), ("Here:\n```python\nprint(1, 1)\n```", None), ("1 1", "Runner")]
    row += [("With a head:\n```python\nprint(sq)\n```", None), ("NameError: name 'sq' is not defined", "Runner")]
    row += [
        ("Fixed.\n```python\nprint('n sq')\n```", None),
        ("n sq", "Runner"),
        ("Done.", None),
        ("Without it", "Boss"),
    ]
    messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, (text, _) in enumerate(row)]
    named = [message | ({"name": name} if name else {}) for message, (_, name) in zip(messages, row, strict=True)]
    for given, found in [(messages, []), (named, [2, 4, 6])]:
        turns = read_trajectory({"messages": given}, "row", FormatOptions()).turns
        assert [i for i, turn in enumerate(turns) if turn.answers] == found


def test_who_is_called_by_name_answers_where_it_is_taken_up():
    row = ["Fetch everything on Fastnet.", "Robot, look up Fastnet.", "2 titles on Fastnet: 627.9 SCO, 627.92 LIG"]
    row += [
        "Robot, bring 627.9 SCO.",
        "627.9 SCO: brought, tray 1",
        "Robot, reserve 627.92 LIG.",
        "627.92 LIG: reserved",
    ]
    assert observed("", *row, "One is here, the other is reserved.") == [2, 4, 6]
