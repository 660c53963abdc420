"""Parts: their files, types and names; what a format cannot carry, and rows that are written together."""

from __future__ import annotations

import datetime as dt
import json
import math
import subprocess
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from written_parts import Parts, assert_same_rows, content, read, write

from trajcompress.dataset import parquet_parts
from trajcompress.dataset.arrow_arrays import array_of
from trajcompress.dataset.durable import TEMPORARY, publish
from trajcompress.dataset.jsonl_parts import dumped
from trajcompress.dataset.shape import shape_of_arrow
from trajcompress.dataset.writers import open_part, read_part_rows
from trajcompress.errors import RowError


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(parquet_parts, "ROW_GROUP_CHARS", 60)


@pytest.mark.parametrize("value", [b"x", dt.datetime(2025, 1, 1, tzinfo=dt.UTC), Decimal(1), {1}])
def test_what_json_lacks_is_refused(value):
    with pytest.raises(TypeError, match="not JSON serializable"):
        dumped([{"a": [value]}])


def test_numbers_and_flags_keep_their_types_and_sharegpt_stays_structured(tmp_path):
    row = {"i": 2**62, "b": True, "f": 0.1, "conversations": [{"from": "human", "value": "x"}], "empty": []}
    write(tmp_path, [("a", row)])
    turn = pa.struct([("from", pa.string()), ("value", pa.string())])
    types = [pa.int64(), pa.bool_(), pa.float64(), pa.list_(turn), pa.list_(pa.null())]
    assert pq.read_schema(tmp_path / "a-00000.parquet").types == types


def test_columns_that_grow_within_a_part_and_between_parts(tmp_path, small_groups):
    grow = [1, 0.5, 2**60, "x", None, {"k": []}, [1]]
    rows = [("a", {"pad": "p" * 40, "x": value}) for value in grow] + [("b", {"x": 1, "late": "é"})]
    names = write(tmp_path, rows)
    assert names == ["a-00000.parquet", "b-00000.parquet"]
    assert pq.ParquetFile(tmp_path / names[0]).num_row_groups > 1
    assert_same_rows(read(tmp_path, names), [row for _, row in rows])
    assert sorted(content(tmp_path)) == names


def test_how_large_integers_are_is_known_of_a_file(tmp_path):
    writer = Parts(tmp_path, "parquet")
    writer.write("a", [{"small": 1, "big": 2**60, "list": [1]}])
    writer.commit()
    writer.write("a", [{"small": 0.5, "big": 0.5, "list": [0.5]}])
    assert writer.finish() == ["a-00000.parquet", "a-00001.parquet"]
    types = pq.read_schema(tmp_path / "a-00000.parquet").types
    assert types == [pa.float64(), pa.json_(), pa.list_(pa.float64())]
    assert [row["big"] for row in read(tmp_path, ["a-00000.parquet", "a-00001.parquet"])] == [2**60, 0.5]


def test_parts_are_numbered_by_stem(tmp_path):
    rows = [(stem, {"n": n}) for n, stem in enumerate("aaabbab")]
    assert write(tmp_path, rows, "jsonl", part_rows=2) == [
        *("a-00000.jsonl", "a-00001.jsonl", "b-00000.jsonl", "a-00002.jsonl", "b-00001.jsonl")
    ]
    assert (tmp_path / "a-00001.jsonl").read_text() == '{"n":2}\n'


def test_jsonl_keeps_unchanged_rows_byte_for_byte(tmp_path):
    raw = b'{"a": 1e2,  "s": "\\ud800\\u00e9", "big": 123456789012345678901234567890, "n": NaN}'
    writer = Parts(tmp_path, "jsonl")
    writer.write("a", [json.loads(raw)], raw + b"\r\n")
    writer.write("a", [{"a": 1}], b'{\n "a": 1\n}\n')
    writer.write("a", [{"s": "\ud800é", "big": 2**70}])
    writer.finish()
    lines = (tmp_path / "a-00000.jsonl").read_bytes().decode().split("\n")
    assert lines == [raw.decode(), '{  "a": 1 }', '{"s":"\\ud800é","big":1180591620717411303424}', ""]


def test_nan_and_infinities_stay_beside_nulls(tmp_path):
    row = {"x": {"a": None, "n": math.nan, "i": [-math.inf, {}]}, "f": math.nan}
    got = read(tmp_path, write(tmp_path, [("a", row)]))
    assert json.dumps(got) == json.dumps([row])


