"""What ``check`` finds in what is rendered, in columns and across rows: the smallest row of each kind."""

from __future__ import annotations

import copy
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run_here, write_rows
from made_tokenizers import made_tokenizer
from shared import SHARED_CHAT_TOKENIZERS
from verdicts import tokenizer_of

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.results.check.llama_factory import LlamaFactoryRows
from trajcompress.results.check.rendered import RowRenderer
from trajcompress.tokens.llama_factory.template import KNOWN

LONG = "The whole task is here, in more words than stand in two places by accident."
USER = {"role": "user", "content": LONG}
SAY = {"role": "assistant", "content": "done"}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "a.txt"}
THOUGHT = "First I look where the file is, then at what stands in it, and say so."
PARTS = {"role": "user", "content": [{"type": "text", "text": LONG}]}


def asks(arguments='{"path": "src/a.py"}', content="I look.", name="ls"):
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [{"id": "a", "type": "function", "function": function}],
    }


LEGACY = {"role": "assistant", "content": "I look.", "function_call": {"name": "ls", "arguments": "{}"}}


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


@pytest.mark.parametrize("name", SHARED_CHAT_TOKENIZERS)
def test_templates_of_models_show_all_of_a_row(name):
    """SmolLM2's writes no calls, and DeepSeek-V3's none whose turn has content, be it empty."""
    lost = [] if name == "qwen3" else [("call_not_rendered", 1)]
    assert rendered(tokenizer_of(name), USER, SAY, USER, SAY) == []
    assert rendered(tokenizer_of(name), USER, asks(content=""), RESULT, SAY) == lost


@pytest.mark.skipif("qwen3" not in SHARED_CHAT_TOKENIZERS, reason="the tokenizers are not beside the project")
def test_qwen3():
    assert rendered(tokenizer_of("qwen3"), USER, LEGACY, USER, SAY) == [("call_not_rendered", 1)]
    # It writes thoughts after the last request alone, so a turn by itself is not what it is in the whole.
    found = rendered(tokenizer_of("qwen3"), USER, SAY, USER, SAY, target="verl")
    assert [kind for kind, _ in found] == ["mask_prefix_mismatch"]
    thinks = {"role": "assistant", "content": f"<think>{THOUGHT}</think>\n\ndone"}
    assert rendered(tokenizer_of("qwen3"), USER, thinks) == []
    found = rendered(tokenizer_of("qwen3"), USER, thinks, target="verl")
    assert ("thoughts_not_rendered", 1) in found  # alone it has no request before it


def test_pieces_that_are_not_the_whole():
    first_only = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if loop.last %}<end>{% endif %}{% endfor %}"
    assert rendered(rendering(first_only), USER, SAY, target="verl") == [("mask_prefix_mismatch", 0)]
    assert rendered(rendering(first_only), USER, SAY) == []


# --- columns, and types across rows: the command ---


@pytest.fixture
def kinds(tmp_path):
    def check(rows, *arguments):
        write_rows(tmp_path / "rows.jsonl", rows)
        ran = run_here("check", "rows.jsonl", "--json", *arguments, cwd=tmp_path)
        return set(ran.json["violations"])

    return check


TOOL = {"type": "function", "function": {"name": "ls", "description": "", "parameters": {"type": "object"}}}


@pytest.mark.parametrize(
    ("target", "row", "expected"),
    [
        ("trl", {"history": [USER, SAY]}, {"wrong_column"}),
        ("trl", {"conversations": [USER, SAY]}, set()),
        ("trl", {"messages": [USER, SAY], "prompt": "go"}, {"wrong_column"}),
        ("axolotl", {"conversations": [USER, SAY]}, {"wrong_column"}),
        (
            "axolotl",
            {"messages": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "a"}]},
            {"message_keys"},
        ),
        ("llama-factory", {"history": [USER, SAY]}, {"wrong_column"}),
        ("trl", {"messages": json.dumps([USER, SAY])}, {"messages_as_text"}),
        ("axolotl", {"messages": json.dumps([USER, SAY])}, set()),
        ("trl", {"messages": [USER, SAY], "tools": json.dumps([TOOL])}, set()),
        ("trl", {"messages": [USER, SAY], "tools": [{"name_for_model": "ls"}]}, {"tools_shape"}),
        ("trl", {"messages": [USER, SAY], "functions": [TOOL]}, {"wrong_column"}),
        ("trl", {"messages": [USER, SAY], "tools": "[{"}, {"tools_shape"}),
        ("openai", {"messages": [USER, SAY], "tools": json.dumps([TOOL])}, {"tools_shape"}),
        ("verl", {"messages": [USER, SAY], "tools": json.dumps([TOOL])}, {"tools_shape"}),
        ("llama-factory", {"messages": [USER, SAY], "tools": json.dumps([TOOL["function"]])}, set()),
        ("llama-factory", {"messages": [USER, SAY], "system": None}, {"null_system"}),
        (
            "llama-factory",
            {"messages": [USER, asks(), RESULT, SAY]},
            {"content_not_rendered", "arguments_encoded_twice"},
        ),
        ("llama-factory", {"messages": [USER, asks({}, content=None), RESULT, SAY]}, set()),
        ("llama-factory", {"messages": [USER, LEGACY, USER, SAY]}, {"call_not_rendered", "unanswered_tool_call"}),
    ],
)
def test_columns_that_a_target_does_not_read(kinds, target, row, expected):
    assert kinds([row], "--for", target) == expected


