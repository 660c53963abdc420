from __future__ import annotations

import copy
import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import source_of
from shared import ROW_FILES, rows_of

from trajcompress.dataset.json_text import parse_row
from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.errors import RowError
from trajcompress.formats.adapter import read_trajectory, replace_turns
from trajcompress.formats.messages import FormatOptions
from trajcompress.json_values import is_plain

REASONS = {
    "no_messages",
    "empty_messages",
    "messages_not_a_list",
    "turn_not_an_object",
    "turn_without_role",
    "turns_without_content",
    "nested_too_deep",
}


def read(row, **options):
    return read_trajectory(row, "file:0", FormatOptions(**options))


@pytest.mark.parametrize(("source", "name"), ROW_FILES)
def test_real_rows_are_read_and_come_back_as_they_were(source, name):
    for result in read_rows(source_of(rows_of(source) / name)):
        assert isinstance(result, Row)
        before = copy.deepcopy(result.value)
        trajectory = read(result.value)
        assert replace_turns(trajectory, trajectory.turns) == before
        assert result.value == before
        calls = {call.id for turn in trajectory.turns for call in turn.calls}
        answers = {answer for turn in trajectory.turns for answer in turn.answers}
        assert answers <= calls | {None}


def test_a_trajectory_of_every_oddity_comes_back_as_it_was():
    row = {
        "id": 3,
        "conversations": [
            {"role": "developer", "content": "be", "weight": 0},
            {"role": "Orchestrator (-> WebSurfer)", "content": "go", "name": "o"},
            {"role": "agent", "content": None, "tool_calls": [{"name": "ls", "arguments": {"a": 1}}], "loss": True},
            {"role": "tool", "content": [{"type": "text", "text": "x", "cache_control": {"type": "e"}}], "id": "z"},
            {
                "role": "assistant",
                "content": "so",
                "reasoning_content": "hm",
                "loss": None,
                "extra": [1, {"a": None}],
            },
        ],
        "prompt": [{"role": "user", "content": "go"}],
        "reward": 0.5,
    }
    before = copy.deepcopy(row)
    trajectory = read(row, role_map={"agent": "assistant"})
    assert [turn.role for turn in trajectory.turns] == ["system", "user", "assistant", "tool", "assistant"]
    assert trajectory.turns[4].reasoning == "hm"
    assert replace_turns(trajectory, trajectory.turns) == before == row
    assert replace_turns(trajectory, trajectory.turns[:1])["conversations"] == before["conversations"][:1]


def test_a_hundred_thousand_turns():
    messages = [{"from": "human" if n % 2 else "gpt", "value": str(n)} for n in range(100_000)]
    assert len(read({"conversations": messages}).turns) == 100_000


@pytest.mark.parametrize("level", ["list", "dict", "mixed"])
def test_content_nested_too_deep_is_refused(level):
    value = "x"
    for n in range(20_000):
        value = [value] if level == "list" or (level == "mixed" and n % 2) else {"type": "text", "text": value}
    with pytest.raises(RowError) as caught:
        read({"messages": [{"role": "user", "content": value}]})
    assert caught.value.reason == "nested_too_deep"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "role",
        "from",
        "content",
        "value",
        "tool_calls",
        "function_call",
        "reasoning_content",
        "name",
        "tool_call_id",
        "id",
    ]
)
ROLES = st.sampled_from(["user", "gpt", "tool", "function_call", "a (-> b)", "system"])
PARTS = st.dictionaries(
    st.sampled_from(["type", "text", "value", "toolUse", "toolResult", "content", "input", "name", "id", "thinking"]),
    JSON | st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking", "tool_call"]),
    max_size=4,
)
CALL_TEXT = st.sampled_from(
    ["<tool_call>", "</tool_call>", '{"name": "x"}', "<think>", "</think>", "<tool_response>"]
)
VALUES = JSON | st.lists(PARTS, max_size=3) | PARTS | st.lists(CALL_TEXT, max_size=5).map("".join)
MESSAGES = st.dictionaries(KEYS, VALUES, max_size=5) | st.builds(
    lambda role, rest: {**rest, "role": role}, ROLES, st.dictionaries(KEYS, VALUES, max_size=5)
)
LISTS = st.lists(MESSAGES | JSON, max_size=4) | st.lists(MESSAGES, min_size=1, max_size=4)
ROWS = st.dictionaries(
    st.sampled_from(["messages", "conversations", "prompt", "tools", "functions", "id", "other"]),
    LISTS | JSON | LISTS.map(json.dumps),
    max_size=4,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(row=ROWS)
def test_what_a_plain_row_is_read_as_is_plain(row):
    known = parse_row(json.dumps(row).encode(), source="x", index=0)
    with suppress(RowError):
        trajectory = read_trajectory(known.value, "x", FormatOptions(), known_plain=known.is_plain)
        assert trajectory.is_plain == is_plain([*(turn.raw for turn in trajectory.turns), *(trajectory.tools or ())])


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    row=ROWS,
    form=st.sampled_from(["auto", "openai", "sharegpt"]),
    field=st.sampled_from([None, None, "messages", "other"]),
)
def test_any_row_is_read_or_refused_with_a_documented_reason(row, form, field):
    before = repr(row)
    try:
        trajectory = read(row, format=form, messages_field=field)
    except RowError as error:
        assert error.reason in REASONS  # noqa: PT017  refusing is as right as reading
    else:
        written = replace_turns(trajectory, trajectory.turns)
        if trajectory.messages_as_text:
            written[trajectory.messages_field] = row[trajectory.messages_field]
        assert repr(written) == before
        assert all(isinstance(turn.text, str) and isinstance(turn.reasoning, str) for turn in trajectory.turns)
    assert repr(row) == before
