"""``trajcompress compress`` as its user sees it: what goes in, what comes out, and what is said."""

from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys

import pytest
import zstandard
from commands import (
    TARGET,
    conversation,
    files_of,
    make_desk,
    read_lines,
    read_metrics,
    read_rejected,
    read_rows,
    run_command,
    run_here,
    run_on_terminal,
)

LONG, SHORT = 12, 2
ROWS = [conversation(0), conversation(1, SHORT), conversation(2, sharegpt=True), conversation(3, SHORT)]


@pytest.fixture
def desk(tmp_path, make_tokenizer):
    return make_desk(tmp_path, make_tokenizer)


def ids(folder) -> list[str]:
    return [row["id"] for row in read_rows(folder)]


def test_every_row_comes_out_once_in_input_order(desk):
    desk.write("a.jsonl", ROWS)
    desk.path("b.json").write_text(json.dumps([conversation(4, sharegpt=True), {"nothing": 1}, conversation(5)]))
    ran = desk.compress("b.json", "a.jsonl", "-o", "out")
    assert ran.code == 1, "a row was rejected"
    out = desk.path("out")
    metrics = read_metrics(out)
    places = [("b.json", row) for row in range(3)] + [("a.jsonl", row) for row in range(4)]
    assert [(row["source_file"], row["source_row"]) for row in metrics] == places
    assert [row["outcome"] for row in metrics] == [
        "compressed",
        "rejected",
        "compressed",
        "compressed",
        "skipped_under_target",
        "compressed",
        "skipped_under_target",
    ]
    written = [json.loads(line)["id"] for name in ("b", "a") for line in _part(out, name).splitlines()]
    assert written == ["row-4", "row-5", "row-0", "row-1", "row-2", "row-3"]
    assert [line["source"] for line in read_rejected(out)] == ["b.json"]


def _part(out, stem: str) -> bytes:
    return (out / "data" / f"{stem}-00000.jsonl").read_bytes()


def test_figures_add_up(desk):
    desk.write("a.jsonl", ROWS)
    ran = desk.compress("a.jsonl", "-o", "out", "--json")
    metrics = read_metrics(desk.path("out"))
    summary = json.loads(desk.path("out/summary.json").read_text())
    assert {key: ran.json[key] for key in summary} == summary
    assert (summary["rows"], summary["compressed"], summary["skipped_under_target"]) == (4, 2, 2)
    for key in ("original_tokens", "compressed_tokens", "tokens_saved", "assistant_tokens_kept"):
        assert summary[key] == sum(row[key] or 0 for row in metrics), key
    for row in metrics:
        assert (row["compressed_tokens"] <= TARGET) == (not row["still_over_limit"])
        assert row["compression_ratio"] == pytest.approx(row["compressed_tokens"] / row["original_tokens"])
        assert row["original_turns"] - row["turns_removed"] + (row["placement"] == "human") == row["compressed_turns"]


def test_a_compressed_row_keeps_head_tail_and_order(desk):
    desk.write("a.jsonl", [conversation(0)])
    desk.compress("a.jsonl", "-o", "out")
    before = conversation(0)["messages"]
    after = read_rows(desk.path("out"))[0]["messages"]
    (row,) = read_metrics(desk.path("out"))
    start, end = row["region_start_idx"], row["region_end_idx"]
    (summary,) = [turn for turn in after if "[CONTEXT SUMMARY]:" in turn["content"]]
    assert summary["role"] == "user"
    assert summary["content"].count("[CONTEXT SUMMARY]:") == 1
    assert after[0]["content"].startswith(before[0]["content"]), "the notice is added to the system turn"
    assert after[1:] == [*before[1:start], summary, *before[end:]]
    assert start >= 4
    assert end <= len(before) - 4


def test_rows_under_the_target_keep_their_bytes(desk):
    odd = (
        b'{"id":  "x", "big": 123456789012345678901234567890, "f": 1.0, "messages": [{"content":"hi","role":"user"}]}'
    )
    desk.path("a.jsonl").write_bytes(odd + b"\n" + json.dumps(conversation(1)).encode() + b"\n" + odd + b"\n")
    desk.compress("a.jsonl", "-o", "out")
    first, _, third = read_lines(desk.path("out"))
    assert first == third == odd


