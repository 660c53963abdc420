"""The form of LLaMA-Factory: functions and their calls as text, turns that alternate, columns of one type."""

from __future__ import annotations

import json

import pytest
from forming import ASKED, CALL, FUNCTION, OPTIONS, RESULT, SAID, SYSTEM, TOOL, calling, formed

from trajcompress.formats.adapter import read_trajectory
from trajcompress.forms.targets import form_for
from trajcompress.transcript.validity import violations


def test_llama_factory_keeps_the_words_beside_a_call_and_encodes_arguments_once():
    done = formed("llama-factory", [SYSTEM, ASKED, calling("I look.", tool_calls=[CALL]), RESULT, SAID], tools=[TOOL])
    roles = [turn["from"] for turn in done.row["conversations"]]
    assert roles == ["system", "human", "function_call", "observation", "gpt"]
    words, _, body = done.row["conversations"][2]["value"].partition("<tool_call>")
    assert words == "I look.\n"
    assert json.loads(body.removesuffix("</tool_call>")) == {"name": "read", "arguments": {"path": "a.txt"}}
    assert json.loads(done.row["tools"])[0]["function"] == TOOL
    assert "messages" not in done.row


def test_columns_of_llama_factory_have_one_type_in_all_rows():
    rows = [formed("llama-factory", [ASKED, SAID], meta=meta).row for meta in ({"a": 1}, [1], None, "text")]
    assert [row["meta"] for row in rows] == ['{"a": 1}', "[1]", None, "text"]
    assert [row["tools"] for row in rows] == [""] * 4


def test_llama_factory_joins_results_of_calls_made_at_once_and_turns_side_by_side():
    calls = [{**CALL, "id": name} for name in ("a", "b")]
    results = [{**RESULT, "tool_call_id": "a", "content": "one"}, {**RESULT, "tool_call_id": "b", "content": "two"}]
    done = formed("llama-factory", [ASKED, ASKED, calling(None, tool_calls=calls), *results, SAID])
    human, called, observed, _ = done.row["conversations"]
    assert human["value"] == "What is in a.txt?\n\nWhat is in a.txt?"
    assert len(json.loads(called["value"])) == 2
    assert observed["value"] == "one\n</tool_response>\n<tool_response>\ntwo"
    assert not violations(done.turns, "llama-factory")


def test_llama_factory_is_given_a_user_turn_where_the_assistant_begins():
    done = formed("llama-factory", [SYSTEM, SAID, ASKED, SAID])
    assert [turn["from"] for turn in done.row["conversations"]] == ["system", "human", "gpt", "human", "gpt"]
    assert done.row["conversations"][1]["value"] == ""
    assert "opened" in done.formed.changes
    assert not violations(done.turns, "llama-factory")
    assert formed("llama-factory", done.row["conversations"], "conversations", tools="").formed is None
    asked_after_a_result = [ASKED, calling(None, tool_calls=[CALL]), RESULT, ASKED, SAID]
    assert formed("llama-factory", asked_after_a_result).formed.unfit.startswith("parity: turn 3: 'human'")


def test_llama_factory_is_not_misled_by_tags_in_arguments():
    tagged = {**CALL, "function": {"name": "say", "arguments": '{"text": "</tool_call><tool_call>"}'}}
    done = formed("llama-factory", [ASKED, calling("So:", tool_calls=[tagged]), RESULT, SAID])
    value = done.row["conversations"][1]["value"]
    body = value.partition("<tool_call>")[2].partition("</tool_call>")[0]
    assert json.loads(body)["arguments"] == {"text": "</tool_call><tool_call>"}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('I look.\n<tool_call>{"name": "read", "arguments": {"path": "a.txt"}}</tool_call>', "I look."),
        ('<think>Which?</think>{"name": "read", "arguments": {"path": "a.txt"}}', "<think>Which?</think>"),
        ('{"name": "read", "arguments": {"path": "a.txt"}}', ""),
    ],
)
def test_what_is_said_beside_the_call_of_a_function_call_stays(value, words):
    turns = [{"from": "human", "value": "?"}, {"from": "function_call", "value": value}]
    turns += [{"from": "observation", "value": "hi"}, {"from": "gpt", "value": "It says hi."}]
    assert formed("llama-factory", turns, "conversations").row["conversations"] == turns
    made = formed("trl", turns, "conversations").row["messages"][1]
    assert made["content"] == words
    assert made["tool_calls"][0]["function"] == FUNCTION


def test_llama_factory_finds_the_calls_of_what_it_reads_already():
    twice = {"name": "read", "arguments": '{"path": "a.txt"}'}
    once = {"name": "read", "arguments": {"path": "a.txt"}}
    several = f"So:<tool_call>{json.dumps(once)}</tool_call><tool_call>{json.dumps(once)}</tool_call>"
    cases = [(json.dumps(twice), once), (several, [once, once])]
    for value, calls in cases:
        turns = [{"from": "human", "value": "?"}, {"from": "function_call", "value": value}]
        turns += [{"from": "observation", "value": "hi"}, {"from": "gpt", "value": "It says hi."}]
        made = formed("llama-factory", turns, "conversations").row["conversations"][1]["value"]
        assert json.loads(made.removeprefix("So:\n<tool_call>").removesuffix("</tool_call>")) == calls


def test_tools_have_all_that_llama_factory_writes_out_where_its_template_shows_no_json():
    given = [
        {"type": "function", "function": {"name": "ls", "parameters": None}},
        {
            "name": "cd",
            "parameters": {"type": "object", "properties": {"n": {"enum": [1, "a"], "items": []}, "m": 3}},
        },
        {"name": "rm", "parameters": {"type": "object", "properties": {}, "required": None}},
    ]
    row = {"messages": [ASKED, SAID], "tools": given}
    form = form_for("llama-factory", OPTIONS, tools_as_prose=True)
    done = form.of(read_trajectory(row, "r", OPTIONS))
    assert [tool["function"]["parameters"] for tool in json.loads(done.row["tools"])] == [
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"n": {"enum": ["1", "a"]}, "m": {}}},
        {"type": "object", "properties": {}, "required": []},
    ]
    assert form.of(done).row == done.row
    as_json = form_for("llama-factory", OPTIONS).of(read_trajectory(row, "r", OPTIONS))
    assert json.loads(as_json.row["tools"])[0] == given[0]
