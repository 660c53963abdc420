from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared import ROW_FILES, rows_of

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import RowError
from trajcompress.formats.adapter import explain_format, read_trajectory, replace_turns
from trajcompress.formats.adapter_parts import lists_of
from trajcompress.formats.conversion import adapters
from trajcompress.formats.messages import FormatOptions
from trajcompress.transcript.validity import violations

MADE = Path(__file__).parents[1] / "support" / "data" / "formats"
FORMATS = {
    "atif.jsonl": "atif",
    "langchain.jsonl": "langchain",
    "mini.traj.json": "mini-swe-agent",
    "nebius.jsonl": "nebius",
    "olmo.jsonl": "olmo",
    "responses.jsonl": "responses",
    "swe_agent.traj": "swe-agent",
}
ROWS = [
    (FORMATS[source.name.rpartition("/")[2]], row.value)
    for source in find_sources([str(MADE)])
    for row in read_rows(source)
    if isinstance(row, Row)
]
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}


def read(row, **options):
    return read_trajectory(row, "x", FormatOptions(**options))


def taken_by(row):
    return [adapter.name for adapter in adapters() if adapter.find(row, lists_of(row))]


def said(row):
    return [(turn.role, turn.text, turn.reasoning, turn.answers) for turn in read(row).turns]


def test_there_are_rows_of_every_format():
    assert {name for name, _ in ROWS} == {adapter.name for adapter in adapters()} == set(FORMATS.values())


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_each_adapter_takes_its_own_rows_only_and_makes_them_openai_messages(name, row):
    before = copy.deepcopy(row)
    assert taken_by(row) == [name]
    trajectory = read(row)
    assert row == before
    assert trajectory.input_format == name
    assert explain_format(trajectory).startswith(f"{name}: column")
    assert {turn.role for turn in trajectory.turns} <= {"system", "user", "assistant", "tool"}
    assert all(isinstance(turn.raw["role"], str) and "content" in turn.raw for turn in trajectory.turns)
    calls = [call.id for turn in trajectory.turns for call in turn.calls if not call.in_text]
    answers = [answer for turn in trajectory.turns if not turn.in_text for answer in turn.answers]
    assert answers == calls
    others = row.keys() - set(trajectory.source_columns) - {"tools"}
    assert {key: trajectory.row[key] for key in others} == {key: row[key] for key in others}
    again = read(trajectory.row)
    assert [turn.raw for turn in again.turns] == [turn.raw for turn in trajectory.turns]
    assert replace_turns(trajectory, trajectory.turns) == trajectory.row


@pytest.mark.parametrize(("source", "name"), ROW_FILES)
def test_rows_of_messages_are_nobody_elses(source, name):
    for result in read_rows(find_sources([str(rows_of(source) / name)])[0]):
        assert taken_by(result.value) == []
        assert read(result.value).source is None


def test_langchain():
    asked = ("user", "list the files", "", ())
    for row in (row for name, row in ROWS if name == "langchain" and row["id"].endswith(("-0", "-text"))):
        assert said(row) == [
            ("system", "be brief", "", ()),
            asked,
            ("assistant", "I look.", "", ()),
            ("tool", "a.py\nb.py", "", ("c1",)),
            ("assistant", "Two files: a.py and b.py.", "There are two.", ()),
        ]
        assert read(row).turns[2].raw["tool_calls"] == [CALL]
        assert read(row).turns[2].raw["usage_metadata"]["total_tokens"] == 3


def test_responses():
    rows = {row["id"]: row for name, row in ROWS if name == "responses"}
    acted = read(rows["resp-items"]).turns[1]
    assert (acted.text, acted.reasoning) == ("I look.", "I need the files.")
    assert [(call.id, call.name) for call in acted.calls] == [("call_1", "ls"), ("call_2", "pwd")]
    assert [turn.text for turn in read(rows["resp-items"]).turns if turn.role == "tool"] == [
        "a.py\nb.py",
        "/home",
        "done",
        "",
    ]
    pair = read(rows["resp-pair"])
    assert [turn.role for turn in pair.turns] == ["system", "user", "assistant"]
    assert pair.turns[1].images == 1
    assert pair.tools[0]["function"]["name"] == "ls"
    assert said(rows["resp-text-input"]) == [("user", "hi", "", ()), ("assistant", "Two files.", "", ())]


