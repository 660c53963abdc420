"""Whatever is in a file, every row of it comes out once: in the dataset or among the rejects, in order, no crash."""

from __future__ import annotations

import gzip
import io
import json
import shutil

import commands
import hostile
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import runs
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trajcompress.dataset.writers import read_part_rows

SMALL = {"compression__target_max_tokens": 300, "compression__summary_target_tokens": 120}
hostile_settings = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


def run(source, **more):
    """Run over a file, and check what is true of any run; return its folder and metrics."""
    output = source.parent / f"{source.name}-out"
    shutil.rmtree(output, ignore_errors=True)
    result = runs.run_here(source, output=output, tokenizer__name=runs.small_tokenizer(), **SMALL, **more)
    assert result.state == "complete"
    rows = commands.read_metrics(output)
    assert result.totals.rows == len(rows)
    assert [row["source_row"] for row in rows] == list(range(len(rows)))
    rejects = commands.read_rejected(output)
    assert len(rejects) == sum(not row["in_dataset"] for row in rows)
    assert sum(result.totals.outcomes.values()) == len(rows)
    for row in rows:
        assert row["in_dataset"] == (row["outcome"] != "rejected")
        assert row["outcome"] in {"compressed", "skipped_under_target"} or row["reason"]
        assert row["still_over_limit"] <= row["in_dataset"]
    for reject in rejects:
        assert reject["source"] == source.as_posix()
        assert reject["reason"]
        assert reject["detail"]
    return output, rows, rejects


def same(one, other):
    """Equal as JSON text: 1 is not 1.0, and NaN is NaN."""
    return json.dumps(one) == json.dumps(other)


def content_of(lines, ending=b"\n", last=b""):
    return ending.join(lines) + last


@given(
    lines=st.lists(hostile.lines, max_size=8),
    bom=st.booleans(),
    ending=st.sampled_from([b"\n", b"\r\n"]),
    last=st.sampled_from([b"", b"\n"]),
)
@hostile_settings
def test_lines_to_lines(folder, lines, bom, ending, last):
    source = folder / "a.jsonl"
    source.write_bytes((b"\xef\xbb\xbf" if bom else b"") + content_of(lines, ending, last))
    output, metrics, rejects = run(source, output__format="jsonl")
    if not bom and lines:  # a mark at the start of a file is no part of its first line
        lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
    there = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    assert len(metrics) == len(there)
    kept, left_out = iter(commands.read_lines(output)), iter(rejects)
    for row, (number, line) in zip(metrics, there, strict=True):
        if not row["in_dataset"]:
            reject = next(left_out)
            assert reject["line"] == number
            assert reject["raw"].encode("utf-8", "surrogateescape") == line
        elif row["was_compressed"]:
            assert_compressed(hostile.parsed(line), hostile.parsed(next(kept)))
        else:
            assert next(kept) == line.strip()
    assert next(kept, None) is None


def assert_compressed(before, after):
    """Check that only the messages were changed, and those only in the middle."""
    changed = [name for name in before if not same(before[name], after[name])]
    assert list(before) == list(after)
    (name,) = changed
    old, new = (json.loads(value) if isinstance(value, str) else value for value in (before[name], after[name]))
    assert same(old[-1], new[-1])
    assert len(new) < len(old)


@given(lines=st.lists(hostile.lines, max_size=6))
@hostile_settings
def test_lines_to_parquet(folder, lines):
    source = folder / "b.jsonl"
    source.write_bytes(content_of(lines))
    output, metrics, rejects = run(source, output__format="parquet")
    if lines:
        lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
    there = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    assert len(metrics) == len(there)
    kept = (row for part in sorted((output / "data").iterdir()) for row in read_part_rows(part))
    left_out = iter(rejects)
    for row, (number, line) in zip(metrics, there, strict=True):
        if not row["in_dataset"]:
            reject = next(left_out)
            assert reject["line"] == number
            assert reject["raw"].encode("utf-8", "surrogateescape") == line
            continue
        before, after = hostile.parsed(line), next(kept)
        after = {name: after[name] for name in before} | {k: v for k, v in after.items() if v is not None}
        if row["was_compressed"]:
            assert after.pop("trajcompress")["placement"] == row["placement"]
            assert_compressed(before, {name: after[name] for name in before})
        else:
            assert same({name: after[name] for name in before}, before)
        assert after.keys() == before.keys()
    assert next(kept, None) is None


@given(
    rows=st.lists(hostile.rows | hostile.anything, max_size=5),
    share=st.floats(0, 1) | st.just(1.0),
    flip=st.booleans(),
)
@hostile_settings
def test_json_files_cut_anywhere(folder, rows, share, flip):
    text = json.dumps(rows, indent=1 if flip else None).encode()
    source = folder / "c.json"
    source.write_bytes(text[: int(len(text) * share)])
    _, metrics, _ = run(source, output__format="jsonl")
    if share == 1.0:
        assert len(metrics) == len(rows)


