"""Rows of other tools and of several columns, from file to dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import read_metrics, read_rejected, read_rows, run_here

MADE = Path(__file__).parents[1] / "support" / "data" / "formats"
FORMATS = {"atif", "langchain", "mini-swe-agent", "nebius", "olmo", "responses", "swe-agent"}
STEPS = [
    message
    for n in range(12)
    for message in (
        {"role": "assistant", "content": f"step {n} " + "word " * 40},
        {"role": "user", "content": f"and then, {n}? " + "more " * 40},
    )
]
ASK = {"role": "user", "content": "go"}
SAID = {"role": "assistant", "content": "done, for all of them " * 10}
NO = {"role": "assistant", "content": "no"}


@pytest.mark.parametrize("form", [(), ("--for", "trl"), ("--for", "openai")])
def test_a_folder_of_formats_becomes_openai_messages(desk, form):
    ran = desk.compress(MADE, "-o", "out", *form)
    assert {row["input_format"] for row in read_metrics(desk.path("out"))} == FORMATS
    assert "atif: column steps is read as OpenAI messages, and written so" in ran.stderr
    rows = read_rows(desk.path("out"))
    assert len(rows) + len(read_rejected(desk.path("out"))) == 21
    assert all(
        message["role"] in {"system", "user", "assistant", "tool"} for row in rows for message in row["messages"]
    )
    shown = run_here("show", "out", "lc-dump-0", cwd=desk.folder)
    assert "list the files" in shown.stdout
    again = desk.compress("out/data", "-o", "again", *form)
    assert again.code == 0
    assert len(read_rows(desk.path("again"))) == len(rows)


def test_a_row_over_the_target_of_another_format_is_shown_before_and_after(desk):
    kinds = {"assistant": "ai", "user": "human"}
    long = [{"type": kinds[each["role"]], "content": each["content"]} for each in [ASK, *STEPS]]
    desk.write("a.jsonl", [{"id": "lc", "messages": long}, {"id": "bad", "messages": [*long, {"type": "robot"}]}])
    assert desk.compress("a.jsonl", "-o", "out").code == 1
    (rejected,) = read_rejected(desk.path("out"))
    assert (rejected["reason"], json.loads(rejected["raw"])["id"]) == ("turn_without_role", "bad")
    assert "[CONTEXT SUMMARY]" in json.dumps(read_rows(desk.path("out")))
    assert "[CONTEXT SUMMARY]" in run_here("show", "out", "lc", cwd=desk.folder).stdout


def test_other_names_of_keys_are_refused_with_the_option_that_names_them(desk):
    said = [{"speaker": "human", "text": "hi"}, {"speaker": "bot", "text": "ho " * 30_000}]
    named = [{"role": each["speaker"], "text": each["text"]} for each in said]
    desk.write("a.jsonl", [{"id": "a", "messages": said}, {"id": "b", "messages": named}])
    ran = desk.compress("a.jsonl", "-o", "out")
    assert ran.code == 1
    assert [line for line in ran.stderr.splitlines() if "×" in line and "--role-key and --content-key" in line] == [
        line for line in ran.stderr.splitlines() if "turn" in line and "×" in line
    ]
    details = {row["reason"]: row["detail"] for row in read_rejected(desk.path("out"))}
    assert details == {
        "turn_without_role": "turn 0 has neither 'role' nor 'from'; its keys: 'speaker', 'text'",
        "turns_without_content": "no turn has 'content' or 'value'; the keys of turn 0: 'role', 'text'",
    }
    desk.write("b.jsonl", [{"id": "a", "messages": said}])
    assert desk.compress("b.jsonl", "-o", "named", "--role-key", "speaker", "--content-key", "text").code == 0
    (metrics,) = read_metrics(desk.path("named"))
    assert metrics["original_tokens"] > 30_000


def test_a_rejected_row_keeps_the_text_that_was_read(desk):
    long = [{"type": "human", "content": "x"}, {"type": "ai", "content": "y " * 3000}]
    desk.write("a.jsonl", [{"id": "lc", "messages": long}])
    desk.compress("a.jsonl", "-o", "out", "--no-save-over-limit")
    (rejected,) = read_rejected(desk.path("out"))
    assert json.loads(rejected["raw"])["messages"] == long


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_columns_of_prompts_and_answers_stay(desk, kind):
    rows = [
        {"id": "sft", "prompt": [ASK, *STEPS, ASK], "completion": [SAID], "label": True},
        {"id": "long answer", "prompt": [ASK], "completion": [*STEPS, SAID], "label": True},
    ]
    pairs = [
        {"id": "dpo", "prompt": [ASK, *STEPS, ASK], "chosen": [NO], "rejected": [SAID]},
        {"id": "short", "prompt": [ASK], "chosen": [NO], "rejected": [SAID]},
    ]
    implicit = [{"id": "imp", "chosen": [ASK, *STEPS, ASK, SAID], "rejected": [ASK, *STEPS, ASK, NO]}]
    for name, each in (("sft", rows), ("dpo", pairs), ("imp", implicit)):
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(each), desk.path(f"{name}.parquet"))
        else:
            desk.write(f"{name}.jsonl", each)
    names = [f"{name}.{kind}" for name in ("sft", "dpo", "imp")]
    ran = desk.compress(*names, "-o", "out", "--for", "trl", "--output-format", kind)
    assert ran.code == 0
    metrics = {row["trajectory_id"]: row for row in read_metrics(desk.path("out"))}
    assert [metrics[name]["outcome"] for name in ("sft", "long answer", "dpo", "short", "imp")] == [
        "compressed",
        "compressed",
        "compressed",
        "skipped_under_target",
        "compressed",
    ]
    written = {}
    for path in sorted(desk.path("out/data").iterdir()):
        read = (
            pq.read_table(path).to_pylist() if kind == "parquet" else map(json.loads, path.read_text().splitlines())
        )
        written |= {row["id"]: row for row in read}
    sft, answer, dpo, short, imp = (written[name] for name in metrics)
    assert (sft["completion"], sft["label"]) == ([SAID], True)
    assert len(sft["prompt"]) < len(rows[0]["prompt"])
    assert answer["completion"][-1] == SAID
    assert [metrics[name]["summary_in_loss"] for name in ("sft", "long answer", "dpo")] == [False, True, False]
    assert answer["prompt"] == [ASK] or "[CONTEXT SUMMARY]" in answer["prompt"][-1]["content"]
    assert (dpo["chosen"], dpo["rejected"]) == ([NO], [SAID])
    assert "[CONTEXT SUMMARY]" in json.dumps(dpo["prompt"])
    assert {name: short[name] for name in pairs[1]} == pairs[1]
    assert imp["chosen"][:-1] == imp["rejected"][:-1]
    assert (imp["chosen"][-1], imp["rejected"][-1]) == (SAID, NO)
    assert len(imp["chosen"]) < len(implicit[0]["chosen"])
    for name in ("sft", "dpo", "imp"):
        assert "[CONTEXT SUMMARY]" in run_here("show", "out", name, cwd=desk.folder).stdout


def test_shards_of_such_rows_are_merged_to_what_one_run_writes(desk):
    kinds = {"assistant": "ai", "user": "human"}
    chat = [{"type": kinds[each["role"]], "content": each["content"]} for each in [ASK, *STEPS]]
    desk.write("a.jsonl", [{"id": n, "chat": chat[: 3 + 8 * n]} for n in range(3)])
    desk.write("b.jsonl", [{"prompt": [ASK, *STEPS, ASK], "chosen": [NO], "rejected": [SAID]}, {"id": "no"}])
    desk.compress("a.jsonl", "b.jsonl", "-o", "whole")
    for shard in ("1", "2"):
        desk.compress("a.jsonl", "b.jsonl", "-o", f"of-{shard}", "--shard", f"{shard}/2")
    run_here("merge", "of-1", "of-2", "-o", "merged", cwd=desk.folder)
    assert len(read_rows(desk.path("whole"))) == 4
    for kind in ("data", "."):
        for path in sorted(desk.path(f"whole/{kind}").glob("*.jsonl")):
            assert path.read_bytes() == desk.path(f"merged/{kind}/{path.name}").read_bytes()


def test_a_long_completion_counts(desk):
    desk.write("a.jsonl", [{"id": "x", "prompt": "p", "completion": "word " * 12_000}])
    desk.compress("a.jsonl", "-o", "out")
    (row,) = read_metrics(desk.path("out"))
    assert row["original_tokens"] > 12_000
    assert row["still_over_limit"]


def test_keys_of_one_s_own(desk):
    desk.write("a.jsonl", [{"id": "x", "talk": [{"who": "Human", "said": "a"}, {"who": "bot", "said": "b"}]}])
    ran = desk.compress("a.jsonl", "-o", "out", "--role-key", "who", "--content-key", "said")
    assert ran.code == 0
    (row,) = read_rows(desk.path("out"))
    assert [message["content"] for message in row["messages"]] == ["a", "b"]
    assert "b" in run_here("show", "out", "x", cwd=desk.folder).stdout
    assert desk.compress("a.jsonl", "-o", "none").code == 1


def test_what_is_not_in_a_form_is_a_fault_for_a_trainer(desk):
    checked = run_here("check", MADE / "langchain.jsonl", "--for", "trl", cwd=desk.folder)
    assert checked.code == 1
    assert "langchain" in checked.stdout
