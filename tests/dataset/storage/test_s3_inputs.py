"""Inputs on a real S3 server: found, read and looked at as files are, in spite of what a store does now and then."""

from __future__ import annotations

import gzip
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from s3_server import BUCKET, SECRET

from trajcompress.dataset.readers import read_rows
from trajcompress.dataset.rows import Row
from trajcompress.dataset.sources import find_inputs
from trajcompress.dataset.standing import Watch, fingerprint_of
from trajcompress.dataset.storage import asking
from trajcompress.dataset.storage.location import location_of
from trajcompress.dataset.storage.range_file import BLOCK_BYTES
from trajcompress.errors import InputError

ROOT = f"s3://{BUCKET}"


def rows(number, width=20, seed=0):
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    return [
        {"id": f"r{at}", "messages": [{"role": "user", "content": rng.randbytes(width).hex()}]}
        for at in range(number)
    ]


def lines(of):
    return "".join(json.dumps(row) + "\n" for row in of).encode()


def parquet(of, group=50):
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(of), file, row_group_size=group)
    return file.getvalue()


def saved(folder, of):
    import datasets

    datasets.Dataset.from_list(of).save_to_disk(folder)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(asking, "_PAUSES_S", (0.01,) * 5)


@pytest.fixture
def twice(s3, tmp_path):
    """The same tree here and in the store."""
    data = rows(120)
    tree = {
        "a/rows.jsonl": lines(data),
        "a/b/array.json": json.dumps(data).encode(),
        "a/b/groups.parquet": parquet(data),
        "a/z.jsonl.gz": gzip.compress(lines(data)),
        "a/z2.jsonl.zst": zstandard.compress(lines(data)),
        "a/whole.parquet.gz": gzip.compress(parquet(data)),
        "a/notes.txt": b"no rows",
        "a/.hidden/x.jsonl": lines(data),
        "a/run/run.json": b"{}",
        "a/run/data/x.jsonl": lines(data),
        "a/empty.jsonl": b"",
    }
    for name, content in tree.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    saved(tmp_path / "a/saved", data)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            s3.put(path.relative_to(tmp_path).as_posix(), path.read_bytes())
    s3.put("a/marker/", b"")  # as some tools mark folders
    s3.asked.clear()
    return tmp_path


def found_in(given, root):
    found = find_inputs([given])
    names = [(each.name.removeprefix(root), each.stem, each.kind, each.size) for each in found.sources]
    return names, [{**left.as_dict(), "place": ""} for left in found.left_out], found.sources


@pytest.mark.parametrize("given", ["/a", "/a/b", "/a/*.jsonl*", "/a/**/*.parquet", "/a/run"])
def test_folders_and_globs_hold_in_a_store_what_they_hold_here(twice, given):
    here, there = found_in(f"{twice}{given}", str(twice)), found_in(ROOT + given, ROOT)
    assert there[:2] == here[:2]
    assert here[0]


def test_rows_of_all_kinds_are_those_of_files(twice, s3):
    *_, here = found_in(f"{twice}/a", str(twice))
    *_, there = found_in(f"{ROOT}/a", ROOT)
    for one, other in zip(here, there, strict=True):
        for first in (0, 70):
            expected = [(row.index, row.line, row.value, row.raw) for row in read_rows(one, first=first)]
            assert [(row.index, row.line, row.value, row.raw) for row in read_rows(other, first=first)] == expected
    assert not [each for each in s3.asked if each.method not in {"GET", "HEAD"}]