def test_native_types_are_kept(tmp_path):
    turn = pa.struct([("loss", pa.int32()), ("v", pa.large_string())])
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns = {
        "when": pa.array([dt.datetime(2024, 1, 2), None], pa.timestamp("s")),  # noqa: DTZ001 - the column has no zone
        "price": pa.array([Decimal("1.50"), None]),
        "image": pa.array([{"bytes": b"\xff", "path": None}, None], image),
        "score": pa.array([0.1, None], pa.float32()),
        "turns": pa.array([[{"loss": 1, "v": "a"}], []], pa.large_list(turn)),
        "vector": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2)),
    }
    table = pa.table(columns)
    native = {field.name: shape_of_arrow(field.type) for field in table.schema}
    writer = Parts(tmp_path, "parquet")
    for row in table.to_pylist():
        writer.write("a", [row], native=native)
    with pytest.raises(RowError, match="column `when` has values of another native type"):
        writer.write("b", [{"when": "yesterday"}], native={})
    writer.write("b", [{"score": 2, "turns": [{"v": "a"}]}])
    names = writer.finish()
    got = read(tmp_path, names)
    assert got[:2] == table.to_pylist()
    assert got[2]["turns"] == [{"v": "a"}]
    assert pq.read_schema(tmp_path / names[0]).field("vector").type == pa.list_(pa.float32(), 2)


@pytest.mark.parametrize(
    ("output_format", "row", "message"),
    [
        ("parquet", {"m": [{"n": 2**64}]}, r"m\[0\].n: integer beyond 64 bits; use --output-format jsonl"),
        ("parquet", {"a\0": 1}, "name holds NUL"),
        ("parquet", {}, "without columns"),
        ("jsonl", {"image": b"x"}, "use --output-format parquet"),
    ],
)
def test_a_row_that_the_format_cannot_carry_is_refused_and_leaves_no_trace(tmp_path, output_format, row, message):
    writer = Parts(tmp_path, output_format)
    writer.write("a", [{"x": 1}])
    with pytest.raises(RowError, match=message):
        writer.write("b", [{**row, "new": "column"} if row else row])
    assert list(read(tmp_path, writer.finish())) == [{"x": 1}]


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_rows_that_are_written_together_are_written_as_one_by_one(tmp_path, output_format, small_groups):
    rows = [{"x": 1}, {"x": "text", "y": [1]}, {"y": [0.5], "z": {"a": None}}, {"z": {"b": "c" * 70}}]
    write(tmp_path / "each", [("a", row) for row in rows], output_format)
    writer = Parts(tmp_path / "together", output_format)
    writer.write("a", rows)
    assert read(tmp_path / "together", writer.finish()) == read(tmp_path / "each", [f"a-00000.{output_format}"])


def test_of_rows_that_cannot_all_be_carried_none_is_written(tmp_path):
    time, number = pa.timestamp("s"), pa.decimal128(3, 2)
    native = {"when": shape_of_arrow(time)}
    writer = Parts(tmp_path, "parquet")
    writer.write("a", [{"x": 1}])
    with pytest.raises(RowError, match="column `when` has values of another native type"):
        writer.write("a", [{"when": dt.datetime(2024, 1, 2)}, {"when": "now"}], native=native)  # noqa: DTZ001
    with pytest.raises(RowError, match="without columns"):
        writer.write("a", [{"new": number.precision}, {}])
    assert read(tmp_path, writer.finish()) == [{"x": 1}]


@pytest.mark.parametrize("output_format", ["parquet", "jsonl"])
def test_a_file_has_a_temporary_name_until_it_is_published_and_is_none_without_rows(
    tmp_path, output_format, small_groups
):
    path = tmp_path / f"a-00000.{output_format}"
    assert not open_part(path).close()
    assert not list(tmp_path.iterdir())
    part = open_part(path)
    part.write([{"x": 1, "pad": "x" * 100}], None, {})
    assert [each.suffix for each in tmp_path.iterdir()] == [TEMPORARY]
    assert part.close()
    assert [each.name for each in tmp_path.iterdir()] == [f"{path.name}{TEMPORARY}"]
    publish(path)
    assert list(read_part_rows(path)) == [{"x": 1, "pad": "x" * 100}]


def test_a_type_that_is_reserved_for_another_part_refuses_other_values(tmp_path):
    part = open_part(tmp_path / "a-00000.parquet", {"when": shape_of_arrow(pa.timestamp("s"))})
    with pytest.raises(RowError, match="column `when` has values of another native type"):
        part.write([{"when": "now"}], None, {})
    part.write([{"when": None}], None, {})
    assert part.close()


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "é"],
        [1, None, -(2**62)],
        [1.5, 2, None],
        [True, None, False],
        [None, None],
        [["a"], None, [], ["b", None]],
        [{"role": "user", "n": 1, "ok": None}, None, {"role": None, "n": None, "ok": None}],
        [[{"role": "user", "score": 0.5}], [], None, [None, {"role": "é", "score": 2}]],
    ],
)
def test_arrays_are_those_that_arrow_makes(values):
    for some in (values, []):
        array = array_of(some, pa.array(values).type)
        array.validate(full=True)
        assert array.equals(pa.array(some, pa.array(values).type))


def test_rows_are_written_without_pandas(tmp_path):
    script = """
import sys
from pathlib import Path
from trajcompress.dataset.writers import narrower_files, open_part
part = open_part(Path("rows-00000.parquet"))
turns = [{"role": "user", "content": "hi"}]
part.write([{"messages": turns, "tags": ["a"], "steps": 1, "args": [{"a": {}}, {"b": 1}]}], None, {})
part.close()
print("pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip() == "False"
