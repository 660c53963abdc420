"""What axolotl and verl do to a row before the tokenizer's own template renders it, and what that makes of counts."""

from __future__ import annotations

import json

import pytest
from shared import CHAT_TOKENIZERS, LIKE_QWEN3, load_cached, tokenizer_folder

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.tokens.trained_template import Rendering

ARGUMENTS = '{"path":"a","depth":[1,2,3]}'
USER = {"role": "user", "content": "go"}


def call(*ids):
    function = {"name": "ls", "arguments": ARGUMENTS}
    calls = [{"id": each, "type": "function", "function": function} for each in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(call_id):
    return {"role": "tool", "tool_call_id": call_id, "content": "x.txt"}


ROW = {"messages": [USER, call("a", "b"), result("a"), result("b"), {"role": "assistant", "content": "done"}]}


def tokens(target, row, name="chatml"):
    counter = TokenCounter(load_tokenizer(str(tokenizer_folder(name)), rendering=Rendering(target)))
    count = counter.count(read_trajectory(row, "x", FormatOptions()))
    assert count.method == "template"
    return count.tokens


def rendered(messages, name="chatml"):
    return len(load_cached(name).hf.apply_chat_template(messages, return_dict=True)["input_ids"])


def parsed(message):
    if not message.get("tool_calls"):
        return message
    calls = [
        {**each, "function": {**each["function"], "arguments": json.loads(each["function"]["arguments"])}}
        for each in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def test_axolotl_parses_arguments_which_templates_write_in_their_own_way():
    assert tokens("trl", ROW) == rendered(ROW["messages"])
    assert tokens("axolotl", ROW) == rendered([parsed(message) for message in ROW["messages"]]) > tokens("trl", ROW)


def test_axolotl_keeps_arguments_that_are_no_json():
    row = {"messages": [USER, json.loads(json.dumps(call("a")).replace("[1,2,3]", "[1,2"))]}
    assert tokens("axolotl", row) == rendered(row["messages"])


def test_verl_renders_each_message_by_itself_whatever_the_whole_is():
    alone = sum(rendered([message]) for message in ROW["messages"])
    assert tokens("verl", ROW) == alone > rendered(ROW["messages"])  # of two results at once, each is a turn there


@pytest.mark.parametrize("name", ["llama3", "alternating"])
def test_verl_takes_away_what_a_template_writes_before_each_message(name):
    row = {"messages": [USER, {"role": "assistant", "content": "done"}]}
    assert tokens("verl", row, name) == rendered(row["messages"], name)


@pytest.mark.parametrize("name", LIKE_QWEN3)
def test_verl_takes_no_thought_that_only_the_last_message_of_a_whole_is_given(name):
    messages = [USER, {"role": "assistant", "content": "done"}]
    alone = sum(rendered([message], name) for message in messages)
    thought = TokenCounter(load_cached(name)).count_text("<think>\n\n</think>\n\n")
    assert tokens("verl", {"messages": messages}, name) == alone == rendered(messages, name) - thought


@pytest.mark.parametrize("name", CHAT_TOKENIZERS)
@pytest.mark.parametrize("ends", [False, True])
def test_trl_tokenizes_a_prompt_and_a_completion_that_are_text_as_they_are(name, ends):
    loaded = load_tokenizer(str(tokenizer_folder(name)), rendering=Rendering("trl"))
    end = loaded.hf.eos_token or ""
    row = {"prompt": "Où est \n\n a.txt?", "completion": f" in src/ {end if ends else ''}"}
    count = TokenCounter(loaded).count(read_trajectory(row, "x", FormatOptions()))
    whole = f"{row['prompt']}{row['completion']}{'' if ends else end}"
    assert (count.method, count.tokens) == ("content", len(loaded.hf(whole)["input_ids"]))
    said = [{"role": "user", "content": row["prompt"]}, {"role": "assistant", "content": row["completion"]}]
    assert count.tokens < tokens("trl", {"prompt": said[:1], "completion": said[1:]}, name)


OPTIONAL = "{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}{% if enable_thinking %} thinks{% endif %}"


@pytest.mark.parametrize(
    ("target", "column", "more"),
    [
        ("template", {"chat_template_kwargs": {"enable_thinking": True}}, 1),
        ("trl", {"chat_template_kwargs": {"enable_thinking": True}}, 1),
        ("trl", {"chat_template_kwargs": None}, 0),
        ("trl", {"enable_thinking": True}, 0),
        ("axolotl", {"chat_template_kwargs": {"enable_thinking": True}}, 0),
        ("verl", {"enable_thinking": True}, 2),  # of each message
        ("verl", {"enable_thinking": False}, 0),
    ],
)
def test_a_row_says_to_its_template_what_the_trainer_reads_in_a_column(tmp_path, target, column, more):
    template = tmp_path / "a.jinja"
    template.write_text(OPTIONAL)
    loaded = load_tokenizer(str(tokenizer_folder("chatml")), rendering=Rendering(target, chat_template=str(template)))
    counter = TokenCounter(loaded)
    row = {"messages": [USER, {"role": "assistant", "content": "done"}]}
    plain, asked = (
        counter.count(read_trajectory(each, "x", FormatOptions())).tokens for each in (row, {**row, **column})
    )
    assert asked - plain == more * counter.count_text(" thinks")
