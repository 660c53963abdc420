"""What ``check`` finds in what is rendered: the smallest row of each kind."""

from __future__ import annotations

import copy
import json

import pytest
from commands import run_here, write_rows
from shared import LIKE_QWEN3, SHARED_CHAT_TOKENIZERS
from small_messages import LEGACY, LONG, PARTS, RESULT, SAY, USER, asks
from verdicts import tokenizer_of

from trajcompress.dataset.sources import find_sources
from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.results.check.rendered import RowRenderer
from trajcompress.results.check.rows import check_rows
from trajcompress.results.check.rules import Standard

THOUGHT = "First I look where the file is, then at what stands in it, and say so."


def rendering(template):
    tokenizer = copy.copy(tokenizer_of("chatml"))
    tokenizer.chat_template = template
    return tokenizer


def rendered(tokenizer, *messages, target="trl", **columns):
    trajectory = read_trajectory({"messages": list(messages), **columns}, "x", FormatOptions())
    return [(found.kind, found.turn) for found in RowRenderer(tokenizer, target).violations(trajectory)]


CHATML = "chatml"
SKIPS_LISTS = (
    "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% endif %}{% endfor %}"
)
ENCODES = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function | tojson }}{% endfor %}{% endfor %}"
)
DROPS_THOUGHTS = "{% for m in messages %}<{{ m.role }}>{{ m.content.split('</think>')[-1] | trim }}{% endfor %}"


@pytest.mark.parametrize("target", ["template", "trl", "axolotl", "verl"])
def test_a_plain_row_shows_up_whole(target):
    assert rendered(tokenizer_of(CHATML), USER, asks(), RESULT, SAY, target=target) == []


@pytest.mark.parametrize("name", LIKE_QWEN3)
def test_short_turns_that_stand_in_the_prompt_of_the_tools_hide_no_call(name):
    """``hi`` is in ``within``: what is called stood there between no turns."""
    say, number = {"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "a", "content": "r"}
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"p": 1}'}}
    asks_ = {"role": "assistant", "content": "", "tool_calls": [call]}
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
    row = [say, asks_, number, {"role": "assistant", "content": "ok"}]
    assert rendered(tokenizer_of(name), *row, tools=tools) == []
    hides = rendering("within {{ tools | tojson }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    assert rendered(hides, *row, tools=tools) == [("call_not_rendered", 1)]


def test_parts_that_a_template_skips():
    assert rendered(rendering(SKIPS_LISTS), PARTS, SAY) == [("content_not_rendered", 0)]
    assert rendered(rendering(SKIPS_LISTS), PARTS, SAY, target="axolotl") == []  # it joins them


def test_calls_where_no_template_looks():
    assert rendered(tokenizer_of(CHATML), USER, LEGACY, USER, SAY) == [("call_not_rendered", 1)]
    without_calls = rendering("{% for m in messages %}{{ m.content }}{% endfor %}")
    assert rendered(without_calls, USER, asks(), RESULT, SAY) == [("call_not_rendered", 1)]


def test_arguments_that_a_template_leaves_out():
    names_only = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}[{{ c.function.name }}]"
    tokenizer = rendering(names_only + "{% endfor %}{% endfor %}")
    assert rendered(tokenizer, USER, asks(), RESULT, SAY) == [("call_not_rendered", 1)]


def test_arguments_that_a_template_encodes_again():
    for arguments in ('{"path": "a \\"b\\""}', "{}"):
        assert rendered(rendering(ENCODES), USER, asks(arguments), RESULT, SAY) == [("arguments_encoded_twice", 1)]
    assert rendered(rendering(ENCODES), USER, asks(), RESULT, SAY, target="axolotl") == []  # it decodes them
    assert rendered(rendering(ENCODES), USER, asks({"path": 'a "b"\nc'}), RESULT, SAY) == []


def test_thoughts_that_a_template_leaves_out_are_told():
    thought = {"role": "assistant", "content": f"<think>{THOUGHT}</think>\n\ndone"}
    short = {"role": "assistant", "content": "<think>Hm, done?</think>\n\ndone"}
    beside = {"role": "assistant", "content": "done", "reasoning_content": THOUGHT}
    for each in (thought, short, beside):
        assert rendered(rendering(DROPS_THOUGHTS), USER, each, USER, SAY) == [("thoughts_not_rendered", 1)]
    for each in (thought, short):
        assert rendered(tokenizer_of(CHATML), USER, each, USER, SAY) == []


