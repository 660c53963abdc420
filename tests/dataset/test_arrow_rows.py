from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import lines, noise, read, source_of, values

from trajcompress.dataset.hub import hub_source
from trajcompress.dataset.readers import arrow_schema, read_rows
from trajcompress.dataset.rows import Row, Unreadable
from trajcompress.dataset.sources import find_sources
from trajcompress.errors import InputError


def test_parquet_keeps_python_objects(tmp_path):
    row = {
        "when": dt.datetime(2024, 1, 2, tzinfo=dt.UTC),
        "raw": b"\xff",
        "turns": [{"from": "human"}],
        "n": None,
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "a.parquet")
    assert values(read(tmp_path / "a.parquet")) == [row]
    assert arrow_schema(source_of(tmp_path / "a.parquet")).names == list(row)


def test_json_columns_become_what_they_stand_for(tmp_path):
    def texts(*items: str | None) -> pa.Array:
        return pa.ExtensionArray.from_storage(pa.json_(), pa.array(items, pa.string()))

    calls = pa.StructArray.from_arrays(
        [pa.array(["f", "g"]), texts('{"x": 123456789012345678901}', None)], ["name", "args"]
    )
    table = pa.table(
        {
            "calls": pa.ListArray.from_arrays(pa.array([0, 2, 2]), calls),
            "meta": texts("not JSON", None),
            "by_key": pa.MapArray.from_arrays(pa.array([0, 1, 1]), pa.array(["k"]), texts("[1.5]")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    first, second = values(read(tmp_path / "a.parquet"))
    assert first == {
        "calls": [{"name": "f", "args": {"x": 123456789012345678901}}, {"name": "g", "args": None}],
        "meta": "not JSON",
        "by_key": [("k", [1.5])],
    }
    assert second == {"calls": [], "meta": None, "by_key": []}


def test_a_corrupt_page_costs_its_row_group_only(tmp_path):
    path = tmp_path / "a.parquet"
    rows = noise(300)
    pq.write_table(
        pa.Table.from_pylist(rows), path, row_group_size=100, compression="none", use_dictionary=False,
        write_page_checksum=True, data_page_size=20_000,
    )  # fmt: skip
    content = bytearray(path.read_bytes())
    content[content.index(rows[150]["text"].encode()) + 5] ^= 1
    path.write_bytes(bytes(content))
    results = list(read_rows(source_of(path)))
    assert [result.index for result in results] == list(range(300))
    bad = [result for result in results if isinstance(result, Unreadable)]
    assert {result.reason for result in bad} == {"unreadable_page"}
    assert all("row group 1" in result.detail for result in bad)
    assert 100 <= bad[0].index <= 150
    assert bad[-1].index == 199
    good = {result.index: result.value for result in results if isinstance(result, Row)}
    assert good == {index: rows[index] for index in [*range(bad[0].index), *range(200, 300)]}


@given(st.integers(4, 20_000), st.integers(1, 255))
@settings(max_examples=60, deadline=None)
def test_no_flipped_byte_in_parquet_stops_the_run(tmp_path_factory, position, flip):
    path = tmp_path_factory.mktemp("flip") / "a.parquet"
    pq.write_table(pa.Table.from_pylist(noise(6)), path, row_group_size=2, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    content[position % len(content)] ^= flip
    path.write_bytes(bytes(content))
    assert 1 <= len(list(read_rows(source_of(path)))) <= 6


@pytest.mark.parametrize("content", [b"x", b"PAR1", b'{"a":1}\n', b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_file_that_is_no_parquet_is_one_unreadable(tmp_path, content):
    assert values(read(tmp_path / "a.parquet", content)) == ["unreadable_file"]
    assert arrow_schema(source_of(tmp_path / "a.parquet")) is None


def test_a_value_that_python_cannot_hold_costs_its_row_only(tmp_path):
    far = pa.array([0, 2**60, 1], pa.timestamp("ms"))
    pq.write_table(pa.table({"when": far}), tmp_path / "a.parquet")
    first, bad, last = read(tmp_path / "a.parquet")
    assert isinstance(first, Row)
    assert bad.reason == "unreadable_row"
    assert isinstance(last, Row)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    import datasets

    datasets.disable_progress_bars()
    folder = tmp_path_factory.mktemp("saved")
    features = datasets.Features({"id": datasets.Value("int64"), "meta": datasets.Json()})
    rows = [{"id": number, "meta": {"n": number, "big": 2**60}} for number in range(40)]
    data = datasets.Dataset.from_list(rows, features=features)
    data.save_to_disk(folder / "one", num_shards=2)
    shuffled = data.select([5, 3, 1])
    datasets.DatasetDict({"train": data, "test": shuffled}).save_to_disk(folder / "many")
    return folder


def test_a_saved_dataset(saved):
    source = source_of(saved / "one")
    seen: list[int] = []
    rows = list(read_rows(source, progress=seen.append))
    assert [row.value["id"] for row in rows] == list(range(40))
    assert rows[3].value["meta"] == {"n": 3, "big": 2**60}
    assert arrow_schema(source).names == ["id", "meta"]
    assert seen[-1] == source.size


def test_each_split_of_a_saved_dataset_dict_is_a_source(saved):
    train, test = find_sources([str(saved / "many")])
    assert (train.stem, test.stem) == ("many-train", "many-test")
    assert [row.value["id"] for row in read_rows(test)] == [5, 3, 1]
    assert sum(1 for _ in read_rows(train)) == 40


def test_damage_in_a_saved_dataset_costs_its_file_only(saved, tmp_path):
    import shutil

    shutil.copytree(saved / "one", tmp_path / "copy")
    first = min((tmp_path / "copy").glob("*.arrow"))
    first.write_bytes(first.read_bytes()[:-400])
    bad, *rest = read(tmp_path / "copy")
    assert bad.reason == "unreadable_page"
    assert [row.value["id"] for row in rest] == list(range(20, 40))


def test_a_builder_is_streamed(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    rows = [{"id": number, "messages": [{"role": "user", "content": f"turn {number}"}]} for number in range(40)]
    (tmp_path / "train.jsonl").write_bytes(lines(rows))
    source = hub_source(str(tmp_path), "train")
    results = list(read_rows(source))
    assert values(results) == rows
    assert {row.source for row in results} == {f"hub:{tmp_path}[train]"}


def test_a_builder_that_cannot_be_had_is_an_error_with_a_remedy(tmp_path):
    (tmp_path / "train.jsonl").write_bytes(b'{"a":1}\n')
    with pytest.raises(
        InputError, match=r"split 'valid' of dataset .* check the name, the split and the network"
    ) as caught:
        list(read_rows(hub_source(str(tmp_path), "valid")))
    assert "\n" not in str(caught.value)
