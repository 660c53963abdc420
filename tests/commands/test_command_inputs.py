"""What ``trajcompress compress`` takes: kinds of input, and how its rows are read."""

from __future__ import annotations

import gzip
import json

import pytest
import zstandard
from commands import (
    ROWS,
    SHORT,
    TARGET,
    conversation,
    read_metrics,
    read_rows,
    run_command,
    run_here,
)

from trajcompress.formats.adapter import read_trajectory
from trajcompress.formats.messages import FormatOptions
from trajcompress.tokens.counter import TokenCounter
from trajcompress.tokens.tokenizer import load_tokenizer


def ids(folder) -> list[str]:
    return [row["id"] for row in read_rows(folder)]


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


def test_a_system_column_has_its_room_in_the_budget(desk):
    row = conversation(0, 12, system="Be brief. " * 100)
    del row["messages"][0]  # its own
    desk.write("a.jsonl", [row])
    assert desk.compress("a.jsonl", "-o", "out").code == 0
    (written,) = read_rows(desk.path("out"))
    (metrics,) = read_metrics(desk.path("out"))
    assert written["system"] == row["system"]
    messages = [{"role": "system", "content": row["system"]}, *written["messages"]]
    counted = TokenCounter(load_tokenizer(desk.tokenizer)).count(
        read_trajectory({"messages": messages}, "x", FormatOptions())
    )
    assert metrics["compressed_tokens"] == counted.tokens <= TARGET < metrics["original_tokens"]


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


def test_of_roles_without_end_a_screenful_is_said(desk):
    rows = [conversation(number, SHORT) for number in range(60)]
    for number, row in enumerate(rows):
        row["messages"][2]["role"] = f"agent {number}\n" + "x" * 5000
    desk.write("a.jsonl", rows)
    ran = desk.compress("a.jsonl", "-o", "out")
    said = [line for line in ran.stderr.splitlines() if line.startswith("a.jsonl: ")]
    assert sum("is not known" in line for line in said) == len(said) - 1 == 39
    assert max(map(len, said)) < 200


def test_of_files_without_end_those_are_named_that_are_read_in_another_way(desk):
    desk.path("in").mkdir()
    for number in range(50):
        desk.write(f"in/{number:02}.jsonl", [conversation(number, SHORT, sharegpt=number == 40)])
    ran = desk.compress("in", "-o", "out")
    said = [line for line in ran.stderr.splitlines() if ": column " in line]
    assert [line[:11] for line in said] == [f"in/{number:02}.jsonl" for number in (*range(20), 40)]
    assert ran.stderr.count("only where their rows are read in another way") == 1


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
    own_turn = 1 if placement == "human" else 0
    assert len(after["messages"]) == metrics["original_turns"] - metrics["region_turns"] + own_turn


@pytest.mark.parametrize("command", [("compress", "-o", "out"), ("plan",), ("check", "--for", "trl")])
@pytest.mark.parametrize(("name", "content"), [("a.jsonl", ""), ("a.jsonl", "\n \n"), ("a.json", "[]")])
def test_where_no_row_was_read_it_is_said_of_what(desk, command, name, content):
    desk.path(name).write_text(content)
    ran = run_here(command[0], name, *command[1:], cwd=desk.folder)
    assert ran.code == 0
    assert f"there was no row in {name}\n" in ran.stderr


@pytest.mark.parametrize("command", [("compress", "-o", "out"), ("plan",)])
def test_what_may_have_left_all_rows_out_is_named(desk, command):
    desk.write("a.jsonl", [conversation(0)])
    ran = run_here(command[0], "a.jsonl", *command[1:], "--limit", "2", "--shard", "3/3", cwd=desk.folder)
    assert "there was no row in a.jsonl, or none with --limit 2 and --shard 3/3\n" in ran.stderr


def test_a_column_that_was_named_and_is_not_there_is_not_advised_to_be_named(desk):
    desk.write("a.jsonl", [conversation(0, 2)])
    ran = desk.compress("a.jsonl", "-o", "out", "--messages-field", "foo")
    planned = run_here("plan", "a.jsonl", "--messages-field", "foo", *desk.options[:4], cwd=desk.folder)
    for shown in (ran.stderr, planned.stdout):
        assert "1 × no_messages: no column 'foo' with messages, which --messages-field names; name another" in shown
    unnamed = desk.compress("a.jsonl", "-o", "other", "--role-key", "speaker")
    assert "1 × no_messages: no column holds messages; name it with --messages-field" in unnamed.stderr
