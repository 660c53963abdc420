"""Messages within a column: named by a path, and written as a column, with what stood beside them."""

from __future__ import annotations

import json

import commands
import pytest

from trajcompress.errors import RowError
from trajcompress.formats.adapter import explain_format, read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions

MESSAGES = [{"role": "user", "content": "List the files."}, {"role": "assistant", "content": "a.py"}]
TOOLS = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}]


def read(row, field="data.messages"):
    return read_trajectory(row, "row", FormatOptions(messages_field=field))


def test_what_a_column_holds_becomes_columns_in_its_place():
    row = {"score": 1, "data": {"id": "x", "messages": MESSAGES, "tools": TOOLS}, "split": "a"}
    trajectory = read(row)
    assert (trajectory.id, trajectory.tools) == ("x", TOOLS)
    assert trajectory.row == {"score": 1, "id": "x", "messages": MESSAGES, "tools": TOOLS, "split": "a"}
    assert list(trajectory.row) == ["score", "id", "messages", "tools", "split"]
    assert replace_turns(trajectory, trajectory.turns[:1])["messages"] == MESSAGES[:1]
    assert "data.messages names" in explain_format(trajectory)


def test_no_column_is_lost_where_names_are_taken():
    row = {"id": 1, "messages": "a note", "data.id": 3, "data": {"id": 2, "messages": MESSAGES, "data": 4}}
    trajectory = read(row)
    assert trajectory.row == {
        "id": 1,
        "messages": "a note",
        "data.id": 3,
        "data.data.id": 2,
        "data.messages": MESSAGES,
        "data": 4,
    }
    assert trajectory.messages_field == "data.messages"


@pytest.mark.parametrize(
    ("row", "field", "column"),
    [
        ({"a": {"b": {"turns": MESSAGES}}}, "a.b.turns", "turns"),
        ({"a.b": MESSAGES, "a": {"b": []}}, "a.b", "a.b"),
        ({"messages": MESSAGES, "id": 1}, "data.messages", "messages"),  # as compress has written it
        ({"data": {"messages": [{"from": "human", "value": "hi"}]}}, "data.messages", "messages"),
        ({"data": {"messages": json.dumps(MESSAGES)}}, "data.messages", "messages"),
        (
            {"data": {"log": [{"type": "human", "content": "hi"}, {"type": "ai", "content": "ho"}]}},
            "data.log",
            "messages",
        ),
    ],
)
def test_a_path_leads_to_messages(row, field, column):
    trajectory = read(row, field)
    assert trajectory.messages_field == column
    assert trajectory.turns[0].role == "user"


@pytest.mark.parametrize("row", [{"data": 5}, {"data": {}}, {"data": {"messages": 5}}, {"data": None}, {}])
def test_where_it_leads_nowhere_the_row_is_refused(row):
    with pytest.raises(RowError, match=r"no_messages|messages_not_a_list"):
        read(row)


def test_a_row_that_holds_messages_within_a_column_says_how_to_read_it():
    with pytest.raises(RowError, match=r"columns: 'data'; those within a column: --messages-field data\.messages"):
        read_trajectory({"data": {"messages": MESSAGES}}, "row", FormatOptions())


def test_all_rows_of_a_run_are_written_in_one_way(tmp_path, make_tokenizer):
    desk = commands.make_desk(tmp_path, make_tokenizer)
    rows = [commands.conversation(number, steps) for number, steps in enumerate((12, 2))]
    desk.write("a.jsonl", ({"task": "t", "data": row} for row in rows))
    options = ("--messages-field", "data.messages", "--output-format", "jsonl", "--no-record")
    ran = desk.compress("a.jsonl", "-o", "out", *options)
    assert ran.code == 0, ran.stderr
    compressed, untouched = commands.read_rows(desk.path("out"))
    assert untouched == {"task": "t", **rows[1]}
    assert compressed.keys() == untouched.keys()
    assert [row["outcome"] for row in commands.read_metrics(desk.path("out"))] == [
        "compressed",
        "skipped_under_target",
    ]
    assert commands.run_here("show", "out", "0", cwd=desk.folder).code == 0
