"""Rows of any shape go into parts and come back unchanged, and load with datasets."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_parts import (
    EXACT,
    HOSTILE,
    KEYS,
    Parts,
    assert_same_rows,
    content,
    parts_of,
    read,
    rows_of,
    unify,
    write,
)

from trajcompress.dataset import parquet_parts
from trajcompress.dataset.durable import TEMPORARY, publish
from trajcompress.dataset.jsonl_parts import dumped
from trajcompress.dataset.shape import shape_of_arrow
from trajcompress.dataset.writers import open_part


@pytest.fixture
def load(tmp_path):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()

    def load(folder, *, streaming=False):
        files = str(folder / "*.parquet")
        cache = tempfile.mkdtemp(dir=tmp_path)
        return datasets.load_dataset("parquet", data_files=files, split="train", streaming=streaming, cache_dir=cache)

    return load


@given(rows_of(HOSTILE, KEYS), st.integers(1, 8), st.sampled_from(["parquet", "jsonl"]))
@settings(deadline=None, max_examples=40)
def test_any_rows_in_any_parts_come_back(rows, part_rows, output_format):
    with tempfile.TemporaryDirectory() as folder:
        names = write(Path(folder), rows, output_format, part_rows)
        assert_same_rows(read(Path(folder), names), [row for _, row in rows])
        assert sorted(content(Path(folder))) == sorted(names)
        if output_format == "parquet":
            assert len({pq.read_schema(Path(folder, name)).serialize().to_pybytes() for name in names}) == 1


SPELLED = HOSTILE | st.integers() | st.floats() | st.text() | st.sampled_from([(1, "a"), '</\x7f\u2028\x1f"\\'])
NAMED = KEYS | st.integers() | st.none() | st.booleans() | st.floats()


@given(rows_of(SPELLED, NAMED))
@settings(deadline=None, max_examples=60)
def test_json_is_spelled_as_the_standard_library_does(rows):
    values = [row for _, row in rows]
    texts = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    expected = [text.encode("utf-8", "backslashreplace") for text in texts]
    assert dumped(values) == [text for value in values for text in dumped([value])] == expected


@given(rows_of(HOSTILE, KEYS), st.integers(1, 8), st.data())
@settings(deadline=None, max_examples=20)
def test_bytes_do_not_depend_on_interruptions(rows, part_rows, data):
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(parquet_parts, "ROW_GROUP_CHARS", 60)
        write(Path(one), rows, part_rows=part_rows)

        writer = Parts(Path(other), "parquet")
        for part in parts_of(rows, part_rows):
            for stopped_after in sorted(data.draw(st.sets(st.integers(1, len(part))))):
                for stem, row in part[:stopped_after]:  # which was not committed, and is written again
                    writer.write(stem, [row])
                writer.abort()
            for stem, row in part:
                writer.write(stem, [row])
            writer.commit()
        names = writer.finish()
        for left in Path(other).glob(f"*{TEMPORARY}"):
            left.unlink()
        assert content(Path(other)) == content(Path(one))
        unify([Path(other, name) for name in names])
        assert content(Path(other)) == content(Path(one))


@given(rows_of(HOSTILE, KEYS), st.integers(1, 8), st.randoms())
@settings(deadline=None, max_examples=30)
def test_bytes_do_not_depend_on_the_order_in_which_parts_are_written(rows, part_rows, rng):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        parts = parts_of(rows, part_rows)
        names = write(Path(one), rows, part_rows=part_rows)
        for name, part in rng.sample(list(zip(names, parts, strict=True)), len(parts)):
            file = open_part(Path(other, name))
            for _, row in part:
                file.write([row], None, {})
            assert file.close()
            publish(Path(other, name))
        unify([Path(other, name) for name in names])
        assert content(Path(other)) == content(Path(one))


@given(rows_of(EXACT, st.sampled_from(["from", "value", "a.b", "_type"])))
@settings(deadline=None, max_examples=12)
def test_any_rows_load_with_datasets(rows):
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        names = write(Path(folder, "data"), rows, part_rows=2)
        files = [str(Path(folder, "data", name)) for name in names]
        loaded = datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=folder)
        assert_same_rows(list(loaded), [row for _, row in rows])
        streamed = datasets.load_dataset("parquet", data_files=files, split="train", streaming=True)
        assert_same_rows(list(streamed), [row for _, row in rows])


CALLS = [
    {"a": {"messages": [{"role": "user", "content": "q"}], "n": 1}},
    {"b": {"messages": [{"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "function": {"name": "f", "arguments": {"path": "x", "deep": [{"k": 1}, "é"]}}}]}], "n": 2}},
    {"b": {"messages": [{"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "function": {"name": "g", "arguments": {"path": 7, "other": None, "empty": {}}}}]}], "ok": True}},
    {"c": {"conversations": [{"from": "human", "value": "x"}], "n": 3}},
]  # fmt: skip


def test_tool_calls_and_mixed_runs_load_with_every_column(tmp_path, load):
    rows = [(stem, row) for entry in CALLS for stem, row in entry.items()]
    write(tmp_path / "data", rows)
    for loaded in (load(tmp_path / "data"), load(tmp_path / "data", streaming=True)):
        got = list(loaded)
        assert [list(row) for row in got] == [["messages", "n", "ok", "conversations"]] * 4
        assert_same_rows(got, [row for _, row in rows])
    frame = pd.concat(pd.read_parquet(path) for path in sorted((tmp_path / "data").iterdir()))
    assert json.loads(frame["messages"].iloc[1][0]) == rows[1][1]["messages"][0]


def source_rows(path):
    if path.suffix == ".jsonl":
        return [(json.loads(line), line, None) for line in path.read_bytes().splitlines()]
    table = pq.read_table(path)
    native = {field.name: shape_of_arrow(field.type) for field in table.schema}
    return [(row, None, native) for row in table.to_pylist()]


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_real_trajectories_come_back_equal(tmp_path, load, output_format, rows_folder):
    rows = []
    writer = Parts(tmp_path / "data", output_format)
    for path in sorted(rows_folder.glob("*.[jp]*")):  # by name: the order in which datasets reads a glob
        for row, raw, native in source_rows(path):
            rows.append(row)
            writer.write(path.stem, [row], raw, native=native)
        writer.commit()
    names = writer.finish()
    assert_same_rows(read(tmp_path / "data", names), rows)
    if output_format == "parquet":
        # the file is exact, but datasets drops what is beyond the 15th decimal of a float inside JSON
        assert_same_rows(list(load(tmp_path / "data")), rows, precision=1e-12)
