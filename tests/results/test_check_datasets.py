"""What ``check`` finds in columns and across rows, what it takes from a run, and what ``--fix`` writes."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run_here, write_rows
from made_tokenizers import made_tokenizer
from small_messages import LEGACY, PARTS, RESULT, SAY, USER, asks

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.results.check.llama_factory import LlamaFactoryRows
from trajcompress.tokens.llama_factory.template import KNOWN

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
        ("trl", {"messages": [USER, SAY], "chat_template_kwargs": None}, {"template_kwargs_shape"}),
        ("trl", {"messages": [USER, SAY], "chat_template_kwargs": {"enable_thinking": False}}, set()),
        ("axolotl", {"messages": [USER, SAY], "chat_template_kwargs": None}, set()),
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


def test_arguments_for_the_chat_template_that_only_some_rows_have(kinds):
    rows = [{"messages": [USER, SAY]}, {"messages": [USER, SAY], "chat_template_kwargs": {"enable_thinking": False}}]
    for given in (rows, rows[::-1]):
        assert kinds(given, "--for", "trl") == {"template_kwargs_shape"}
        assert kinds(given, "--for", "axolotl") == set()


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