def test_columns_and_fields_of_turns_survive(desk):
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "sh", "arguments": {"argv": ["ls"], "deep": {"a": 1}}},
    }
    row = conversation(0, reward=0.5, tags=["a", None], meta={"x": {"y": [1, "two"]}})
    row["messages"][2] |= {"tool_calls": [call], "content": None, "loss": True, "reasoning_content": "I think"}
    row["messages"][3] |= {"tool_call_id": "c1", "name": "sh"}
    row["messages"][-1] |= {"weight": 0}
    desk.write("a.jsonl", [row, conversation(1, SHORT, reward=None)])
    desk.compress("a.jsonl", "-o", "out")
    after = read_rows(desk.path("out"))[0]
    assert {key: after[key] for key in after if key != "messages"} == {
        key: row[key] for key in row if key != "messages"
    }
    assert after["messages"][2:4] == row["messages"][2:4]
    assert after["messages"][-1] == row["messages"][-1]


def test_parquet_loads_with_datasets_and_says_the_same(desk):
    import datasets

    datasets.disable_progress_bars()
    with_tools = conversation(9, SHORT, tools=[{"type": "function", "function": {"name": "sh", "parameters": {}}}])
    with_tools["messages"][2]["tool_calls"] = [{"function": {"name": "sh", "arguments": {"only": "here"}}}]
    desk.write("a.jsonl", [ROWS[0], ROWS[1], with_tools])
    desk.write("b.jsonl", ROWS[2:])
    for kind in ("jsonl", "parquet"):
        assert desk.compress("a.jsonl", "b.jsonl", "-o", kind, "--output-format", kind, "--record").code == 0
    loaded = datasets.load_dataset(
        "parquet",
        data_files=str(desk.path("parquet/data/*.parquet")),
        split="train",
        cache_dir=str(desk.path("cache")),
    )
    rows = [{key: value for key, value in row.items() if value is not None} for row in loaded]
    assert rows == read_rows(desk.path("jsonl"))