def test_atif():
    first, words, nulls = [row for name, row in ROWS if name == "atif"]
    assert [turn.role for turn in read(first).turns] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert read(first).turns[2].reasoning == "I need them."
    assert read(first).tools[0]["function"]["name"] == "ls"
    assert said(nulls) == said(first)
    assert read(words).turns[2].answers == (None,)  # the environment of an agent that acts in words


def row_of(name):
    return copy.deepcopy(next(row for source, row in ROWS if source == name))


def test_olmo():
    trajectory = read(row_of("olmo"))
    roles = ["system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]
    assert [turn.role for turn in trajectory.turns] == roles
    assert [call.name for turn in trajectory.turns for call in turn.calls] == ["files.ls"] * 3
    assert [turn.text for turn in trajectory.turns if turn.role == "tool"][:2] == [
        '{"files": ["a.py"]}',
        '{"files": []}',
    ]
    assert trajectory.tools[0]["function"]["name"] == "files.ls"


@pytest.mark.parametrize(
    ("calls", "results", "said", "answers"),
    [
        ("files.ls(path)", "{}", "<function_calls>files.ls(path)</function_calls>", (None,)),  # no literal: as words
        ("files.ls(path='a')\nfiles.ls(path='b')", "a.py", "", ("call_2_0",)),  # one line for both
        ("files.ls(path='a')\nfiles.ls(path='b')", "a.py\nb.py", "", ("call_2_0",)),  # one listing
    ],
)
def test_olmo_s_calls_that_cannot_be_told_apart_stay_what_they_say(calls, results, said, answers):
    row = row_of("olmo")
    row["messages"][2]["function_calls"], row["messages"][3]["content"] = calls, results
    _, _, acts, result, *_ = read(row).turns
    assert (acts.text, result.text, result.role, result.answers) == (said, results, "tool", answers)


def test_messages_whose_fields_for_calls_are_empty_are_as_they_were():
    row = row_of("olmo")
    row["messages"] = [{**message, "functions": None, "function_calls": None} for message in row["messages"][:2]]
    assert read(row).source is None


def test_nebius():
    trajectory = read(row_of("nebius"))
    assert [turn.role for turn in trajectory.turns] == ["system", "user", "assistant", "user", "assistant"]
    assert trajectory.turns[0].text == "SETTING: a command line"
    assert [turn.raw["mask"] for turn in trajectory.turns] == [False, False, True, False, True]
    assert trajectory.turns[3].answers == (None,)


def test_an_agent_s_run_ends_with_what_answers_its_last_call():
    row = next(row for name, row in ROWS if name == "mini-swe-agent")
    assert read(row).turns[-1].answers == ("c2",)
    worded = copy.deepcopy(row)
    del worded["messages"][4]["tool_calls"]
    assert read(worded).turns[-1].role == "user"


def test_steps_without_a_history():
    row = copy.deepcopy(next(row for name, row in ROWS if name == "swe-agent"))
    with_history = [turn.text for turn in read(row).turns]
    del row["history"]
    trajectory = read(row)
    assert trajectory.source_columns == ("trajectory",)
    assert [turn.text for turn in trajectory.turns][:3] == with_history[:3]
    assert [turn.role for turn in trajectory.turns] == ["system", "user", "assistant", "user", "assistant", "user"]


@pytest.mark.parametrize("column", ["trajectory", "history"])
def test_the_one_observation_of_a_step_with_two_calls_answers_both(column):
    """SWE-agent tells it as the result of the first, so nothing else is known to have come of the second."""
    asked = {"role": "user", "content": "do it"}
    calls = [CALL, CALL | {"id": "c2"}]
    step = {"action": "", "observation": "a.py", "response": "I look.", "tool_calls": calls, "query": [asked]}
    row = {"trajectory": [step | {"tool_call_ids": ["c1", "c2"]}], "info": {}}
    if column == "history":
        acted = {"role": "assistant", "content": "I look.", "tool_calls": calls}
        row["history"] = [asked, acted, {"role": "tool", "content": "a.py", "tool_call_ids": ["c1", "c2"]}]
    trajectory = read(row)
    assert trajectory.source_columns == (column,)
    assert said(row)[2:] == [("tool", "a.py", "", ("c1",)), ("tool", "", "", ("c2",))]
    assert list(violations(trajectory.turns, "openai")) == []


BROKEN = [
    ({"schema_version": "ATIF-v1.6", "steps": {}}, "messages_not_a_list"),
    ({"schema_version": "ATIF-v1.6", "steps": []}, "empty_messages"),
    ({"schema_version": "ATIF-v1.6", "steps": [1]}, "turn_not_an_object"),
    ({"schema_version": "ATIF-v1.6", "steps": [{"source": "tool", "message": "x"}]}, "turn_without_role"),
    (
        {"schema_version": "ATIF-v1.6", "steps": [{"source": "agent", "message": "x", "observation": "y"}]},
        "turn_not_an_object",
    ),
    ({"schema_version": "ATIF-v1.6"}, "no_messages"),
    ({"messages": [{"type": "human", "content": "x"}, {"type": "robot", "content": "y"}]}, "turn_without_role"),
    ({"messages": [{"type": "human", "content": "x"}, "y"]}, "turn_not_an_object"),
    ({"messages": [{"type": "human", "data": {"content": "x"}}, {"type": "ai", "data": 3}]}, "turn_not_an_object"),
    ({"items": [{"type": "function_call", "name": "x"}, {"type": "item_reference", "id": "i"}]}, "turn_without_role"),
    ({"items": [{"type": "reasoning", "summary": []}, {"type": "message", "content": "x"}]}, "turn_without_role"),
    ({"items": [{"type": "reasoning", "summary": []}, {"type": "what"}]}, "turn_without_role"),
    ({"items": [{"type": "reasoning", "summary": []}, 3]}, "turn_not_an_object"),
    ({"trajectory": [], "history": [], "info": {}}, "empty_messages"),
    ({"trajectory": [{"action": "x", "observation": "y"}], "history": [{"content": "x"}]}, "turn_without_role"),
    ({"trajectory": [{"action": "x", "observation": "y"}, 3]}, "turn_not_an_object"),
    ({"trajectory": [{"role": "tool", "text": "x", "system_prompt": None}]}, "turn_without_role"),
    ({"trajectory": [{"role": "ai", "text": None, "system_prompt": None}]}, "turns_without_content"),
    ({"trajectory": [{"role": "ai", "text": "x", "system_prompt": None}, 3]}, "turn_not_an_object"),
    ({"messages": [{"role": "user", "content": "x", "functions": "[]"}, 3]}, "turn_not_an_object"),
    ({"trajectory_format": "mini-swe-agent-1.1", "messages": {}}, "messages_not_a_list"),
    ({"trajectory_format": "mini-swe-agent-1.1", "messages": ["x"]}, "turn_not_an_object"),
]


@pytest.mark.parametrize(("row", "reason"), BROKEN)
def test_a_broken_row_has_a_named_reason(row, reason):
    with pytest.raises(RowError) as caught:
        read(row)
    assert caught.value.reason == reason
    assert caught.value.detail


def test_a_column_beside_messages_does_not_take_their_place():
    row = {
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
        "events": [{"type": "reasoning", "summary": []}],
    }
    assert read(row).source is None
    assert read(row, messages_field="messages").source is None


def test_keys_of_one_s_own():
    row = {"dialog": [{"speaker": "Human", "text": "x", "at": 1}, {"speaker": "bot", "text": "y"}], "id": 7}
    trajectory = read(row, role_key="speaker", content_key="text")
    assert [(turn.role, turn.text) for turn in trajectory.turns] == [("user", "x"), ("assistant", "y")]
    assert trajectory.row == {
        "messages": [{"role": "Human", "content": "x", "at": 1}, {"role": "bot", "content": "y"}],
        "id": 7,
    }
    with pytest.raises(RowError, match="'who' and 'content'; the columns: 'dialog', 'id'"):
        read(row, role_key="who")
    row["dialog"].append({"text": "z"})
    with pytest.raises(RowError, match="turn 2 has no 'speaker'"):
        read(row, role_key="speaker", content_key="text")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
PLACES = st.integers(0, 40)


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=300)
@given(row=st.sampled_from([row for _, row in ROWS]), place=st.integers(1, 200), value=JSON)
def test_any_damage_is_read_or_refused_with_a_reason(row, place, value):
    row = copy.deepcopy(row)
    every = list(places(row))
    *path, last = every[1 + place % (len(every) - 1)]
    inner = row
    for key in path:
        inner = inner[key]
    inner[last] = value
    before = json.dumps(row)
    try:
        trajectory = read(row)
    except RowError as error:
        assert error.reason in {  # noqa: PT017  refusing is as right as reading
            "no_messages",
            "empty_messages",
            "messages_not_a_list",
            "turn_not_an_object",
            "turn_without_role",
            "turns_without_content",
        }
    else:
        assert len(taken_by(row)) <= 1
        assert trajectory.turns
    assert json.dumps(row) == before