def test_words_before_a_thought_that_go_with_it_are_no_thought():
    late = {"role": "assistant", "content": f"I looked into all of it. <think>{THOUGHT}</think>\n\ndone"}
    between = {"role": "assistant", "content": f"{THOUGHT}</think>I looked into all of it.<think>Hm?</think>done"}
    for each in (late, between):
        found = rendered(rendering(DROPS_THOUGHTS), USER, each, USER, SAY)
        assert sorted(found) == [("content_not_rendered", 1), ("thoughts_not_rendered", 1)]
        assert rendered(tokenizer_of(CHATML), USER, each, USER, SAY) == []


@pytest.mark.parametrize("target", ["openai", "mistral", "llama-factory"])
def test_thoughts_that_are_left_out_are_notes_and_fail_nothing(target, tmp_path):
    thinks = {**SAY, "reasoning_content": LONG}
    write_rows(tmp_path / "a.jsonl", [{"messages": [USER, thinks]}, {"messages": [USER, SAY]}])
    done = run_here("check", "a.jsonl", "--for", target, "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (done.code, found["invalid_rows"], found["violations"]) == (0, 0, {})
    note = found["notes"]["thoughts_not_rendered"]
    assert (note["rows"], note["count"], note["examples"][0]["turn"]) == (1, 1, 1)
    shown = run_here("check", "a.jsonl", "--for", target, cwd=tmp_path)
    assert (shown.code, "note: thoughts_not_rendered  1 row" in shown.stdout) == (0, True)


SHOWS_FUNCTIONS = "{% for t in tools %}{{ t.function }}{% endfor %}"
SHOWS_TOOLS = "{% for t in tools %}{{ t | tojson }}{% endfor %}"


@pytest.mark.parametrize(("shows", "kind"), [(SHOWS_TOOLS, "tools_not_standard"), (SHOWS_FUNCTIONS, "tools_shape")])
def test_tools_of_another_shape_are_a_fault_where_they_are_not_shown(make_tokenizer, tmp_path, shows, kind):
    flat = {"name": "ls", "description": 'lists "files"', "parameters": {}}
    write_rows(tmp_path / "a.jsonl", [{"messages": [USER, SAY], "tools": [flat]}])
    template = f"{shows}{{% for m in messages %}}{{{{ m.content }}}}{{% endfor %}}"
    command = ("check", "a.jsonl", "--for", "trl", "--tokenizer", make_tokenizer(template), "--json")
    found = json.loads(run_here(*command, cwd=tmp_path).stdout)
    assert [*found["violations"], *found["notes"]][0] == kind
    assert found["invalid_rows"] == (kind == "tools_shape")


def test_what_llama_factory_leaves_out_beside_calls_is_words_or_thoughts(tmp_path):
    def told(message):
        write_rows(tmp_path / "a.jsonl", [{"messages": [USER, message, RESULT, SAY]}])
        found = json.loads(run_here("check", "a.jsonl", "--for", "llama-factory", "--json", cwd=tmp_path).stdout)
        return {kind for of in ("violations", "notes") for kind in found[of]} - {"arguments_encoded_twice"}

    thought = f"<think>{THOUGHT}</think>"
    assert told({**asks(), "content": thought}) == {"thoughts_not_rendered"}
    assert told({**asks(), "content": f"{thought}\n\nSo:"}) == {"thoughts_not_rendered", "content_not_rendered"}
    assert told({**asks(), "content": "So:"}) == {"content_not_rendered"}
    shared = {"from": "gpt", "value": "done", "reasoning_content": THOUGHT}
    write_rows(tmp_path / "b.jsonl", [{"conversations": [{"from": "human", "value": "go"}, shared]}])
    found = json.loads(run_here("check", "b.jsonl", "--for", "llama-factory", "--json", cwd=tmp_path).stdout)
    assert (found["violations"], list(found["notes"])) == ({}, ["thoughts_not_rendered"])


def test_what_may_differ_from_the_words():
    spaced = {"role": "user", "content": f"  {LONG}\n\n "}
    assert rendered(rendering(DROPS_THOUGHTS), spaced, SAY) == []
    as_json = "{% for m in messages %}{{ m.content | tojson }}{% endfor %}"
    assert rendered(rendering(as_json), {"role": "user", "content": f'"{LONG}"\nsaid é'}, SAY) == []


def test_texts_that_stand_in_several_places():
    """A result that says what its call said, and a turn like one before it, each have a place of their own."""
    turns = [asks(f'{{"path": "{LONG}"}}'), RESULT | {"content": LONG}, asks('{"path": "b"}'), RESULT, SAY]
    assert rendered(tokenizer_of(CHATML), USER, *turns) == []
    assert rendered(tokenizer_of(CHATML), USER, asks('{"path": "b"}'), RESULT | {"content": "b"}, SAY) == []


def test_many_missing_turns_are_looked_for_only_so_often():
    tokenizer = rendering(SKIPS_LISTS)
    turns = [{"role": "user", "content": [{"type": "text", "text": f"{LONG} {number}"}]} for number in range(200)]
    found = rendered(tokenizer, *turns, SAY)
    assert 0 < len(found) <= 40


def test_a_system_column_that_is_not_read():
    assert rendered(tokenizer_of(CHATML), USER, SAY, system="Be brief.") == [("content_not_rendered", None)]
    assert rendered(tokenizer_of(CHATML), USER, SAY, system="Be brief.", target="axolotl") == []


@pytest.mark.parametrize("name", ["like-qwen3", "like-deepseek", "like-smollm2", *SHARED_CHAT_TOKENIZERS])
def test_templates_of_models_show_all_of_a_row(name):
    """SmolLM2's writes no calls, and DeepSeek-V3's none whose turn has content, be it empty."""
    lost = [] if name in LIKE_QWEN3 else [("call_not_rendered", 1)]
    assert rendered(tokenizer_of(name), USER, SAY, USER, SAY) == []
    assert rendered(tokenizer_of(name), USER, asks(content=""), RESULT, SAY) == lost


@pytest.mark.parametrize("name", LIKE_QWEN3)
def test_a_template_that_writes_thoughts_after_the_last_request_alone(name):
    tokenizer = tokenizer_of(name)
    assert rendered(tokenizer, USER, LEGACY, USER, SAY) == [("call_not_rendered", 1)]
    # So a turn by itself is not what it is in the whole.
    found = rendered(tokenizer, USER, SAY, USER, SAY, target="verl")
    assert [kind for kind, _ in found] == ["mask_prefix_mismatch"]
    thinks = {"role": "assistant", "content": f"<think>{THOUGHT}</think>\n\ndone"}
    assert rendered(tokenizer, USER, thinks) == []
    found = rendered(tokenizer, USER, thinks, target="verl")
    assert ("thoughts_not_rendered", 1) in found  # alone it has no request before it


def test_pieces_that_are_not_the_whole():
    first_only = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if loop.last %}<end>{% endif %}{% endfor %}"
    assert rendered(rendering(first_only), USER, SAY, target="verl") == [("mask_prefix_mismatch", 0)]
    assert rendered(rendering(first_only), USER, SAY) == []