@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst", "json.gz", "parquet", "json"])
def test_kinds_of_input(desk, ending):
    rows = [conversation(0), conversation(1, SHORT)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path = desk.path(f"a.{ending}")
    if ending == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        text = json.dumps(rows).encode() if ending.startswith("json") and "jsonl" not in ending else lines
        pack = {"gz": gzip.compress, "zst": zstandard.compress}.get(ending.rpartition(".")[2], bytes)
        path.write_bytes(pack(text))
    assert desk.compress(path, "-o", "out").code == 0
    assert ids(desk.path("out")) == ["row-0", "row-1"]


def test_folders_globs_and_a_saved_dataset(desk):
    import datasets

    datasets.disable_progress_bars()
    desk.path("in/deep").mkdir(parents=True)
    desk.write("in/b.jsonl", [conversation(0)])
    desk.write("in/deep/c.jsonl", [conversation(1, SHORT)])
    desk.path("in/notes.txt").write_text("not a trajectory")
    datasets.Dataset.from_list([conversation(2), conversation(3, SHORT)]).save_to_disk(desk.path("in/saved"))
    assert desk.compress("in", "-o", "folder").code == 0
    assert sorted(ids(desk.path("folder"))) == ["row-0", "row-1", "row-2", "row-3"]
    assert desk.compress("in/**/*.jsonl", "-o", "glob").code == 0
    assert sorted(ids(desk.path("glob"))) == ["row-0", "row-1"]


def test_a_dataset_by_name(desk):
    desk.path("set").mkdir()
    desk.write("set/train.jsonl", [conversation(0), conversation(1, SHORT)])
    desk.write("set/test.jsonl", [conversation(2)])
    assert desk.compress("--dataset", "set", "--split", "test", "-o", "out").code == 0
    assert ids(desk.path("out")) == ["row-2"]


def test_standard_input(desk):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    ran = run_command("compress", "-", *desk.options, "--json", cwd=desk.folder, stdin=lines)
    assert (ran.code, ran.json["rows"], ran.json["compressed"]) == (0, 4, 2)
    assert ids(desk.path("stdin_compressed")) == ["row-0", "row-1", "row-2", "row-3"]


def test_other_standard_input_is_not_taken_for_the_same(desk):
    for rows in (ROWS[:2], ROWS[2:]):
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        ran = run_command("compress", "-", *desk.options, "-o", "out", cwd=desk.folder, stdin=lines)
    assert ran.code == 2
    assert ran.stderr.startswith("error: ")
    assert ids(desk.path("out")) == ["row-0", "row-1"]


def test_a_limit(desk):
    desk.write("a.jsonl", ROWS[:3])
    desk.write("b.jsonl", ROWS[3:])
    desk.compress("a.jsonl", "b.jsonl", "-o", "out", "--limit", "2")
    assert ids(desk.path("out")) == ["row-0", "row-1"]
    assert len(read_metrics(desk.path("out"))) == 2


def test_a_sample_depends_on_the_seed_and_not_on_the_order_of_files(desk):
    for name in "ab":
        desk.write(f"{name}.jsonl", [conversation(f"{name}{number}", 0) for number in range(100)])

    def sample(*files: str, seed: int) -> list[str]:
        out = f"out-{seed}-{'-'.join(files)}"
        assert desk.compress(*files, "-o", out, "--sample-percent", "30", "--seed", str(seed)).code == 0
        return sorted(ids(desk.path(out)))

    one = sample("a.jsonl", "b.jsonl", seed=1)
    assert 30 <= len(one) <= 90
    assert sample("b.jsonl", "a.jsonl", seed=1) == one
    assert sample("a.jsonl", "b.jsonl", seed=2) != one


def test_the_column_of_messages_can_be_named(desk):
    row = conversation(0)
    desk.write("a.jsonl", [{"id": "x", "messages": row["messages"][:1], "story": row["messages"]}])
    desk.compress("a.jsonl", "-o", "out", "--messages-field", "story")
    (after,) = read_rows(desk.path("out"))
    assert after["messages"] == row["messages"][:1]
    assert len(after["story"]) < len(row["messages"])


def test_roles_can_be_mapped_and_keep_their_names(desk):
    row = conversation(0)
    names = {"assistant": "Coder", "tool": "Shell"}
    for turn in row["messages"]:
        turn["role"] = names.get(turn["role"], turn["role"])
    desk.write("a.jsonl", [row])
    desk.compress("a.jsonl", "-o", "out", "--role-map", "Coder=assistant", "--role-map", "Shell=tool")
    (metrics,) = read_metrics(desk.path("out"))
    assert metrics["was_compressed"]
    assert metrics["assistant_tokens_original"] > metrics["assistant_tokens_kept"] > 0
    (after,) = read_rows(desk.path("out"))
    assert {turn["role"] for turn in after["messages"]} == {"system", "user", "Coder", "Shell"}


def test_counting_by_template_or_by_content(desk, make_tokenizer):
    template = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"
    desk.write("a.jsonl", [conversation(0)])
    tokens = {}
    for method in ("template", "content"):
        options = ("--count", method, "--tokenizer", make_tokenizer(template))
        desk.compress("a.jsonl", "-o", method, *options)
        (row,) = read_metrics(desk.path(method))
        assert row["count_method"] == method
        tokens[method] = row["original_tokens"]
    assert tokens["template"] > tokens["content"]


@pytest.mark.parametrize("placement", ["human", "fold"])
def test_placement(desk, placement):
    desk.write("a.jsonl", [conversation(0)])
    desk.compress("a.jsonl", "-o", "out", "--placement", placement)
    (metrics,) = read_metrics(desk.path("out"))
    assert metrics["placement"] == placement
    (after,) = read_rows(desk.path("out"))
    (turn,) = [turn for turn in after["messages"] if "[CONTEXT SUMMARY]:" in turn["content"]]
    assert turn["content"].startswith("[CONTEXT SUMMARY]:") == (placement == "human")
    expected = 1 if placement == "human" else 0
    assert len(after["messages"]) == metrics["original_turns"] - metrics["turns_removed"] + expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [("in/a.jsonl", "in/a_compressed"), ("in", "in_compressed"), ("in/b.jsonl.gz", "in/b_compressed")],
)
def test_without_output_the_folder_stands_beside_the_input(desk, given, expected):
    desk.path("in").mkdir()
    desk.write("in/a.jsonl", ROWS[:1])
    desk.path("in/b.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROWS[1]).encode()))
    ran = desk.compress(given)
    assert ran.code == 0
    assert desk.path(f"{expected}/metrics.parquet").is_file()
    assert f"{expected}/" in ran.stderr


def test_a_run_folder_holds_what_the_design_names(desk):
    desk.write("a.jsonl", ROWS)
    desk.compress("a.jsonl", "-o", "out")
    names = files_of(desk.path("out"))
    assert set(names) == {
        "README.md",
        "data/a-00000.jsonl",
        "metrics.parquet",
        "rejected.jsonl",
        "run.json",
        "summary.json",
    }
    run = json.loads(names["run.json"])
    assert run["state"] == "complete"
    assert run["settings"]["compression.target_max_tokens"] == TARGET
    assert "| rows read | 4 |" in names["README.md"].decode()


def test_the_same_command_again_changes_nothing(desk):
    desk.write("a.jsonl", ROWS)
    first = desk.compress("a.jsonl", "-o", "out", "--json")
    before = files_of(desk.path("out"))
    again = desk.compress("a.jsonl", "-o", "out", "--json")
    assert (again.code, again.json) == (0, first.json)
    assert "complete already" in again.stderr
    assert files_of(desk.path("out")) == before


def test_other_settings_or_inputs_need_overwrite(desk):
    desk.write("a.jsonl", ROWS)
    desk.compress("a.jsonl", "-o", "out")
    before = files_of(desk.path("out"))
    other = desk.compress("a.jsonl", "-o", "out", "--target-max-tokens", "1900")
    assert other.code == 2
    assert "compression.target_max_tokens was 2000, is 1900" in other.stderr
    assert "--overwrite" in other.stderr
    desk.write("a.jsonl", ROWS[:3])
    assert desk.compress("a.jsonl", "-o", "out").code == 2
    assert files_of(desk.path("out")) == before
    assert desk.compress("a.jsonl", "-o", "out", "--overwrite").code == 0
    assert ids(desk.path("out")) == ["row-0", "row-1", "row-2"]


def test_json_is_alone_on_stdout_and_the_rest_on_stderr(desk):
    desk.write("a.jsonl", ROWS)
    ran = run_command("compress", "a.jsonl", *desk.options, "--json", "-o", "out", cwd=desk.folder)
    assert ran.code == 0
    assert ran.json["output"] == "out"
    assert ran.json["state"] == "complete"
    assert ran.stderr.splitlines() == [
        "a.jsonl: openai: column messages holds messages with role and content",
        "a.jsonl: sharegpt: column conversations holds messages with from and value",
    ]


def test_in_a_pipe_there_is_a_table_and_neither_bar_nor_colour(desk):
    desk.write("a.jsonl", ROWS)
    ran = run_command("compress", "a.jsonl", *desk.options, "-o", "out", cwd=desk.folder)
    assert (ran.code, ran.stdout) == (0, "")
    for words in ("4 rows", "compressed", "still over the target", "out/"):
        assert words in ran.stderr
    for mark in ("\x1b", "\r", "%|"):
        assert mark not in ran.stderr


def test_quiet_says_nothing(desk):
    desk.write("a.jsonl", ROWS)
    ran = desk.compress("a.jsonl", "-o", "out", "--quiet")
    assert (ran.code, ran.stdout, ran.stderr) == (0, "", "")
    on_terminal = run_on_terminal("compress", "a.jsonl", *desk.options, "-o", "two", "-q", cwd=desk.folder)
    assert (on_terminal.code, on_terminal.stdout) == (0, "")


def test_on_a_terminal_there_is_a_bar_and_no_colour_where_none_is_wanted(desk):
    desk.write("a.jsonl", ROWS)
    ran = run_on_terminal("compress", "a.jsonl", *desk.options, "-o", "out", cwd=desk.folder, env={"NO_COLOR": "1"})
    assert ran.code == 0
    assert "compress: 100%|" in ran.stdout
    assert "4 rows, 2 compressed, 0 failed, 0 calls" in ran.stdout
    colours = {f"\x1b[{code}m" for code in itertools.chain(range(30, 38), range(90, 98))}
    assert not any(colour in ran.stdout for colour in colours)


def test_help_names_every_option_and_its_default(tmp_path):
    from trajcompress.settings import OPTIONS

    ran = run_command("compress", "--help", cwd=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    words = ran.stdout.split()
    for option in [*OPTIONS, "--config", "--quiet", "--json", "--debug", "-o,", "-c,", "-q,", "-h,"]:
        assert option in {word.rstrip(",") for word in words} | set(words)
    for default in ("15250", "750", "OPENAI_API_KEY", "parquet"):
        assert f"[default: {default}]" in " ".join(words)
    assert run_command("--help", cwd=tmp_path).code == 0


def test_help_imports_nothing_heavy(tmp_path):
    script = """
import contextlib, io, sys
from trajcompress.cli import app
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    app(["compress", "--help"])
print(*sorted({"transformers", "datasets", "openai", "pyarrow", "numpy", "aiohttp"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == ""


def test_version(tmp_path):
    from importlib.metadata import version

    assert run_here("--version", cwd=tmp_path).stdout == f"trajcompress {version('trajcompress-cli')}\n"
