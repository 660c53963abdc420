"""Calls in odd shapes: what they say is in the row that the trainer reads, or the row has no form."""

from __future__ import annotations

import json

import pytest
from forming import ASKED, CALL, FUNCTION, OPTIONS, RESULT, SAID, TOOL, calling, formed

from trajcompress.dataset.fits import acceptor
from trajcompress.formats.adapter import read_trajectory
from trajcompress.forms.chat import MESSAGES_TYPE
from trajcompress.forms.targets import form_for

CHATS = ["trl", "axolotl", "verl", "openai", "mistral"]
NO_CALLS = [
    '{"tool": "read", "path": "a.txt"}',
    "read(path='a.txt')",
    '{"name": "read", "arguments": {"path": "a.txt"}',
    '{"name": "read", "arguments": {"path": "a.txt"}, "why": "to see a.txt"}',
    '[{"name": "read", "arguments": {"path": "a.txt"}}, {"path": "a.txt"}]',
    '{"name": "read", "path": "a.txt"}',
    'So: {"name": "read", "arguments": {"path": "a.txt"}}',
]
"""Values of a ``function_call`` that are no call, or say more than one."""


def asked_in_sharegpt(value):
    turns = [{"from": "human", "value": "?"}, {"from": "function_call", "value": value}]
    return [*turns, {"from": "observation", "value": "hi"}, {"from": "gpt", "value": "It says hi."}]


@pytest.mark.parametrize("value", NO_CALLS)
@pytest.mark.parametrize("target", CHATS)
def test_a_function_call_that_is_no_call_or_more_than_one_stays_text(target, value):
    made = formed(target, asked_in_sharegpt(value), "conversations").row["messages"]
    assert made[1]["content"] == value
    assert not made[1].get("tool_calls")


@pytest.mark.parametrize("value", NO_CALLS)
def test_llama_factory_takes_it_for_words(value):
    made = formed("llama-factory", asked_in_sharegpt(value), "conversations").row["conversations"]
    assert made[1] == {"from": "gpt", "value": value}


@pytest.mark.parametrize("call", [{"tool": "read", "path": "a.txt"}, "read(a.txt)", {"path": "a.txt"}])
@pytest.mark.parametrize("target", ["trl", "axolotl", "verl", "llama-factory", "mistral"])
def test_a_call_without_a_name_has_no_form(target, call):
    messages = [ASKED, calling("", tool_calls=[call]), RESULT, SAID]
    assert formed(target, messages).formed.unfit.startswith("tool_call_shape: ")


@pytest.mark.parametrize(
    "call",
    [
        {"id": "call_1", "type": "tool_call", "name": "read", "args": {"path": "a.txt"}},
        {"id": "call_1", "type": "custom", "custom": {"name": "read", "input": FUNCTION["arguments"]}},
    ],
)
def test_arguments_under_the_names_of_others_are_those_of_the_call(call):
    made = formed("trl", [ASKED, calling("", tool_calls=[call]), RESULT, SAID]).row["messages"][1]
    assert made["tool_calls"] == [CALL]


@pytest.mark.parametrize("target", CHATS)
def test_a_call_with_empty_text_as_arguments_has_none(target):
    empty = {**CALL, "id": "call00001", "function": {**FUNCTION, "arguments": ""}}
    messages = [ASKED, calling("", tool_calls=[empty]), {**RESULT, "tool_call_id": "call00001"}, SAID]
    made = formed(target, messages).row["messages"][1]["tool_calls"][0]["function"]
    assert made == {"name": "read", "arguments": "{}"}


def test_llama_factory_is_given_no_arguments_for_empty_text():
    messages = [ASKED, calling("", tool_calls=[{**CALL, "function": {**FUNCTION, "arguments": ""}}]), RESULT, SAID]
    made = formed("llama-factory", messages).row["conversations"][1]["value"]
    assert json.loads(made) == {"name": "read", "arguments": {}}


def test_axolotl_is_given_no_arguments_that_are_no_json_at_which_its_load_stops():
    cut = {**CALL, "function": {**FUNCTION, "arguments": '{"path": "a.t'}}
    messages = [ASKED, calling("", tool_calls=[cut]), RESULT, SAID]
    assert formed("axolotl", messages).formed.unfit.startswith("arguments_not_json: ")
    assert formed("trl", messages).formed is None


@pytest.mark.parametrize("target", ["trl", "axolotl", "openai", "llama-factory", "mistral"])
def test_tools_may_each_be_json_text(target):
    tools = [{"type": "function", "function": TOOL}]
    made = formed(target, [ASKED, SAID], tools=[json.dumps(tool) for tool in tools]).row["tools"]
    assert (json.loads(made) if isinstance(made, str) else made) == tools


def test_tools_that_are_json_text_each_are_read_and_counted():
    row = {"messages": [ASKED, SAID], "tools": [json.dumps(TOOL), "no JSON", None]}
    assert read_trajectory(row, "r", OPTIONS).tools == [TOOL]


def test_verl_is_given_no_arguments_as_objects_which_no_struct_of_its_parquet_holds():
    verl = form_for("verl", OPTIONS, arguments="object")
    calls = {"messages": [ASKED, calling("", tool_calls=[CALL]), RESULT, SAID]}
    assert verl.of(read_trajectory(calls, "r", OPTIONS)).formed.unfit.startswith("tool_call_shape: ")
    assert verl.of(read_trajectory({"messages": [ASKED, SAID]}, "r", OPTIONS)).formed.unfit is None


def test_verl_is_given_text_for_names_and_thoughts_of_another_type():
    odd = {**SAID, "name": 7, "reasoning_content": [{"type": "text", "text": "hm"}]}
    made = formed("verl", [ASKED, odd]).row["messages"]
    assert (made[1]["name"], made[1]["reasoning_content"]) == ("7", '[{"type": "text", "text": "hm"}]')
    assert acceptor(MESSAGES_TYPE)(made)


@pytest.mark.parametrize("target", ["trl", "axolotl", "verl", "template"])
def test_a_call_that_is_written_stays_text_where_the_chat_template_shows_no_calls(target):
    value = json.dumps({"name": "read", "arguments": {"path": "a.txt"}})
    form = form_for(target, OPTIONS, arguments="unseen")
    made = form.of(read_trajectory({"conversations": asked_in_sharegpt(value)}, "r", OPTIONS)).row["messages"]
    assert made[1]["content"] == value
    assert not made[1].get("tool_calls")
    calls = {"messages": [ASKED, calling("", tool_calls=[CALL]), RESULT, SAID]}
    assert form.of(read_trajectory(calls, "r", OPTIONS)).row["messages"][1]["tool_calls"] == [CALL]