@given(
    lines=st.lists(hostile.row_lines, min_size=1, max_size=5),
    kind=st.sampled_from(["gz", "zst"]),
    share=st.floats(0, 1),
    flipped=st.none() | st.integers(0),
)
@hostile_settings
def test_compressed_files_cut_short_or_damaged(folder, lines, kind, share, flipped):
    content = content_of(lines, last=b"\n")
    data = bytearray(gzip.compress(content) if kind == "gz" else zstandard.compress(content))
    whole = share == 1.0 and flipped is None
    if flipped is not None:
        data[flipped % len(data)] ^= 0xFF
    source = folder / f"d.jsonl.{kind}"
    source.write_bytes(bytes(data[: int(len(data) * share)]))
    output, metrics, rejects = run(source, output__format="jsonl")
    if whole:
        assert len(metrics) == len(lines)
    elif flipped is None and 0 < source.stat().st_size < len(data):
        assert rejects[-1]["reason"] == "truncated_input"
    if flipped is None:
        unchanged = [
            line
            for line, row in zip(lines, metrics, strict=False)
            if row["outcome"] in {"skipped_under_target", "unchanged"}
        ]
        assert [line for line in commands.read_lines(output) if line in lines] == [line.strip() for line in unchanged]


def parquet_of(rows, group_rows):
    sink = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist(rows), sink, row_group_size=group_rows, compression="none", write_page_checksum=True
    )
    return sink.getvalue()


@given(at=st.integers(0), length=st.integers(1, 30), output_format=st.sampled_from(["parquet", "jsonl"]))
@hostile_settings
def test_parquet_files_with_damaged_bytes(folder, at, length, output_format):
    rows = [
        {"id": f"r{i}", "messages": [dict.fromkeys(("role", "content"), "user") | {"content": hostile.WORDS * 2}] * 4}
        for i in range(12)
    ]
    data = bytearray(parquet_of(rows, 4))
    start = at % len(data)
    data[start : start + length] = bytes(byte ^ 0x5A for byte in data[start : start + length])
    source = folder / "e.parquet"
    source.write_bytes(data)
    run(source, output__format=output_format)  # which checks that every row is somewhere


def test_a_parquet_file_with_a_corrupt_page_loses_no_neighbour(tmp_path):
    rows = [{"id": f"r{i}", "messages": [{"role": "user", "content": f"{i} {hostile.WORDS}"}]} for i in range(30)]
    data = parquet_of(rows, 10)
    at = data.index(b"15 The parser")
    source = tmp_path / "a.parquet"
    source.write_bytes(data[:at] + b"\0\0\0\0" + data[at + 4 :])
    output, metrics, _ = run(source, output__format="jsonl")
    assert [row["outcome"] for row in metrics] == (
        ["skipped_under_target"] * 10 + ["rejected"] * 10 + ["skipped_under_target"] * 10
    )
    assert [row["id"] for row in commands.read_rows(output)] == [f"r{i}" for i in (*range(10), *range(20, 30))]


