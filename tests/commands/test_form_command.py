"""``compress --for``: rows in the form of the target, as whoever starts the trainer finds them."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
import yaml
from commands import ROWS, SHORT, conversation, read_metrics, read_rejected, read_rows, run_here, write_rows

LEGACY = {
    "id": "legacy",
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is in a.txt?"}]},
        {
            "role": "assistant",
            "content": "I look.",
            "function_call": {"name": "read", "arguments": '{"path": "a.txt"}'},
        },
        {"role": "function", "name": "read", "content": "hi"},
        {"role": "assistant", "content": "It says hi."},
        {"role": "user", "content": "Thanks."},
    ],
}
UNFIT = {"id": "unfit", "messages": LEGACY["messages"][:4]}


def test_rows_take_the_form_of_the_trainer_and_the_metrics_say_so(desk):
    desk.write("a.jsonl", [*ROWS, LEGACY])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "trl").code == 0
    metrics = read_metrics(desk.path("out"))
    assert [row["formed"] for row in metrics] == [False, False, True, False, True]
    assert [row["outcome"] for row in metrics[2:]] == ["compressed", "skipped_under_target", "skipped_under_target"]
    rows = read_rows(desk.path("out"))
    assert rows[1] == ROWS[1]
    assert {message["role"] for message in rows[2]["messages"]} == {"system", "user", "assistant", "tool"}
    assert rows[4]["messages"][0]["content"] == "What is in a.txt?"
    assert rows[4]["messages"][1]["tool_calls"][0]["function"]["name"] == "read"
    desk.write("legacy.jsonl", rows[4:])
    assert run_here("check", "legacy.jsonl", "--for", "trl", cwd=desk.folder).code == 0


def test_trl_finds_no_null_where_only_some_rows_have_arguments_for_the_chat_template(desk):
    silent = {"chat_template_kwargs": {"enable_thinking": False}}
    desk.write("a.jsonl", [ROWS[0], ROWS[1] | silent, ROWS[2] | {"chat_template_kwargs": None}])
    desk.write("b.jsonl", ROWS[3:])
    as_parquet = ["--for", "trl", "--output-format", "parquet"]
    assert desk.compress("a.jsonl", "b.jsonl", "-o", "out", *as_parquet).code == 0
    files = sorted((desk.path("out") / "data").iterdir())
    read = [json.loads(text) for file in files for text in pq.read_table(file)["chat_template_kwargs"].to_pylist()]
    assert read == [{}, silent["chat_template_kwargs"], {}, *[{}] * len(ROWS[3:])]
    assert "template_kwargs_shape" not in run_here("check", "out", cwd=desk.folder).stdout
    assert desk.compress("b.jsonl", "-o", "plain", *as_parquet).code == 0
    (file,) = (desk.path("plain") / "data").iterdir()
    assert "chat_template_kwargs" not in pq.read_schema(file).names


def test_trl_finds_no_null_in_json_lines_whose_rows_all_have_that_column(desk):
    silent = {"chat_template_kwargs": {"enable_thinking": False}}
    desk.write("a.jsonl", [ROWS[1] | silent, ROWS[1] | {"chat_template_kwargs": None}])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "trl", "--output-format", "jsonl").code == 0
    given = [row["chat_template_kwargs"] for row in read_rows(desk.path("out"))]
    assert given == [silent["chat_template_kwargs"], {}]
    assert run_here("check", "out", cwd=desk.folder).code == 0


def test_the_record_says_what_the_form_changed_in_rows_with_a_summary_and_without(desk):
    desk.write("a.jsonl", [*ROWS, LEGACY])
    wanted = ["-o", "out", "--for", "trl", "--record", "--prune", "off", "--fit", "lenient"]
    assert desk.compress("a.jsonl", *wanted).code == 0
    metrics, rows = read_metrics(desk.path("out")), read_rows(desk.path("out"))
    records = [row.get("trajcompress") for row in rows]
    assert [(record or {}).get("form") or None for record in records] == [row["form_changes"] for row in metrics]
    assert (records[1], records[4]["form"], records[4]["turn"]) == (None, "calls, content, ids, roles", None)
    assert metrics[2]["region_start_idx"] == records[2]["start"]
    assert desk.compress("out", "-o", "again", "--for", "trl", "--record").code == 0
    assert [row.get("trajcompress") for row in read_rows(desk.path("again"))] == records


def test_formats_and_roles_are_told_as_they_were_found_not_as_they_are_written(desk):
    odd = {"messages": [{"role": "user", "content": "Go."}, {"role": "agent", "content": "Done."}]}
    desk.write("shared.jsonl", [conversation(0, sharegpt=True), conversation(1, SHORT, sharegpt=True)])
    desk.write("odd.jsonl", [odd])
    desk.write("mixed.jsonl", ROWS)
    told = {
        "odd.jsonl: openai: column messages holds messages with role and content",
        "odd.jsonl: role 'agent' is not known, and read as assistant; --role-map can say otherwise",
        "mixed.jsonl: several formats: openai 3 rows, sharegpt 1",
        "shared.jsonl: sharegpt: column conversations holds messages with from and value",
    }
    for target in ("trl", "llama-factory"):
        ran = desk.compress("shared.jsonl", "odd.jsonl", "mixed.jsonl", "-o", target, "--for", target)
        assert {line for line in ran.stderr.splitlines() if ".jsonl: " in line} == told
        planned = run_here("plan", "shared.jsonl", "odd.jsonl", "mixed.jsonl", "--for", target, cwd=desk.folder)
        assert {line for line in planned.stderr.splitlines() if ".jsonl: " in line} == told
        formats = [row["input_format"] for row in read_metrics(desk.path(target))]
        assert formats == ["sharegpt", "sharegpt", "openai", "openai", "openai", "sharegpt", "openai"]


def test_as_read_leaves_rows_as_they_were(desk):
    desk.write("a.jsonl", [LEGACY, ROWS[2]])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "trl", "--form", "as-read").code == 0
    assert read_rows(desk.path("out"))[0] == LEGACY
    assert "conversations" in read_rows(desk.path("out"))[1]
    assert not any(row["formed"] for row in read_metrics(desk.path("out")))


def test_without_a_target_rows_stay_as_they_were(desk):
    desk.write("a.jsonl", [LEGACY])
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    assert read_rows(desk.path("out")) == [LEGACY]


def test_rows_that_the_target_cannot_hold_say_why_and_are_lost_nowhere(desk):
    fit = {"id": "fit", "messages": [LEGACY["messages"][0], LEGACY["messages"][3]]}
    desk.write("a.jsonl", [UNFIT, fit])
    assert desk.compress("a.jsonl", "-o", "kept", "--for", "mistral", "--save-unfit").code == 0
    assert read_rows(desk.path("kept"))[0] == UNFIT
    (unfit, _) = read_metrics(desk.path("kept"))
    assert (unfit["reason"], unfit["formed"]) == ("form_unfit", False)
    assert unfit["error"].startswith("tool_calls_with_content")
    assert unfit["error"].endswith("; --mistral-version v7 takes the row")
    ran = desk.compress("a.jsonl", "-o", "out", "--for", "mistral")
    assert ran.code == 0
    (left_out,) = [line.split() for line in ran.stderr.splitlines() if "left out of the dataset" in line]
    assert left_out[-1] == "1"
    assert json.loads((desk.path("out") / "summary.json").read_text())["in_dataset"] == 1
    gated = run_here("audit", "out", "--max-failed", "0", "--max-left-out", "0", cwd=desk.folder)
    assert gated.code == 1
    assert "left out: form_unfit" in gated.stdout
    (rejected,) = read_rejected(desk.path("out"))
    assert (rejected["reason"], json.loads(rejected["raw"])) == ("form_unfit", UNFIT)
    assert len(read_rows(desk.path("out"))) == 1 == len(read_rejected(desk.path("out")))


def test_a_version_of_mistral_that_takes_a_row_is_named_where_another_does_not(desk):
    none_takes_it = {"id": "none", "messages": [{"role": "user", "content": "Hi."}, *UNFIT["messages"][2:]]}
    desk.write("a.jsonl", [UNFIT, none_takes_it])
    ran = desk.compress("a.jsonl", "-o", "v3", "--for", "mistral")
    assert "where a --mistral-version is named that takes a row" in " ".join(ran.stderr.split())
    assert ["--mistral-version" in row["error"] for row in read_metrics(desk.path("v3"))] == [True, False]
    assert desk.compress("a.jsonl", "-o", "v7", "--for", "mistral", "--mistral-version", "v7").code == 0
    assert [row["reason"] for row in read_metrics(desk.path("v7"))] == [None, "form_unfit"]
    openai = desk.compress("a.jsonl", "-o", "openai", "--for", "openai")
    assert "--mistral-version" not in openai.stderr


def test_an_unfit_row_over_the_target_is_still_over_and_no_model_is_asked(desk):
    long = conversation(0)
    system, asked, *rest = long["messages"]
    said = {"role": "assistant", "content": "Yes?"}
    desk.write("a.jsonl", [{**long, "messages": [asked, said, system, asked, *rest]}])
    desk.compress("a.jsonl", "-o", "out", "--for", "mistral")
    (row,) = read_metrics(desk.path("out"))
    assert (row["outcome"], row["reason"], row["still_over_limit"]) == ("unchanged", "form_unfit", True)


def test_what_no_form_holds_is_not_advised_to_be_made_shorter(desk):
    long = conversation(0)
    system, asked, *rest = long["messages"]
    unfit = {**long, "messages": [asked, {"role": "assistant", "content": "Yes?"}, system, asked, *rest]}
    giant = conversation(1)
    giant["messages"][2]["content"] *= 400
    desk.write("unfit.jsonl", [unfit, ROWS[1]])
    desk.write("both.jsonl", [unfit, giant, ROWS[1]])
    only = desk.compress("unfit.jsonl", "-o", "only", "--for", "mistral")
    assert told(only, "no form in mistral: ") == ["1 row, which is no matter of length, so no limit helps;"]
    assert "rejected.jsonl says why of each, and --save-unfit keeps" in only.stderr
    assert not told(only, "still too long: ")
    assert "--last-n-turns" not in only.stderr
    both = desk.compress("both.jsonl", "-o", "both", "--for", "mistral")
    assert [line.split()[-1] for line in both.stderr.splitlines() if "still over the target" in line] == ["2"]
    assert [line.split()[-1] for line in both.stderr.splitlines() if "without a form" in line] == ["1"]
    assert told(both, "still too long: ") == ["1 row, for the reasons above;"]
    assert told(both, "no form in mistral: ")
    page = run_here("report", "only", "-o", "-", cwd=desk.folder).stdout
    assert "Your trainer has no form for them, which is no matter of length" in page
    planned = run_here("plan", "unfit.jsonl", "--for", "mistral", *desk.options[:-2], cwd=desk.folder)
    assert "check INPUT --for mistral says what is in the way" in planned.stdout
    assert "--no-save-over-limit" not in planned.stdout, "it is left out as it is"
    kept = desk.compress("unfit.jsonl", "-o", "kept", "--for", "mistral", "--save-unfit")
    assert told(kept, "no form in mistral: ")
    assert "error in metrics.parquet says why of each" in kept.stderr
    assert read_metrics(desk.path("kept"))[0]["error"].startswith("system_not_first: ")


def told(ran, begin):
    """What follows such words in the closing advice, up to the first semicolon."""
    words = " ".join(ran.stderr.split())
    return [each.partition(";")[0] + ";" for each in words.split(begin)[1:]]


def test_turns_at_the_end_are_cut_where_the_target_refuses_them(desk):
    desk.write("a.jsonl", [LEGACY])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "llama-factory").code == 0
    (row,) = read_rows(desk.path("out"))
    assert row["conversations"][-1] == {"from": "gpt", "value": "It says hi."}
    assert read_metrics(desk.path("out"))[0]["turns_trimmed"] == 1
    assert desk.compress("a.jsonl", "-o", "kept", "--for", "trl").code == 0
    assert read_rows(desk.path("kept"))[0]["messages"][-1]["content"] == "Thanks."


def test_only_the_columns_that_are_named_are_written(desk):
    desk.write("a.jsonl", [{**ROWS[0], "meta": {"a": 1}}, {**ROWS[1], "meta": {"a": 1}}])
    assert desk.compress("a.jsonl", "-o", "out", "--columns", "messages, id").code == 0
    assert [sorted(row) for row in read_rows(desk.path("out"))] == [["id", "messages"], ["id", "messages"]]


def test_a_column_that_no_row_has_is_named_and_messages_are_written_all_the_same(desk):
    desk.write("a.jsonl", [{**ROWS[0], "meta": {"a": 1}}])
    done = desk.compress("a.jsonl", "-o", "out", "--columns", "idd,meta", "--per-turn-column", "rewards")
    assert [sorted(row) for row in read_rows(desk.path("out"))] == [["messages", "meta"]]
    told = " ".join(f"{done.stdout}{done.stderr}".split())
    assert "a.jsonl: no row has the column 'idd', which --columns names; there are " in told
    assert "no row has the column 'rewards', which --per-turn-column names" in told


def test_a_run_folder_holds_what_its_trainer_needs_to_start(desk):
    desk.write("a.jsonl", ROWS)
    for target, name in (("trl", "trl.yaml"), ("axolotl", "axolotl.yaml"), ("verl", "verl.yaml")):
        assert desk.compress("a.jsonl", "-o", target, "--for", target).code == 0
        assert yaml.safe_load(desk.path(f"{target}/{name}").read_text())
        assert name in desk.path(f"{target}/README.md").read_text()
    assert desk.compress("a.jsonl", "-o", "llama", "--for", "llama-factory").code == 0
    info = json.loads(desk.path("llama/dataset_info.json").read_text())
    settings = yaml.safe_load(desk.path("llama/llama_factory.yaml").read_text())
    assert settings["dataset"].split(",") == list(info) == ["a"]
    assert settings["train_on_prompt"] is False
    assert desk.path(f"llama/{info['a']['file_name']}").is_file()
    assert desk.compress("a.jsonl", "-o", "llama", "--overwrite").code == 0
    assert not desk.path("llama/dataset_info.json").exists()
    options = ("--for", "llama-factory", "--train-on", "all")
    assert desk.compress("a.jsonl", "-o", "llama", "--overwrite", *options).code == 0
    assert yaml.safe_load(desk.path("llama/llama_factory.yaml").read_text())["train_on_prompt"] is True


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_all_rows_are_loaded_as_trl_and_axolotl_load_them_whatever_their_files_are_called(
    desk, monkeypatch, output_format
):
    from datasets import load_dataset

    names = ("train", "val", "more_test")
    for name in names:
        desk.write(f"{name}.jsonl", ROWS)
    files = [f"{name}.jsonl" for name in names]
    for target in ("trl", "axolotl"):
        made = desk.compress(*files, "-o", target, "--for", target, "--output-format", output_format)
        assert made.code == 0
        monkeypatch.chdir(desk.path(target))
        (given,) = yaml.safe_load(desk.path(f"{target}/{target}.yaml").read_text())["datasets"]
        path = given["ds_type"] if target == "axolotl" else given["path"]  # as each hands it over
        loaded = load_dataset(
            path, data_files=given["data_files"], split=given["split"], cache_dir=str(desk.path("cache"))
        )
        assert len(loaded) == len(names) * len(ROWS)


def test_the_rows_of_verl_are_structs_whatever_their_tools(desk):
    import pandas as pd

    tools = [
        {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {"p": {}}}}}
    ]
    desk.write("a.jsonl", [ROWS[0], {**LEGACY, "tools": tools}, {**ROWS[1], "tools": []}])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "verl", "--output-format", "parquet").code == 0
    frame = pd.concat(map(pd.read_parquet, sorted(desk.path("out/data").glob("*.parquet"))))
    messages = frame["messages"].iloc[1]
    assert {type(message) for message in messages} == {dict}
    assert '"name": "read"' in messages[0]["content"]
    assert "tools" not in frame.columns


def test_rows_that_would_stop_verl_for_their_length_are_rejected_unless_they_are_asked_for(desk):
    words = {"id": "long", "messages": [{"role": "user", "content": "word " * 9000}, LEGACY["messages"][3]]}
    desk.write("a.jsonl", [words, ROWS[0]])
    short = ["--target-max-tokens", "2000", "--fit", "lenient"]
    desk.compress("a.jsonl", "-o", "out", "--for", "verl", *short)
    (rejected,) = read_rejected(desk.path("out"))
    assert (rejected["reason"], json.loads(rejected["raw"])["id"]) == ("over_limit", "long")
    assert [row["id"] for row in read_rows(desk.path("out"))] == [ROWS[0]["id"]]
    desk.compress("a.jsonl", "-o", "kept", "--for", "verl", "--save-over-limit", *short)
    assert [row["id"] for row in read_rows(desk.path("kept"))] == ["long", ROWS[0]["id"]]
    desk.compress("a.jsonl", "-o", "other", "--for", "axolotl", *short)
    assert len(read_rows(desk.path("other"))) == 2


def test_show_and_a_second_run_know_rows_in_the_form_of_a_target(desk):
    desk.write("a.jsonl", [ROWS[2], LEGACY])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "trl").code == 0
    shown = run_here("show", "out", "0", cwd=desk.folder)
    assert shown.code == 0
    assert "changed since" not in shown.stdout + shown.stderr
    assert "complete already" in desk.compress("a.jsonl", "-o", "out", "--for", "trl").stderr
    assert "--form" not in desk.compress("a.jsonl", "-o", "out", "--for", "trl", "--form", "as-read").stdout


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("command", ["compress", "plan"])
def test_calls_that_the_chat_template_shows_nothing_of_are_said(tmp_path, make_tokenizer, command, workers):
    tokenizer = make_tokenizer("{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}")
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turns = [("user", "Look."), ("assistant", "I look."), ("tool", "Nothing."), ("assistant", "There is nothing.")]
    messages = [{"role": role, "content": text} for role, text in turns]
    write_rows(tmp_path / "plain.jsonl", [{"messages": messages}] * 3)
    messages[1]["tool_calls"], messages[2]["tool_call_id"] = [call], "call_1"
    write_rows(tmp_path / "calls.jsonl", [{"messages": messages}] * 3)
    said = [command, "plain.jsonl", "calls.jsonl", "--tokenizer", tokenizer, "--num-workers", workers]
    said += ["-o", "out"] if command == "compress" else []
    lines = [line for line in run_here(*said, cwd=tmp_path).stderr.splitlines() if "tool calls are counted" in line]
    assert [line.partition(":")[0] for line in lines] == ["calls.jsonl"]


def test_agents_that_are_asked_by_name_are_valid_for_llama_factory_and_noted(desk):
    """Its converter takes what answers words; that no call waits for it is no fault of the row."""
    asks, answers = {"role": "Boss (-> Web)", "content": "look"}, {"role": "Web", "content": "a page"}
    said = {"role": "Boss (thought)", "content": "It is there."}
    desk.write("a.jsonl", [{"messages": [{"role": "human", "content": "go"}, asks, answers, said]}])
    assert desk.compress("a.jsonl", "-o", "out", "--for", "llama-factory").code == 0
    assert read_metrics(desk.path("out"))[0]["output_faults"] is None
    assert [turn["from"] for turn in read_rows(desk.path("out"))[0]["conversations"]][2:] == ["observation", "gpt"]
    checked = run_here("check", "out", "--for", "llama-factory", "--json", cwd=desk.folder)
    assert (checked.code, list(checked.json["violations"]), list(checked.json["notes"])) == (
        0,
        [],
        ["result_of_words"],
    )