def test_a_large_object_is_read_in_ranges_each_once_and_ahead_of_use(s3):
    data = lines(rows(60, 200_000))
    assert len(data) > 5 * BLOCK_BYTES
    s3.put("large.jsonl", data)
    (source,) = find_inputs([f"{ROOT}/large.jsonl"]).sources
    s3.asked.clear()
    s3.faults = lambda _: 0.2  # slow answers are waited for together
    reading = read_rows(source)
    first = next(reading)
    assert first.raw == data.splitlines()[0]
    assert sum(1 for _ in reading) == 59
    reading.close()
    ranges = [each.range for each in s3.asked if each.method == "GET"]
    assert len(ranges) == len(set(ranges)) == -(-len(data) // BLOCK_BYTES)
    assert s3.most_at_once >= 4
    with location_of(source.name).open("rb", 0) as file:
        file.seek(BLOCK_BYTES - 5)
        assert file.read(10) == data[BLOCK_BYTES - 5 :][:10]
        file.seek(-7, 2)
        assert file.read() == data[-7:]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("fault", [500, 503, "cut"])
def test_what_fails_for_the_moment_is_asked_for_again(s3, quick, kind, fault):
    data = rows(30)
    s3.put(f"x.{kind}", lines(data) if kind == "jsonl" else parquet(data))
    s3.faults = lambda asked: fault if asked.number <= 3 and asked.method == "GET" else None
    (source,) = find_inputs([f"{ROOT}/x.{kind}"]).sources
    assert [row.value for row in read_rows(source)] == data


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "saved"])
def test_what_goes_on_failing_is_an_error_and_no_row_is_taken_for_damaged(s3, quick, tmp_path, kind):
    data = rows(30)
    if kind == "saved":
        saved(tmp_path / "x", data)
        for path in (tmp_path / "x").iterdir():
            s3.put(f"x/{path.name}", path.read_bytes())
    else:
        s3.put(f"x.{kind}", lines(data) if kind == "jsonl" else parquet(data))
    (source,) = find_inputs([f"{ROOT}/x" if kind == "saved" else f"{ROOT}/x.{kind}"]).sources
    s3.faults = lambda asked: 503 if asked.method == "GET" and not asked.path.endswith(".json") else None
    with pytest.raises(InputError, match=rf"^{ROOT}/x.*: the store failed again and again \(SlowDown: on purpose\)"):
        list(read_rows(source))
    assert max(each.number for each in s3.asked) == 6


def test_an_object_that_is_replaced_is_noticed(s3):
    s3.put("x.jsonl", lines(rows(3)))
    (source,) = find_inputs([f"{ROOT}/x.jsonl"]).sources
    watch = Watch([source], lambda _: None)
    before = fingerprint_of(source)
    assert all(isinstance(row, Row) for row in read_rows(source))
    watch.look(source)
    assert not watch.changed
    s3.put("x.jsonl", lines(rows(3, seed=1)))
    watch.look(source)
    assert watch.changed == {source.name: "was replaced by another object"}
    (again,) = find_inputs([source.name]).sources
    assert again.size == source.size
    assert fingerprint_of(again) != before


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("s3://nowhere/x", "there is no such bucket"),
        ("s3://nowhere", "there is no such"),
        (f"{ROOT}/none", "no such object, and none under it"),
        (f"{ROOT}/no*.jsonl", "matches nothing"),
        (f"{ROOT}/x.txt", "unknown kind of file"),
        ("s3:///x", "names no bucket"),
        (f"s3://me:{SECRET}@bucket/x", "set AWS_ACCESS_KEY_ID"),
        (f"{ROOT}/x.jsonl?X-Amz-Signature={SECRET}", "set AWS_ACCESS_KEY_ID"),
        ("ftp://host/x", "known are s3://, gs://, az://, hf://"),
        ("hf://datasets/name", "hf://datasets/OWNER/NAME"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line_without_secrets(s3, given, says):
    s3.put("x.txt", b"x")
    with pytest.raises(InputError) as told:
        find_inputs([given])
    assert says in str(told.value)
    assert "\n" not in str(told.value)
    assert SECRET not in str(told.value)


def test_what_is_not_allowed_says_which_credentials_are_used(s3):
    s3.put("x.jsonl", b"{}\n")
    s3.faults = lambda _: 403
    with pytest.raises(InputError, match=rf"^{ROOT}/x.jsonl: the store refuses it .*AWS_ACCESS_KEY_ID") as told:
        find_inputs([f"{ROOT}/x.jsonl"])
    assert SECRET not in str(told.value)