@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_a_turn_of_50_megabytes(tmp_path, output_format):
    huge = "def parse(node):\n    return node.value\n" * (50 * 2**20 // 37)
    rows = [commands.conversation(0, steps=1), commands.conversation(1, steps=1), commands.conversation(2, steps=1)]
    rows[1]["messages"].insert(3, {"role": "tool", "content": huge})
    source = commands.write_rows(tmp_path / "a.jsonl", rows)
    output = tmp_path / "out"
    result = runs.run_here(source, output=output, output__format=output_format)
    assert (
        result.totals.outcomes == {"skipped_under_target": 2, "unchanged": 1}
        or result.totals.outcomes["compressed"] == 1
    )
    assert len(commands.read_metrics(output)) == 3


def test_a_row_of_100_000_turns(tmp_path):
    turns = [{"from": ("human", "gpt")[number % 2], "value": f"turn {number}"} for number in range(100_000)]
    source = commands.write_rows(tmp_path / "a.jsonl", [{"conversations": turns}])
    output = tmp_path / "out"
    runs.run_here(source, output=output, output__format="jsonl")
    (row,) = commands.read_metrics(output)
    assert (row["outcome"], row["still_over_limit"]) == ("compressed", False)
    (kept,) = commands.read_rows(output)
    assert kept["conversations"][:2] == turns[:2]
    assert kept["conversations"][-4:] == turns[-4:]


@pytest.mark.parametrize("levels", [200, 300, 900, 100_000])
@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_deep_nesting_takes_nobody_with_it(tmp_path, levels, output_format):
    good = json.dumps(commands.conversation(0, steps=1))
    deep = good[:-1] + ', "deep": ' + "[" * levels + "]" * levels + "}"
    in_content = '{"messages": [{"role": "user", "content": ' + '{"a":' * levels + "1" + "}" * levels + "}]}"
    source = tmp_path / "a.jsonl"
    source.write_text(f"{good}\n{deep}\n{in_content}\n{good}")
    _, metrics, rejects = run(source, output__format=output_format)
    assert [row["in_dataset"] for row in metrics] == [True, levels < 256, levels < 256, True]
    assert {reject["reason"] for reject in rejects} <= {"nested_too_deep"}


def test_deep_arguments_of_calls_take_nobody_with_them(tmp_path):
    """They are text to a row, so they may be deeper than it; what recurses gives up somewhere near 1,000."""

    def row(arguments):
        turns = [{"role": "user", "content": "go"}]
        for number in range(12):
            call = {"name": "f", "arguments": arguments if number in {3, 11} else "{}"}
            turns += [
                {"role": "assistant", "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": f"found file_{number}.py " * 60},
            ]
        return {"messages": [*turns, {"role": "assistant", "content": "see file_3.py"}]}

    levels = [200, 300, *range(940, 1003, 9), 5000]
    deep = ["[" * depth + "]" * depth for depth in levels] + ['{"a":' * depth + "1" + "}" * depth for depth in levels]
    source = commands.write_rows(tmp_path / "a.jsonl", map(row, deep))
    _, metrics, rejects = run(source, compression__prune="all", compression__fit="strict")
    assert [each["in_dataset"] for each in metrics] == [True] * len(deep)
    assert rejects == []


def test_an_empty_file_and_one_of_blank_lines(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "blank.jsonl").write_bytes(b"\n \r\n\t\n")
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "empty.parquet").write_bytes(b"")
    output = tmp_path / "out"
    result = runs.run_here(*sorted(tmp_path.glob("*.*")), output=output)
    assert (result.state, result.totals.rows) == ("complete", 0)
    assert commands.read_metrics(output) == []
    assert (output / "rejected.jsonl").read_bytes() == b""


def test_equal_rows_with_equal_ids_are_two_rows(tmp_path):
    row = commands.conversation(0)
    source = commands.write_rows(tmp_path / "a.jsonl", [row, row])
    output, metrics, _ = run(source, output__format="jsonl")
    assert [row["trajectory_id"] for row in metrics] == ["row-0", "row-0"]
    assert len(commands.read_rows(output)) == 2


def test_a_row_that_holds_a_summary_of_ours_is_compressed_again(tmp_path):
    source = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(0, steps=30)])
    output, metrics, _ = run(source, output__format="jsonl")
    again = commands.write_rows(tmp_path / "b.jsonl", [commands.read_rows(output)[0] | {"round": 2}])
    output, metrics, _ = run(again, output__format="jsonl")
    (row,) = metrics
    assert row["outcome"] in {"compressed", "skipped_under_target", "unchanged"}


@pytest.mark.parametrize("output_format", ["jsonl", "parquet"])
def test_what_only_one_format_can_carry_is_rejected_by_the_other(tmp_path, output_format):
    turns = [{"role": "user", "content": "hi"}]
    big = b'{"messages":[{"role":"user","content":"hi"}],"n":%d}' % 2**80
    source = tmp_path / "a.jsonl"
    source.write_bytes(b"\n\n" + big + b"\n" + json.dumps({"messages": turns}).encode())
    _, metrics, rejects = run(source, output__format=output_format)
    assert [row["in_dataset"] for row in metrics] == [output_format == "jsonl", True]
    assert [(reject["line"], reject["raw"]) for reject in rejects] == [(3, big.decode())] * (
        output_format == "parquet"
    )


def test_types_that_json_does_not_have_are_rejected_with_their_text(tmp_path):
    messages = pa.array([[{"role": "user", "content": "hi"}]] * 2)
    table = pa.table(
        {"messages": messages, "blob": pa.array([b"\x00\xff", None]), "when": pa.array([0, 1], pa.timestamp("us"))}
    )
    source = tmp_path / "a.parquet"
    pq.write_table(table, source)
    _, metrics, rejects = run(source, output__format="jsonl")
    assert {row["outcome"] for row in metrics} == {"rejected"}
    assert "1970" in rejects[0]["raw"]
    output, metrics, _ = run(source, output__format="parquet")
    assert {row["outcome"] for row in metrics} == {"skipped_under_target"}
    assert pq.read_schema(output / "data" / "a-00000.parquet").field("when").type == pa.timestamp("us")


def test_a_compressed_row_that_the_format_cannot_carry_keeps_its_whole_text(tmp_path):
    source = commands.write_rows(tmp_path / "a.jsonl", [commands.conversation(0, n=2**80)])
    _, metrics, rejects = run(source, output__format="parquet")
    assert [row["outcome"] for row in metrics] == ["rejected"]
    assert rejects[0]["raw"] + "\n" == source.read_text()