def test_a_column_that_the_configuration_of_a_trainer_names(kinds):
    turns = [{"from": "human", "value": "go"}, {"from": "gpt", "value": "a"}]
    assert kinds([{"talk": turns}], "--for", "axolotl", "--messages-field", "talk") == set()


def test_types_that_differ_between_rows(kinds):
    rows = [{"messages": [USER, SAY]}, {"messages": [PARTS, SAY]}]
    assert kinds(rows, "--for", "axolotl") == {"types_differ"}
    assert kinds(rows, "--for", "openai") == set()
    assert kinds([*rows[:1], {"messages": [USER, asks(content=None), RESULT, SAY]}], "--for", "axolotl") == set()


def test_messages_that_pandas_reads_as_text(tmp_path):
    text = pa.array([[json.dumps(USER), json.dumps(SAY)]], pa.list_(pa.string())).cast(pa.list_(pa.json_()))
    pq.write_table(pa.table({"messages": text}), tmp_path / "rows.parquet")
    ran = run_here("check", "rows.parquet", "--for", "verl", "--json", cwd=tmp_path)
    assert set(ran.json["violations"]) == {"messages_as_text"}
    assert set(run_here("check", "rows.parquet", "--for", "trl", "--json", cwd=tmp_path).json["violations"]) == set()


# --- what a run says of itself ---


def test_a_run_is_checked_for_what_it_was_written_for(tmp_path):
    write_rows(tmp_path / "in.jsonl", [{"messages": [PARTS, asks(content=None), RESULT, SAY]}])
    tokenizer = str(made_tokenizer("chatml"))
    assert (
        run_here("compress", "in.jsonl", "-o", "out", "--for", "trl", "--tokenizer", tokenizer, cwd=tmp_path).code
        == 0
    )
    ran = run_here("check", "out", cwd=tmp_path)
    assert (ran.code, ran.stderr) == (0, f"as run.json says: --for trl --tokenizer {tokenizer}\n")
    assert ran.stdout == "1 row checked for trl, 0 with violations\n"
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    run["settings"]["tokenizer.name"] = str(tmp_path / "gone")
    (tmp_path / "out" / "run.json").write_text(json.dumps(run))
    ran = run_here("check", "out", cwd=tmp_path)
    assert ran.code == 0
    assert "was not checked: --tokenizer" in ran.stderr.splitlines()[-1]


def test_files_without_a_tokenizer_say_what_was_not_checked(tmp_path):
    write_rows(tmp_path / "in.jsonl", [{"messages": [USER, SAY]}])
    ran = run_here("check", "in.jsonl", "--for", "trl", cwd=tmp_path)
    assert ran.code == 0
    assert "--tokenizer" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


# --- fixing ---


def test_rows_are_written_as_the_target_reads_them(tmp_path):
    write_rows(
        tmp_path / "in.jsonl", [{"messages": [PARTS, SAY]}, {"conversations": [USER, LEGACY, USER, SAY]}, {"x": 1}]
    )
    tokenizer = str(made_tokenizer("chatml"))
    given = ("check", "in.jsonl", "--for", "axolotl", "--tokenizer", tokenizer)
    assert run_here(*given, cwd=tmp_path).code == 1
    ran = run_here(*given, "--fix", "-o", "out", "--json", cwd=tmp_path)
    assert ran.json["fixed"] == {"rows": 3, "changed": 2, "unfit": 0, "rejected": 1}
    assert set(ran.json["violations"]) == {"unanswered_tool_call"}  # which no form can answer
    assert "3 rows read, 2 changed" in ran.stderr
    (rows,) = [pq.read_table(path).to_pylist() for path in (tmp_path / "out" / "data").iterdir()]
    assert len(rows) == 2
    again = run_here(*given, "--fix", "-o", "out", cwd=tmp_path)
    assert (again.code, again.stdout) == (2, "")
    assert "not overwritten" in again.stderr


@pytest.mark.parametrize(("arguments", "words"), [(["--fix"], "--output"), (["-o", "out"], "--fix")])
def test_fix_and_its_folder_go_together(tmp_path, arguments, words):
    write_rows(tmp_path / "in.jsonl", [{"messages": [USER, SAY]}])
    ran = run_here("check", "in.jsonl", *arguments, cwd=tmp_path)
    assert ran.code == 2
    assert words in ran.stderr