def test_a_list_of_parts_that_the_template_prints_is_found():
    prints = rendering("{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}")
    told = [{"type": "text", "text": "It's one."}]
    assert rendered(prints, USER, {"role": "assistant", "content": told}) == [("content_shape", 1)]
    reads = rendering(
        "{% for m in messages %}<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for part in m.content %}{{ part.text }}{% endfor %}{% endif %}{% endfor %}"
    )
    assert rendered(reads, USER, {"role": "assistant", "content": told}) == []


class Mistaken:
    """Judges rows as this package must not: it stops at one."""

    def violations(self, trajectory):
        if "broken" in trajectory.turns[0].text:
            raise TypeError("unhashable type: 'dict'")
        return []


def test_a_mistake_of_the_program_is_one_rows_fault(tmp_path):
    rows = [{"messages": [{"role": "user", "content": text}, SAY]} for text in ("so", "broken", "so")]
    write_rows(tmp_path / "rows.jsonl", rows)
    result = check_rows(find_sources([str(tmp_path / "rows.jsonl")]), Standard("template", renderer=Mistaken()))
    assert (result.rows, result.invalid_rows) == (3, 1)
    (example,) = result.found["internal_error"].examples
    assert (example.row, "TypeError: unhashable" in example.detail) == (1, True)
