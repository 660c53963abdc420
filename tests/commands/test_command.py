"""What ``trajcompress compress`` makes of rows, as its user sees it."""

from __future__ import annotations

import json

import pytest
from commands import (
    ROWS,
    SHORT,
    TARGET,
    conversation,
    read_lines,
    read_metrics,
    read_rejected,
    read_rows,
)


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
        assert row["turns_removed"] == row["original_turns"] - row["compressed_turns"]
        assert row["turns_removed"] == (row["region_turns"] or 0) - (row["placement"] == "human")


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