def test_rows_none_of_which_can_be_mended_are_told_of_by_their_rejects(tmp_path):
    write_rows(tmp_path / "in.jsonl", [{"messages": [USER, asks(), RESULT, USER, SAY]}])
    ran = run_here("check", "in.jsonl", "--for", "llama-factory", "--fix", "-o", "out", "--json", cwd=tmp_path)
    assert (ran.code, ran.json["rows"], ran.json["fixed"]["unfit"]) == (1, 0, 1)
    assert "out/rejected.jsonl says why" in ran.stderr
    assert len((tmp_path / "out/rejected.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(("version", "unfit"), [("v3", 1), ("v7", 0)])
def test_text_beside_calls_is_for_later_tokenizers_of_mistral(tmp_path, version, unfit):
    write_rows(tmp_path / "in.jsonl", [{"messages": [USER, asks(), RESULT, SAY]}, {"messages": [USER, SAY]}])
    given = ("check", "in.jsonl", "--for", "mistral", "--mistral-version", version, "--fix", "-o", "out", "--json")
    ran = run_here(*given, cwd=tmp_path)
    assert (ran.code, ran.json["fixed"]["unfit"]) == (unfit, unfit)
    assert len((tmp_path / "out/rejected.jsonl").read_text().splitlines()) == unfit
    assert run_here("check", "out", cwd=tmp_path).code == 0, "what is left loads whole"


NAMELESS = {"name_for_model": "ls", "parameters": {"type": "object", "properties": {}}}
BARE = {"type": "function", "function": {"name": "ls", "parameters": None}}
CHOICE = {
    "name": "ls",
    "parameters": {"type": "object", "properties": {"depth": {"type": "integer", "enum": [1, 2]}}},
}


@pytest.mark.parametrize("tool", [NAMELESS, BARE, CHOICE])
@pytest.mark.parametrize(
    ("name", "kind"),
    [("qwen3", "tools_not_standard"), ("smollm2", "tools_shape"), (None, "tools_for_some_templates")],
)
def test_at_which_tools_llama_factory_stops_depends_on_its_template(tool, name, kind):
    tools = json.dumps([tool])
    row = {"conversations": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}], "tools": tools}
    trajectory = read_trajectory(row, "r", FormatOptions())
    (found,) = LlamaFactoryRows(KNOWN[name] if name else None).violations(trajectory)
    assert (found.kind, found.turn) == (kind, None)


def test_llama_factory_takes_tools_as_text_in_its_sharegpt():
    tool = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
    row = {"conversations": [{"from": "human", "value": "go"}, {"from": "gpt", "value": "done"}], "tools": [tool]}
    found = LlamaFactoryRows(KNOWN["qwen3"]).violations(read_trajectory(row, "r", FormatOptions()))
    assert [each.kind for each in found] == ["tools_shape"]


def test_llama_factorys_template_is_that_of_the_tokenizer(make_tokenizer, tmp_path):
    row = {"messages": [USER, SAY], "tools": [NAMELESS]}
    write_rows(tmp_path / "a.jsonl", [row])
    command = ("check", "a.jsonl", "--for", "llama-factory")
    unsure = run_here(*command, cwd=tmp_path)
    assert (unsure.code, "note: tools_for_some_templates  1 row" in unsure.stdout) == (0, True)
    assert "--tokenizer" in unsure.stdout
    smollm = make_tokenizer(
        "{{ 'You are a helpful AI assistant named SmolLM.' }}{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    stopped = run_here(*command, "--tokenizer", smollm, cwd=tmp_path)
    assert (stopped.code, "tools_shape  1 row" in stopped.stdout, "--fix mends it" in stopped.stdout) == (
        1,
        True,
        True,
    )
    fixed = run_here(*command, "--tokenizer", smollm, "--fix", "-o", "fixed", cwd=tmp_path)
    assert fixed.code == 0, fixed.stdout
    again = run_here("check", "fixed", cwd=tmp_path)
    assert (again.code, f"--tokenizer {smollm}" in again.stderr) == (0, True)
    missing = run_here(*command, "--tokenizer", "none", cwd=tmp_path)
    assert missing.code == 2


@pytest.mark.parametrize("messages", [[USER, USER, SAY], [USER, SAY, SAY]])
def test_turns_that_mistral_common_joins_are_a_note(messages, tmp_path):
    write_rows(tmp_path / "a.jsonl", [{"messages": messages}])
    done = run_here("check", "a.jsonl", "--for", "mistral", cwd=tmp_path)
    assert (done.code, "in a row, which mistral-common joins" in done.stdout) == (0, True)
    assert "note: " in done.stdout
    assert "--fix mends it" in done.stdout
