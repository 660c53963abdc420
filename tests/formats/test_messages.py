from __future__ import annotations

import json

import pytest

from trajcompress.errors import RowError
from trajcompress.formats.adapter import explain_format, read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.json_values import MAX_DEPTH

ASK = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": "ho"}


def read(row, **options):
    return read_trajectory(row, "file:0", FormatOptions(**options))


def refusal(row, **options) -> str:
    with pytest.raises(RowError) as caught:
        read(row, **options)
    assert "\n" not in str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize("order", [("conversations", "prompt"), ("prompt", "conversations")])
def test_of_two_message_columns_the_one_with_the_whole_trajectory(order):
    columns = {
        "conversations": [
            {"from": "human", "value": "hi", "loss": None},
            {"from": "gpt", "value": "ho", "loss": True},
        ],
        "prompt": [ASK],
    }
    row = {"id": 7, **{name: columns[name] for name in order}}
    trajectory = read(row)
    assert trajectory.messages_field == "conversations"
    assert explain_format(trajectory) == (
        "sharegpt: column conversations holds messages with from and value (more than prompt)"
    )
    assert replace_turns(trajectory, trajectory.turns) == row


def test_a_system_column_is_said_to_be_counted():
    assert explain_format(read({"conversations": [{"from": "human", "value": "hi"}], "system": "be brief"})) == (
        "sharegpt: column conversations holds messages with from and value; "
        "column system is counted as their system prompt"
    )


def test_a_broken_turn_does_not_make_a_shorter_column_the_trajectory():
    assert refusal({"conversations": [ASK, ANSWER, {"content": "?"}], "prompt": [ASK]}) == "turn_without_role"


def test_a_column_of_any_name():
    assert read({"dialogue": [ASK, ANSWER]}).messages_field == "dialogue"
    assert read({"messages": [ASK], "mine": [ASK, ANSWER]}, messages_field="messages").messages_field == "messages"


def test_a_longer_list_of_other_things_with_a_sender_is_no_trajectory():
    mails = [{"from": "a@example.org", "to": "b@example.org", "subject": str(n)} for n in range(9)]
    assert read({"mails": mails, "messages": [ASK, ANSWER]}).messages_field == "messages"


@pytest.mark.parametrize("indent", [None, 2])
def test_messages_as_json_text_are_written_as_text(indent):
    row = {"messages": json.dumps([ASK, ANSWER], indent=indent), "n": 1}
    trajectory = read(row)
    assert trajectory.messages_as_text
    assert [turn.text for turn in trajectory.turns] == ["hi", "ho"]
    written = replace_turns(trajectory, trajectory.turns[:1])
    assert json.loads(written.pop("messages")) == [ASK]
    assert written == {"n": 1}


@pytest.mark.parametrize("as_text", ["messages", "tools"])
def test_json_text_may_be_nested_as_deep_as_a_row_may(as_text):
    def row(levels):
        deep = json.loads("[" * levels + "]" * levels)
        columns = {"messages": [ASK, {**ANSWER, "more": deep}], "tools": [{"name": "f", "parameters": deep}]}
        return {**columns, as_text: json.dumps(columns[as_text])}

    assert read(row(MAX_DEPTH - 2)).turns
    assert refusal(row(MAX_DEPTH - 1)) == "nested_too_deep"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({}, "no_messages"),
        ({"text": "hi"}, "no_messages"),
        ({"messages": None}, "no_messages"),
        ({"messages": []}, "empty_messages"),
        ({"messages": {"role": ["user"], "content": ["hi"]}}, "messages_not_a_list"),
        ({"messages": "hi"}, "messages_not_a_list"),
        ({"messages": "[{" * 200_000 + '"role"'}, "messages_not_a_list"),
        ({"messages": 5}, "messages_not_a_list"),
        ({"messages": [[ASK, ANSWER]]}, "turn_not_an_object"),
        ({"messages": ["hi", "ho"]}, "turn_not_an_object"),
        ({"messages": [ASK, None]}, "turn_not_an_object"),
        ({"messages": [ASK, "ho"]}, "turn_not_an_object"),
        ({"messages": [{"content": "hi"}]}, "turn_without_role"),
        ({"messages": [ASK, {"role": None, "content": "ho"}]}, "turn_without_role"),
        ({"messages": [ASK, {"role": 3, "content": "ho"}]}, "turn_without_role"),
        (
            {"messages": [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "ho"}]},
            "turns_without_content",
        ),
        ({"conversations": [{"from": "human", "text": "hi"}]}, "turns_without_content"),
    ],
)
def test_a_row_without_a_trajectory_is_refused_with_its_reason(row, reason):
    assert refusal(row) == reason


def test_a_turn_without_content_is_read_beside_one_that_has_some():
    turns = read({"messages": [{"role": "user", "text": "hi"}, ANSWER]}).turns
    assert [turn.text for turn in turns] == ["", ANSWER["content"]]


def test_a_refusal_names_the_keys_where_others_were_named():
    with pytest.raises(RowError, match=r"'dialog'; the keys in 'dialog': 'speaker', 'text'"):
        read({"dialog": [{"speaker": "human", "text": "hi"}]}, role_key="speaker", content_key="txt")


def test_a_row_that_is_one_message_is_called_so():
    with pytest.raises(RowError, match=r"'role', 'content'; it is one message, and a row is an object with a list"):
        read({"role": "user", "content": "hi"})


def test_a_refusal_names_the_keys_of_a_turn():
    with pytest.raises(RowError, match="'speaker', 'text'"):
        read({"messages": [{"speaker": "user", "text": "hi"}]})
    with pytest.raises(RowError, match="'role', 'text'"):
        read({"messages": [{"role": "user", "text": "hi"}]})


def test_a_refusal_says_that_a_column_holds_null():
    with pytest.raises(RowError, match=r"messages; column 'messages' holds null; the row's columns: 'messages', 'x'"):
        read({"messages": None, "x": 1})
    with pytest.raises(RowError, match="column 'chat' holds null, no list of messages"):
        read({"chat": None, "messages": [ASK]}, messages_field="chat")


def test_a_refusal_names_the_columns_that_are_there():
    with pytest.raises(RowError, match="'question', 'answer'"):
        read({"question": "?", "answer": "!"})
    with pytest.raises(RowError, match=r"no column 'chat'.*'messages'"):
        read({"messages": [ASK]}, messages_field="chat")


@pytest.mark.parametrize("empty", [None, "", {}, [], 0])
def test_the_first_id_that_is_there(empty):
    assert read({"id": None, "task_id": 12, "uuid": "x", "messages": [ASK]}).id == "12"
    assert read({"id": "", "messages": [ASK], "other": empty}).id == "file:0"


@pytest.mark.parametrize(
    ("column", "tools"),
    [
        ({"tools": [{"name": "ls"}]}, [{"name": "ls"}]),
        ({"tools": '[{"name": "ls"}]'}, [{"name": "ls"}]),
        ({"functions": [{"name": "ls"}]}, [{"name": "ls"}]),
        ({"tools": ["ls", "cat"]}, None),
        ({"tools": "ls, cat"}, None),
        ({"tools": "[" * 200_000}, None),
        ({"tools": {"ls": {}}}, None),
        ({"tools": []}, None),
        ({}, None),
    ],
)
def test_tools(column, tools):
    assert read({"messages": [ASK], **column}).tools == tools
