"""Rows as LLaMA-Factory's own templates render them: thoughts, tools, calls, and parts that stand by themselves."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from compressing import POLICY, run
from msgspec import structs
from shared import FAMILIES, load_cached, tokenizer_folder

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.llama_factory.template import KNOWN
from trajcompress.tokens.pieces import CUT
from trajcompress.tokens.tokenizer import load_tokenizer
from trajcompress.tokens.trained_template import Rendering
from trajcompress.tokens.turn_sizes import turn_sizes

CALL = {"name": "ls", "arguments": {"path": "ä", "all": True}}
TOOL = {
    "type": "function",
    "function": {
        "name": "ls",
        "description": "Lists.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where."},
                "kinds": {"type": "array", "enum": ["a", "b"], "items": {"type": "string"}},
            },
            "required": ["path"],
        },
    },
}
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


def sharegpt(*turns, **columns):
    row = {"conversations": [{"from": name, "value": value} for name, value in turns], **columns}
    return read_trajectory(row, "x", FormatOptions())


def openai(*messages, **columns):
    return read_trajectory({"messages": list(messages), **columns}, "x", FormatOptions())


def parts(name, trajectory):
    """Return what is tokenized by itself, one after the other."""
    (text,) = replace(KNOWN[name], special=SPECIAL).renderings(trajectory)
    return [part for part in text.split(CUT) if part]


def call_turn(text="", thought=""):
    return ("function_call", f"{thought}{text}<tool_call>{json.dumps(CALL)}</tool_call>")


def test_each_assistant_turn_without_a_thought_gets_an_empty_one():
    row = sharegpt(
        ("system", "s"), ("human", "a"), ("gpt", "<think>\nhm\n</think>\n\nb"), ("human", "c"), ("gpt", "\nd")
    )
    assert parts("qwen3", row) == [
        "<|im_start|>system\ns<|im_end|>\n",
        "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n",
        "<think>\nhm\n</think>\n\nb<|im_end|>\n",
        "<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n",
        "<think>\n\n</think>\n\n",
        "\nd<|im_end|>\n",
    ]
    assert "<think>\n\n</think>\n\n" not in parts("qwen3_nothink", row)


def test_calls_and_results_and_the_words_beside_a_call():
    row = sharegpt(("human", "a"), call_turn("I look."), ("observation", "b.txt"), ("gpt", "b"))
    assert parts("qwen3_nothink", row) == [
        "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n",
        'I look.<tool_call>\n{"name": "ls", "arguments": {"path": "ä", "all": true}}\n</tool_call><|im_end|>\n',
        "<|im_start|>user\n<tool_response>\nb.txt\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
        "b<|im_end|>\n",
    ]


def test_calls_at_once_and_a_thought_before_a_bare_call():
    both = ("function_call", "<think>\nhm\n</think>\n\n" + json.dumps([CALL, CALL]))
    call = '<tool_call>\n{"name": "ls", "arguments": {"path": "ä", "all": true}}\n</tool_call>'
    rendered = parts("qwen3", sharegpt(("human", "a"), both))
    assert rendered[1:] == [f"<think>\nhm\n</think>\n\n{call}\n{call}<|im_end|>\n"]


def test_a_call_that_is_no_json_stays_text():
    assert parts("qwen3_nothink", sharegpt(("human", "a"), ("function_call", "ls(")))[1:] == ["ls(<|im_end|>\n"]


def test_tools_stand_in_the_system_turn():
    row = sharegpt(("human", "a"), ("gpt", "b"), tools=json.dumps([TOOL]))
    system = parts("qwen", row)[0]
    assert system.startswith("<|im_start|>system\nYou are Qwen, created by Alibaba Cloud.")
    assert f"<tools>\n{json.dumps(TOOL)}\n</tools>" in system
    bare = sharegpt(("human", "a"), ("gpt", "b"), tools=json.dumps([TOOL["function"]]))
    assert parts("qwen", bare) == parts("qwen", row)


def test_an_empty_list_of_tools_makes_an_empty_system_turn():
    row = sharegpt(("human", "a"), ("gpt", "b"), tools="[]")
    assert parts("qwen3", row)[0] == "<|im_start|>system\n<|im_end|>\n"


def test_templates_without_a_style_for_tools_describe_them():
    row = sharegpt(("human", "a"), ("function_call", json.dumps(CALL)), tools=json.dumps([TOOL]))
    bos, system, user, call, eos = parts("deepseek3", row)
    assert (bos, user, eos) == ("<s>", "<｜User｜>a<｜Assistant｜>", "</s>")
    assert system == (
        "You have access to the following tools:\n> Tool Name: ls\nTool Description: Lists.\nTool Args:\n"
        "  - path (string, required): Where.\n"
        "  - kinds (array): , should be one of [a, b], where each item should be string\n\n"
        "Use the following format if using a tool:\n```\nAction: tool name (one of [ls])\n"
        "Action Input: the input to the tool, in a JSON format representing the kwargs "
        '(e.g. ```{"input": "hello world", "num_beams": 5}```)\n```\n'
    )
    assert call == 'Action: ls\nAction Input: {"path": "ä", "all": true}'


def test_mistral_has_system_and_tools_in_the_first_user_turn():
    row = sharegpt(
        ("system", "s"),
        ("human", "a"),
        ("function_call", json.dumps(CALL)),
        ("observation", "b"),
        ("gpt", "c"),
        tools=json.dumps([TOOL]),
    )
    assert parts("mistral", row) == [
        "<s>",
        f"[INST] s[AVAILABLE_TOOLS] {json.dumps([TOOL])}[/AVAILABLE_TOOLS]\n\na[/INST]",
        '[TOOL_CALLS] [{"name": "ls", "arguments": {"path": "ä", "all": true}}]',
        "</s>",
        '[TOOL_RESULTS] {"content": b}[/TOOL_RESULTS]',
        " c",
        "</s>",
    ]


def test_a_row_of_openais_format_is_counted_in_the_longer_way_to_read_it():
    function = {"name": "ls", "arguments": "{}"}
    row = openai(
        {"role": "user", "content": "a"},
        {
            "role": "assistant",
            "content": "words",
            "tool_calls": [{"id": "1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "b"},
        {"role": "tool", "tool_call_id": "1", "content": "c"},
        {"role": "assistant", "content": "d"},
    )
    calls, words = KNOWN["qwen3_nothink"].renderings(row)
    assert "detailed thinking off" in calls
    assert "words" not in calls
    assert "b\n</tool_response>\n<tool_response>\nc" in calls
    assert "words" in words
    assert '"ls"' not in words


@pytest.mark.parametrize(("tokenizer", "name"), FAMILIES)
def test_the_template_goes_by_the_family_of_the_tokenizer(tokenizer, name):
    loaded = load_tokenizer(str(tokenizer_folder(tokenizer)), rendering=Rendering("llama-factory"))
    assert loaded.trainers.name == name
    assert loaded.template_origin == f"LLaMA-Factory's {name}"
    assert any(f"template: {name}" in note for note in loaded.notes)
    counter = TokenCounter(loaded)
    row = sharegpt(("human", "a"), call_turn(), ("observation", "\n\nb"), ("gpt", "\n\n\nc"))
    (text,) = loaded.trainers.renderings(row)
    by_itself = [len(loaded.hf(part, add_special_tokens=False).input_ids) for part in text.split(CUT)]
    count = counter.count(row)
    assert (count.tokens, count.method, count.note) == (sum(by_itself), "template", None)
    assert counter.count(row, dict(count.known)).tokens == count.tokens


def test_where_no_template_is_known_counts_are_a_bound_and_say_so(make_tokenizer):
    loaded = load_tokenizer(make_tokenizer(), rendering=Rendering("llama-factory"))
    assert loaded.trainers.is_bound
    row = sharegpt(("human", "a"), call_turn("I look."), ("observation", "b"), ("gpt", "c"), tools=json.dumps([TOOL]))
    count = TokenCounter(loaded).count(row)
    assert "upper bound" in count.note
    for name, known in KNOWN.items():
        if name != "any":
            named = TokenCounter(structs.replace(loaded, trainers=replace(known, special=loaded.trainers.special)))
            assert named.count(row).tokens <= count.tokens, name


def test_the_fingerprint_tells_trainers_and_templates_apart():
    own = load_cached(None)
    theirs = load_tokenizer(rendering=Rendering("llama-factory"))
    assert own.fingerprint != theirs.fingerprint
    assert theirs.template_digest
    assert own.template_digest is None


@pytest.mark.parametrize("target", ["openai", "mistral"])
def test_counts_for_targets_with_a_format_of_their_own_are_called_an_estimate(make_tokenizer, target):
    loaded = load_tokenizer(make_tokenizer(), rendering=Rendering(target))
    assert "estimate" in TokenCounter(loaded).count(sharegpt(("human", "a"), ("gpt", "b"))).note
    assert any("estimate" in note for note in loaded.notes)


def test_the_built_in_tokenizer_is_of_a_known_family():
    assert load_tokenizer(rendering=Rendering("llama-factory")).trainers.name == "deepseek3"


@pytest.mark.parametrize("name", KNOWN)
def test_each_turn_has_all_parts_that_the_template_writes_of_it(make_tokenizer, name):
    steps = [(call_turn("I look on. " * 10), ("observation", "a.txt b.txt " * 20)) for _ in range(30)]
    row = sharegpt(("human", "Find it."), *(turn for step in steps for turn in step), ("gpt", "There."))
    loaded = load_tokenizer(make_tokenizer(), rendering=Rendering("llama-factory"))
    counter = TokenCounter(structs.replace(loaded, trainers=replace(KNOWN[name], special=loaded.trainers.special)))
    count = counter.count(row)
    around = 900 if name == "any" else 200  # before the first turn
    assert count.tokens - around <= sum(turn_sizes(row, counter, count)) <= count.tokens


def test_a_row_is_not_cut_further_than_a_bound_asks(make_tokenizer):
    loaded = load_tokenizer(make_tokenizer(), rendering=Rendering("llama-factory"))
    steps = [(call_turn(f"Step {n}: {'word ' * 40}"), ("observation", "word " * 120)) for n in range(60)]
    row = sharegpt(("human", "Do it."), *(turn for step in steps for turn in step), ("gpt", "Done."))
    counter = TokenCounter(loaded)
    target = counter.count(row).tokens * 2 // 5
    _, metrics = run(counter, row, policy=structs.replace(POLICY, target="llama-factory", target_max_tokens=target))
    assert 0.9 * target <= metrics.compressed_tokens <= target
